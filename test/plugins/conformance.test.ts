import { expect } from "chai";
import { type MusicProvider, ProviderFailure, type ProviderHost } from "../../core/ports/music-provider.js";
import { type MusicProviderHarness, musicProviderContract } from "../contract/music-provider.contract.js";
import { type Broken, broken, Changed, describeBroken, failuresOf } from "./broken-samples.js";
import { nightingaleHarness } from "./sample-harness.js";
import { nightingale, NightingaleProvider } from "./sample-provider.js";

musicProviderContract("a sample with every power", nightingaleHarness);

const without =
  (name: keyof MusicProvider) =>
  (host: ProviderHost): MusicProvider =>
    Object.assign(new NightingaleProvider(host), { [name]: undefined });

/** Fetches a second time when the first one fails. */
const stubborn: (host: ProviderHost) => MusicProvider = (host) =>
  new NightingaleProvider({
    ...host,
    fetch: (input, init) => host.fetch(input, init).catch(() => host.fetch(input, init)),
  });

const BROKEN: readonly Broken[] = [
  [
    "tries a creating call again by itself",
    broken(stubborn),
    "the reply is lost",
    /outcome of music.*how often the call that creates was sent: expected 2 to equal 1/,
  ],
  [
    "takes a lost reply for a refusal",
    broken(
      (host) =>
        new Changed(host, (original) =>
          original().catch((cause: unknown) =>
            Promise.reject(new ProviderFailure("unavailable", "try again", { cause })),
          ),
        ),
    ),
    "the reply is cut off",
    /expected 'unavailable' to equal 'outcome_unknown'/,
  ],
  [
    "logs its key",
    broken((host) => {
      host.logger.info("started", { settings: host.settings });
      return new NightingaleProvider(host);
    }),
    "makes a generation",
    /a secret of the settings stands in an error, a log line or a handle/,
  ],
  [
    "keeps its key in the handle",
    broken(
      (host) =>
        new Changed(host, (original) =>
          original().then((response) =>
            response.state === "accepted"
              ? { ...response, handle: { version: 1, data: { ...response.handle.data, key: host.settings["apiKey"] } } }
              : response,
          ),
        ),
    ),
    "has no work that ran out|answers accepted with a handle",
    /a secret of the settings stands in/,
  ],
  [
    "keeps what JSON loses in the handle",
    broken(
      (host) =>
        new Changed(host, (original) =>
          original().then((response) =>
            response.state === "accepted"
              ? { ...response, handle: { version: 1, data: { ...response.handle.data, at: new Date(0) } } }
              : response,
          ),
        ),
    ),
    "answers accepted with a handle",
    /the handle, as it comes back from storage/,
  ],
  [
    "throws an error of another kind",
    broken(
      (host) =>
        new Changed(host, (original) =>
          original().catch((cause: Error) => Promise.reject(new TypeError(`cannot read: ${cause.message}`))),
        ),
    ),
    "an empty body for no success of music",
    /Every failure is a ProviderFailure; this is TypeError: cannot read/,
  ],
  [
    "ignores the signal",
    broken(
      (host) =>
        new Changed(host, (original, request) =>
          new NightingaleProvider(host).submit(request, { signal: new AbortController().signal }),
        ),
    ),
    "ends music at once",
    /Timeout of 1000ms exceeded/,
  ],
  [
    "asks the provider before there is work",
    broken((host) => {
      const provider = new NightingaleProvider(host);
      void provider.probe({ signal: new AbortController().signal }).catch(() => undefined);
      return provider;
    }),
    "asks the provider nothing",
    /\/v1\/account/,
  ],
  [
    "makes its calls past the host",
    broken((host) => new NightingaleProvider({ ...host, fetch })),
    "makes its calls with the host's",
    /calls that came in, and are not the host's `fetch`/,
  ],
  [
    "delivers its tracks in another order",
    broken((host) => {
      const provider = new NightingaleProvider(host);
      const original = provider.pollMany.bind(provider);
      provider.pollMany = async (handles, context) =>
        (await original(handles, context)).map((response) =>
          !ProviderFailure.is(response) && response.state === "completed"
            ? { ...response, tracks: [...response.tracks].reverse() }
            : response,
        );
      return provider;
    }),
    "delivers every track",
    /the bytes of track 0 are those that the provider has/,
  ],
  [
    "believes every callback",
    broken((host) => {
      const provider = new NightingaleProvider(host);
      provider.parseCallback = () =>
        Promise.resolve({ trust: "verified", snapshot: { state: "running", nextPollMs: 0 } });
      return provider;
    }),
    "takes a wrong signature",
    /expected 'verified' to equal 'forged'/,
  ],
  [
    "reads no callback of a submission whose reply was lost",
    broken((host) => {
      const provider = new NightingaleProvider(host);
      const original = provider.parseCallback.bind(provider);
      provider.parseCallback = (callback) =>
        callback.handle.version === 0 ? Promise.resolve({ trust: "hint" }) : original(callback);
      return provider;
    }),
    "reads a signed callback for a submission whose reply was lost",
    /expected 'hint' to equal 'verified'/,
  ],
  [
    "brings no handle with a callback of running work whose reply was lost",
    broken((host) => {
      const provider = new NightingaleProvider(host);
      const original = provider.parseCallback.bind(provider);
      provider.parseCallback = (callback) => original({ ...callback, handle: { version: 1, data: {} } });
      return provider;
    }),
    "reads a signed callback for a submission whose reply was lost",
    /the handle that a callback of running work brings/,
  ],
  [
    "sends another key of idempotency with every attempt",
    broken(
      (host) =>
        new Changed(host, (_, request, context) =>
          new NightingaleProvider(host).submit({ ...request, jobId: request.attemptId }, context),
        ),
    ),
    "sends the same key",
    /the key of the second attempt/,
  ],
  [
    "declares a lookup and has none",
    broken(without("lookup")),
    "has a method for every capability",
    /capabilities\.lookup is true, and there is no method `lookup`/,
  ],
  ["has no way to poll accepted work", broken(without("pollMany")), "answers accepted", /neither `poll` nor/],
  [
    "names a model of another provider, and no secret a secret",
    {
      ...nightingaleHarness,
      definition: {
        ...nightingale,
        models: nightingale.models.map((model) => ({ ...model, id: "swan/v1" })),
        settings: { ...nightingale.settings, apiKey: { type: "string", description: "Key" } },
      },
    },
    "exports a definition",
    /settings\.apiKey: it is named like a secret[^]*models\[0\]\.id: "swan\/v1"; allowed: nightingale\/<name>/,
  ],
  [
    "says that callbacks do not exist, and declares them",
    { ...nightingaleHarness, callbacks: { notApplicable: "none are sent" } },
    "has a scenario for every capability",
    /callbacks: declared by the plugin, and not applicable in the harness/,
  ],
];

describeBroken("The conformance suite of providers", BROKEN);

describe("The conformance suite of providers, of a harness", () => {
  it("names every scenario that is missing", async () => {
    const { probe: _, ...rest } = nightingaleHarness;
    const harness = {
      ...rest,
      work: { ...rest.work, cancelled: undefined },
      lookup: { notApplicable: " " },
    } as unknown as MusicProviderHarness;
    const [failure, ...others] = await failuresOf(harness, "every scenario");
    expect(failure).to.include("work.cancelled").and.include("probe").and.include("lookup (why is it not applicable?)");
    expect(others).to.deep.equal([]);
  });
});

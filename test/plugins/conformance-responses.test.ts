import type {
  Completed,
  MusicProvider,
  ProviderCapabilities,
  ProviderCost,
  ProviderHost,
  ProviderModel,
  Snapshot,
} from "../../core/ports/music-provider.js";
import { ProviderFailure } from "../../core/ports/music-provider.js";
import type { MusicProviderHarness } from "../contract/music-provider.contract.js";
import { broken, type Broken, Changed, describeBroken } from "./broken-samples.js";
import { elevenLabsHarness } from "./elevenlabs-support.js";
import { nightingaleHarness } from "./sample-harness.js";
import { nightingale, NightingaleProvider } from "./sample-provider.js";

/** A plugin that reads multipart responses, with other bodies in place of those that it could not read. */
const unreadable = (isRead: (body: string, contentType: string) => boolean): MusicProviderHarness => ({
  ...elevenLabsHarness,
  definition: {
    ...elevenLabsHarness.definition,
    create: (host) =>
      elevenLabsHarness.definition.create({
        ...host,
        fetch: async (input, init) => {
          const response = await host.fetch(input, init);
          const contentType = response.headers.get("content-type") ?? "";
          if (!contentType.startsWith("multipart")) return response;
          const body = Buffer.from(await response.arrayBuffer());
          const { status, headers } = response;
          return new Response(isRead(body.toString("latin1"), contentType) ? body : "", { status, headers });
        },
      }),
  },
});

/** The sample with other words of what is completed, whether it is polled or reported. */
function changingCompleted(host: ProviderHost, change: (completed: Completed) => Completed): MusicProvider {
  const provider = new NightingaleProvider(host);
  const { pollMany, parseCallback } = provider;
  const changed = (word: Snapshot | ProviderFailure): Snapshot | ProviderFailure =>
    !ProviderFailure.is(word) && word.state === "completed" ? change(word) : word;
  provider.pollMany = async (handles, context) => (await pollMany.call(provider, handles, context)).map(changed);
  provider.parseCallback = async (callback) => {
    const read = await parseCallback.call(provider, callback);
    return read.trust === "verified" ? { ...read, snapshot: changed(read.snapshot) } : read;
  };
  return provider;
}

/** Whatever it completes costs this. */
const costing =
  (cost: ProviderCost) =>
  (host: ProviderHost): MusicProvider =>
    changingCompleted(host, (completed) => ({ ...completed, cost }));

/** The sample with another declaration. */
const declaring = (
  capabilities: Partial<ProviderCapabilities>,
  model: Partial<ProviderModel> = {},
): MusicProviderHarness => ({
  ...nightingaleHarness,
  definition: {
    ...nightingale,
    capabilities: { ...nightingale.capabilities, ...capabilities } as ProviderCapabilities,
    models: nightingale.models.map((declared) => ({ ...declared, ...model })),
  },
});

const WRONG_COSTS: readonly (readonly [what: string, cost: ProviderCost, says: string])[] = [
  ["no number", { amount: Number.NaN, unit: "credits" }, "cost: NaN"],
  ["less than nothing", { amount: -1, unit: "credits" }, "cost: -1"],
  ["an amount without a unit", { amount: 1, unit: "" }, 'cost: 1 ""'],
];

const LONG = "x".repeat(20_000);

const BROKEN: readonly Broken[] = [
  [
    "keeps more in a handle than is stored",
    broken(
      (host) =>
        new Changed(host, async (original) => {
          const response = await original();
          if (response.state !== "accepted") return response;
          return { ...response, handle: { version: 1, data: { ...response.handle.data, whole: LONG } } };
        }),
    ),
    "answers accepted",
    /bytes of the handle as JSON: expected 20\d+ to be at most 16384/,
  ],
  [
    "leaves a longer reference with a track than is stored",
    broken((host) =>
      changingCompleted(host, (word) => ({
        ...word,
        tracks: word.tracks.map((track) => ({ ...track, reference: { task: LONG } })),
      })),
    ),
    "makes a generation",
    /tracks\[0\]\.reference: 20011 characters; kept are at most 4000/,
  ],
  [
    "takes a split that is gone for a wrong key",
    broken(
      (host) =>
        new Changed(host, (original, { operation }) =>
          original().catch((error: unknown) => {
            const isGone = ProviderFailure.is(error) && error.kind === "model_unavailable" && operation !== "music";
            throw isGone ? new ProviderFailure("misconfigured", "Check the key.") : error;
          }),
        ),
    ),
    "not there any more",
    /of stem_split where.*'misconfigured', 'no'[^]*of vocal_removal where.*'misconfigured', 'no'/,
  ],
  ...WRONG_COSTS.map(([what, cost, says]): Broken => [
    `reports ${what} as its cost`,
    broken(costing(cost)),
    "makes a generation|what a signed callback says: succeeded",
    new RegExp(`makes a generation[^]*${says}[^]*what a callback completed[^]*${says}`),
  ]),
  [
    "declares costs that are none, of a model, a mode and a split",
    declaring(
      { stemSplit: { sources: "any", upstreamCost: { amount: Infinity, unit: "credits" } } },
      {
        upstreamCost: { amount: -2, unit: "credits" },
        references: {
          ...nightingale.models[0]?.references,
          cover: { sources: "any", takesStrength: true, upstreamCost: { amount: 2, unit: "" } },
        },
      },
    ),
    "declares sane",
    /stemSplit\.upstreamCost[^]*upstreamCost: {"amount":-2[^]*references\.cover\.upstreamCost/,
  ],
  [
    "reads no multipart response whose lines end with LF",
    unreadable((body) => body.includes("\r\nContent-Type")),
    "reads a multipart response",
    /^(reads a multipart response: lines end with LF, .*\s*){4}$/,
  ],
  [
    "finds the boundary of a multipart response in the header alone",
    unreadable((_, contentType) => /boundary="?b7f3/.test(contentType)),
    "reads a multipart response",
    /^(reads a multipart response: lines end with (CRLF|LF), the header names (another|no) boundary.*\s*){4}$/,
  ],
  [
    "takes an empty balance for too many requests",
    broken(
      (host) =>
        new Changed(host, (original) =>
          original().catch((error: unknown) => {
            const isLimit = ProviderFailure.is(error) && error.providerCode === "no_credit";
            throw isLimit ? new ProviderFailure("rate_limited", "Slow down.") : error;
          }),
        ),
    ),
    "of an account without credit",
    /^says out_of_credit of an account without credit \(2\).*expected 'rate_limited' to equal 'out_of_credit'/,
  ],
];

describeBroken("The conformance suite of providers, of what is answered", BROKEN);

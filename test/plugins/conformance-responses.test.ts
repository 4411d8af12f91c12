import { expect } from "chai";
import type {
  Completed,
  MusicProvider,
  ProviderAsset,
  ProviderCapabilities,
  ProviderCost,
  ProviderHost,
  ProviderModel,
  Snapshot,
} from "../../core/ports/music-provider.js";
import { ProviderFailure } from "../../core/ports/music-provider.js";
import type { ExpectedTracks, MusicProviderHarness } from "../contract/music-provider.contract.js";
import { isApplicable } from "../contract/music-provider/harness.js";
import type { FakeApi } from "../support/provider-kit/index.js";
import { broken, type Broken, Changed, describeBroken, failuresOf } from "./broken-samples.js";
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

/** A sample whose tracks have this one file more, where the provider has a cover. */
const withCover = (file: (cover: ProviderAsset) => ProviderAsset | null): MusicProviderHarness => {
  let url = "";
  const cover = Buffer.concat([Buffer.from("\x89PNG", "latin1"), Buffer.from("cover")]);
  const asset = { role: "cover", label: "full", contentType: null, durationSeconds: null } as const;
  const { definition } = broken((host) =>
    changingCompleted(host, (completed) => {
      const more = file({ ...asset, source: { kind: "url", url } });
      const tracks = completed.tracks.map((track) => ({
        ...track,
        assets: [...track.assets, ...(more ? [more] : [])],
      }));
      return { ...completed, tracks };
    }),
  );
  const { generation } = nightingaleHarness;
  if (!isApplicable(generation)) throw new Error("The sample has a generation.");
  const completes = async (fake: FakeApi): Promise<ExpectedTracks> => {
    url = fake.file(cover);
    const otherFiles = [{ role: "cover", label: "full", bytes: cover }] as const;
    return { ...(await generation.completes(fake)), tracks: [{ otherFiles }] };
  };
  return { ...nightingaleHarness, definition, generation: { ...generation, completes } };
};

const OTHER_COVER = Buffer.from("\x89PNG of another track", "latin1");

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
    "leaves out a file that the provider has in addition to the mix",
    withCover(() => null),
    "makes a generation",
    /files of track 0 in addition to the mix: expected \[\] to deeply equal \[ 'cover full' \]/,
  ],
  [
    "takes a stem for the cover",
    withCover((cover) => ({ ...cover, role: "stem", label: "vocals" })),
    "makes a generation",
    /files of track 0 in addition to the mix: expected \[ 'stem vocals' \] to deeply equal \[ 'cover full' \]/,
  ],
  [
    "returns another cover than the track's",
    withCover((cover) => ({ ...cover, source: { kind: "bytes", bytes: OTHER_COVER } })),
    "makes a generation",
    /the bytes of cover full of track 0 are those that the provider has/,
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

describe("The conformance suite of providers, of files in addition to the mix", () => {
  it("passes a plugin that returns them", async () => {
    expect(
      await failuresOf(
        withCover((cover) => cover),
        "makes a generation",
      ),
    ).to.deep.equal([]);
  });
});

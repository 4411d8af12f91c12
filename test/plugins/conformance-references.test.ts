import type {
  CallContext,
  MusicProvider,
  MusicReference,
  MusicRequest,
  ProviderHost,
  ReferenceMode,
} from "../../core/ports/music-provider.js";
import { ProviderFailure } from "../../core/ports/music-provider.js";
import type { MusicProviderHarness } from "../contract/music-provider.contract.js";
import { aSource } from "../support/provider-kit/index.js";
import { broken, type Broken, Changed, describeBroken } from "./broken-samples.js";
import { nightingaleHarness } from "./sample-harness.js";
import { NightingaleProvider } from "./sample-provider.js";

const { references = {} } = nightingaleHarness;

/** Changes a generation that works from a track before the provider sees it. */
const changing = (change: (request: MusicRequest, reference: MusicReference) => MusicRequest): MusicProviderHarness =>
  broken(
    (host) =>
      new Changed(host, (original, request, context) =>
        request.operation === "music" && request.reference !== undefined
          ? new NightingaleProvider(host).submit(change(request, request.reference), context)
          : original(),
      ),
  );

const using = (change: (reference: MusicReference) => Partial<MusicReference>): MusicProviderHarness =>
  changing((request, reference) => ({ ...request, reference: { ...reference, ...change(reference) } }));

/** Works from a track where a generation has none. */
const always =
  (mode: ReferenceMode) =>
  (host: ProviderHost): MusicProvider =>
    new Changed(host, (original, request, context) => {
      if (request.operation !== "music" || request.reference !== undefined) return original();
      const points = { fromSeconds: null, toSeconds: null, strength: null };
      const reference = { mode, source: aSource({ reference: { task: "task-of-before" } }), ...points };
      return new NightingaleProvider(host).submit({ ...request, reference }, context);
    });

/** Its tracks carry no reference. */
function forgetful(host: ProviderHost): MusicProvider {
  const provider = new NightingaleProvider(host);
  const original = provider.pollMany.bind(provider);
  provider.pollMany = async (handles, context: CallContext) =>
    (await original(handles, context)).map((response) =>
      ProviderFailure.is(response) || response.state !== "completed"
        ? response
        : { ...response, tracks: response.tracks.map(({ reference: _, ...track }) => track) },
    );
  return provider;
}

/** Sends a call of extensions a second time when the first one fails. */
const stubborn = (host: ProviderHost): MusicProvider =>
  new NightingaleProvider({
    ...host,
    fetch: (input, init) =>
      host.fetch(input, init).catch((error: unknown) => {
        if (!new Request(input).url.includes("extensions")) throw error;
        return host.fetch(input, init);
      }),
  });

const BROKEN: readonly Broken[] = [
  [
    "makes a generation without the track it was given",
    changing(({ reference: _, ...request }) => request),
    "works from a track and delivers the files: cover",
    /the provider was given the track \(harness: references\.cover\.receivedSource\)/,
  ],
  [
    "sends its own track by another id",
    using(({ source }) => ({ source: { ...source, reference: { task: "task-of-another" } } })),
    "works from a track of its own and delivers the files: extend",
    /the provider was given the track \(harness: references\.extend\.receivedSource\)/,
  ],
  [
    "leaves no reference with tracks that it could work from",
    broken(forgetful),
    "leaves with a track",
    /the reference of a track: expected undefined to be an object/,
  ],
  [
    "creates from a track of its own without its reference",
    using(({ source: { reference, ...source } }) => ({
      source: { ...source, reference: reference?.["task"] === undefined ? { task: "undefined" } : reference },
    })),
    "refuses a track without",
    /the reference that it left with it[^]*expected \[ undefined, undefined \][^]*a reference that it understands/,
  ],
  [
    "creates from a link that is not there",
    using(({ source }) => ({ source: { ...source, url: source.url ?? "null" } })),
    "refuses a track without a link",
    /without a link: expected \[ undefined, undefined \] to deeply equal \[ 'invalid_input', 'no' \]/,
  ],
  [
    "sends seconds where the provider counts milliseconds",
    using(({ fromSeconds }) => ({ fromSeconds: fromSeconds === null ? null : fromSeconds / 1_000 })),
    "sends the p",
    /extend, 7 s: what was sent of `from`, in seconds[^]*inpaint, 4 to 9 s: what was sent of `from`, in seconds/,
  ],
  [
    "drops the point that it goes on from",
    using(() => ({ fromSeconds: null })),
    "goes on from, or refuses it",
    /what was sent of `from`: expected undefined to be a number/,
  ],
  [
    "goes on from the beginning where no point is given",
    using(({ fromSeconds }) => ({ fromSeconds: fromSeconds ?? 0 })),
    "goes on from the end",
    /the end: expected \+?0 to be close to 20/,
  ],
  [
    "refuses the part that it is to replace",
    using(({ mode, source }) => (mode === "inpaint" ? { source: { ...source, url: null } } : {})),
    "sends the part of the track",
    /the part: expected 'refused' to not equal 'refused'/,
  ],
  [
    "sends points where there are none",
    using(() => ({ fromSeconds: 3 })),
    "sends no points of a track: cover",
    /points: expected \{ from: 3 \} to not have keys/,
  ],
  [
    "takes the strength the other way round",
    using(({ strength }) => ({ strength: strength === null ? null : 1 - strength })),
    "how much of the track is kept: cover",
    /cover, 0: expected 1 to be close to \+?0/,
  ],
  [
    "takes a strength of 0 for none",
    using(({ strength }) => ({ strength: strength === 0 ? null : strength })),
    "how much of the track is kept: extend, 0",
    /the strength: expected undefined to be a number/,
  ],
  [
    "works from a track where there is none",
    broken(always("extend")),
    "sends nothing of a track where a generation has none: extend",
    /a track was sent where there is none/,
  ],
  [
    "tries a call that creates from a track again by itself",
    broken(stubborn),
    "outcome of extend when the reply is lost",
    /how often the call that creates was sent: expected 2 to equal 1/,
  ],
  [
    "sends another key with every attempt to work from a track",
    changing((request) => ({ ...request, jobId: request.attemptId })),
    "sends the key of the job, the same for every attempt: extend",
    /the key of the second attempt/,
  ],
  [
    "names no address for work from a track",
    changing((request) => ({ ...request, callbackUrl: null })),
    "tells where to report to: extend",
    /what was sent: expected/,
  ],
  [
    "names another attempt for work from a track",
    changing((request) => ({ ...request, attemptId: "attempt" })),
    "tells the id of the attempt, by which it is searched: extend",
    /what was sent: expected/,
  ],
  [
    "declares modes that the harness does not try, or tries only in part",
    {
      ...nightingaleHarness,
      references: {
        extend: { ...(references.extend as NonNullable<typeof references.extend>), own: undefined as never },
        cover: { ...(references.cover as NonNullable<typeof references.cover>), sent: undefined as never },
      },
    },
    "every scenario",
    /references\.extend\.own[^]*references\.cover\.sent[^]*references\.inpaint/,
  ],
  [
    "declares no mode that the harness tries",
    {
      ...nightingaleHarness,
      models: nightingaleHarness.definition.models.map(({ references: _, ...model }) => model),
    },
    "every scenario",
    /references\.extend \(no model declares it: there is none\)/,
  ],
];

describeBroken("The conformance suite of providers, of work from a track", BROKEN);

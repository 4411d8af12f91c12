import type { MusicReference, SplitRequest } from "../../core/ports/music-provider.js";
import { goingOn } from "../../plugins/synth/extend.js";
import definition from "../../plugins/synth/index.js";
import type { CompositionSpec } from "../../plugins/synth/job-spec.js";
import { renderTrack } from "../../plugins/synth/render.js";
import { toReference } from "../../plugins/synth/split/own-track.js";
import { splitAudio } from "../../plugins/synth/split/split-audio.js";
import { musicProviderContract } from "../contract/music-provider.contract.js";
import type { MusicProviderHarness, SplitScenarios } from "../contract/music-provider.contract.js";
import { wavFile } from "../support/audio-files.js";
import { aSource } from "../support/provider-kit/index.js";
import { aBand } from "./synth-split-support.js";

const OFFLINE = { notApplicable: "it works on this machine, without a network" };
const REQUEST = { prompt: "a quiet tune", durationSeconds: 5 };
const SOURCE = wavFile(aBand(0.5).mix);

const CHUNK: CompositionSpec = { prompt: REQUEST.prompt, lyrics: null, seconds: REQUEST.durationSeconds, sung: false };
const EARLIER = { ...CHUNK, prompt: "wild drums", seconds: 6, masterDigest: "0".repeat(64) };

/** The files that the renderer makes on this thread are those that the plugin must deliver. */
async function renderedMix(chunk: CompositionSpec): Promise<Uint8Array> {
  const mix = (await renderTrack({ kind: "render", ...chunk, keepMaster: false, keepStems: false })).assets.find(
    ({ role }) => role === "mix",
  );
  return mix?.bytes ?? new Uint8Array(0);
}

const unread = (): never => {
  throw new Error("a track of its own is not read");
};

/** What `synth` leaves with a track. */
const OWN = toReference(EARLIER) ?? {};
const FROM_EARLIER: MusicReference = {
  mode: "extend",
  source: aSource({ reference: OWN }),
  fromSeconds: null,
  toSeconds: null,
  strength: null,
};

const splits = (operation: SplitRequest["operation"]): SplitScenarios => ({
  submit: OFFLINE,
  completes: async () => {
    const stems = await splitAudio({ operation, bytes: new Uint8Array(SOURCE) });
    return { stems: Object.fromEntries(stems.map(({ label, bytes }) => [label, bytes])) };
  },
  source: {
    contentType: "audio/wav",
    sizeBytes: SOURCE.length,
    async *open() {
      yield SOURCE;
    },
  },
  receivedSource: (requests) => requests.length === 0,
});

const synthHarness: MusicProviderHarness = {
  definition,
  settings: () => ({ threads: 1, keepMaster: true, keepStems: false }),
  request: REQUEST,
  options: OFFLINE,
  references: {
    extend: {
      submit: OFFLINE,
      completes: async () => ({ mixes: [await renderedMix(goingOn(CHUNK, FROM_EARLIER))] }),
      own: OWN,
      source: { durationSeconds: EARLIER.seconds, open: unread },
      receivedSource: (requests) => requests.length === 0,
    },
  },
  generation: {
    submit: OFFLINE,
    completes: async () => ({
      mixes: [await renderedMix(CHUNK)],
      tracks: [{ title: "Quiet Tune", mixSeconds: REQUEST.durationSeconds }],
    }),
    severalTracks: { notApplicable: "a submission makes one track" },
  },
  work: { notApplicable: "there is nothing to poll" },
  refusals: OFFLINE,
  idempotency: { notApplicable: "equal requests give equal bytes" },
  callbacks: OFFLINE,
  lookup: { notApplicable: "nothing is kept between calls" },
  cancel: { notApplicable: "an aborted submission stops" },
  probe: { notApplicable: "there is no key and no credit" },
  stemSplit: splits("stem_split"),
  vocalRemoval: splits("vocal_removal"),
};

musicProviderContract("synth", synthHarness);

import type {
  CallContext,
  Completed,
  MusicProvider,
  MusicRequest,
  ProviderHost,
  ProviderTrack,
} from "../../core/ports/music-provider.js";
import { ProviderFailure } from "../../core/ports/music-provider.js";
import { openProviderSandbox } from "../../adapters/sandbox/index.js";
import definition from "../../plugins/synth/index.js";
import { decodeFlac, type Sound } from "../support/audio-analysis.js";

/** What a test says about a request; the rest is ordinary. */
type Given = "prompt" | "lyrics" | "durationSeconds" | "options" | "attempt" | "jobId";

export type RequestParts = Partial<Pick<MusicRequest, Given>> & { readonly modelId?: string };

/** Delays asked of the host's clock, which passes them at once. */
export interface HostUnderTest extends ProviderHost {
  readonly sleeps: number[];
}

export function aHost(settings: ProviderHost["settings"] = {}): HostUnderTest {
  const sleeps: number[] = [];
  return {
    models: definition.models,
    settings: { testHooks: false, threads: 1, keepMaster: true, keepStems: true, ...settings },
    fetch: () => Promise.reject(new Error("the synth works offline")),
    sandbox: openProviderSandbox,
    sleeps,
    clock: {
      now: () => 0,
      sleep: (ms, signal) => {
        sleeps.push(ms);
        return signal?.aborted === true ? Promise.reject(new Error("aborted")) : Promise.resolve();
      },
    },
    logger: { info: () => undefined, warn: () => undefined },
  };
}

export function aRequest({ modelId = "synth/instrumental", ...parts }: RequestParts = {}): MusicRequest {
  const model = definition.models.find(({ id }) => id === modelId);
  if (model === undefined) throw new Error(`the synth has no model ${modelId}`);
  return {
    operation: "music",
    jobId: "job_1",
    attemptId: "attempt_1",
    attempt: 1,
    callbackUrl: null,
    model,
    prompt: "a quiet tune",
    lyrics: null,
    durationSeconds: 5,
    instrumental: modelId === "synth/instrumental",
    options: {},
    ...parts,
  };
}

export function createSynth(host: ProviderHost): MusicProvider {
  return definition.create(host);
}

/** Submits and answers the one track. */
export async function renderOne(
  provider: MusicProvider,
  parts: RequestParts,
  signal: CallContext["signal"] = new AbortController().signal,
): Promise<ProviderTrack> {
  const outcome = await provider.submit(aRequest(parts), { signal });
  const [track] = (outcome as Completed).tracks;
  if (outcome.state !== "completed" || track === undefined)
    throw new Error("the synth answers completed, with a track");
  return track;
}

/** The bytes of one asset. */
export function bytesOf(track: ProviderTrack, role: string, label = "full"): Uint8Array {
  const asset = track.assets.find((candidate) => candidate.role === role && candidate.label === label);
  if (asset?.source.kind !== "bytes") throw new Error(`the track has no ${role} ${label}`);
  return asset.source.bytes;
}

/** The sound of one lossless asset. */
export function soundOf(track: ProviderTrack, role: "master" | "stem", label = "full"): Promise<Sound> {
  return decodeFlac(bytesOf(track, role, label));
}

/** The failure that a promise is rejected with. */
export async function failureOf(work: Promise<unknown>): Promise<ProviderFailure> {
  try {
    await work;
  } catch (error) {
    if (ProviderFailure.is(error)) return error;
    throw error;
  }
  throw new Error("expected a provider failure, but the work succeeded");
}

import { once, EventEmitter } from "node:events";
import {
  type Accepted,
  type AssetContentType,
  type CallContext,
  type Completed,
  defineProvider,
  type LookupOutcome,
  type MusicProvider,
  PROVIDER_PORT_VERSION,
  type RequestOptions,
  STANDARD_OPTIONS,
  type ProviderDefinition,
  ProviderFailure,
  type ProviderFailureKind,
  type ProviderHandle,
  type ProviderTrack,
  type Snapshot,
  type SubmitRequest,
} from "../../../plugins/sdk/index.js";

/** The provider's reaction to a submission. */
export type Behaviour = (request: SubmitRequest, context: CallContext) => Promise<Completed | Accepted>;

/** The result of a poll, and of a lookup. */
export type PollBehaviour = (handle: ProviderHandle, context: CallContext) => Promise<Snapshot>;
export type LookupBehaviour = (attemptId: string, context: CallContext) => Promise<LookupOutcome>;

/** The first bytes of files of each type. */
const HEADS: Partial<Record<AssetContentType, readonly number[]>> = {
  "audio/mpeg": [0x49, 0x44, 0x33],
  "audio/wav": [..."RIFF\0\0\0\0WAVE"].map((character) => character.charCodeAt(0)),
  "audio/flac": [..."fLaC"].map((character) => character.charCodeAt(0)),
  "image/png": [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a],
};

/** Contains no audio or image, but can be stored: 1,000 bytes that start as files of this type do. */
export function scriptedBytes(contentType: AssetContentType): Uint8Array {
  const bytes = new Uint8Array(1_000).map((_, index) => index % 251);
  bytes.set(HEADS[contentType] ?? []);
  return bytes;
}

/** An mp3 of that kind. */
export const SCRIPTED_AUDIO: Uint8Array = scriptedBytes("audio/mpeg");

export const SCRIPTED_TRACK: ProviderTrack = {
  title: "Rain on a tin roof",
  bpm: 96,
  tags: { mood: ["calm"], activity: [], genre: [], other: [] },
  assets: [
    anAsset("mix", "full", "audio/mpeg"),
    anAsset("master", "full", "audio/wav"),
    anAsset("stem", "drums", "audio/flac"),
    anAsset("cover", "full", "image/png"),
  ],
};

/** The model's options besides prompt and lyrics: one of every type, one with a default. */
export const SCRIPTED_OPTIONS: RequestOptions = {
  seed: STANDARD_OPTIONS.seed,
  negative_prompt: { ...STANDARD_OPTIONS.negative_prompt, maxLength: 20 },
  key: STANDARD_OPTIONS.key,
  vocal_gender: STANDARD_OPTIONS.vocal_gender,
  style_weight: { type: "number", minimum: 0, maximum: 1, default: 0.5, description: "How closely the style is kept." },
  loop: { type: "boolean", description: "Whether the end leads to the beginning." },
};

function anAsset(role: "mix" | "master" | "stem" | "cover", label: string, contentType: AssetContentType) {
  return {
    role,
    label,
    contentType,
    durationSeconds: role === "cover" ? null : 12.34567,
    source: { kind: "bytes" as const, bytes: scriptedBytes(contentType) },
  };
}

/** Delivers {@link SCRIPTED_TRACK} at once. */
export const completes: Behaviour = () => Promise.resolve({ state: "completed", tracks: [SCRIPTED_TRACK] });

/** Accepts the work, to be polled in `nextPollMs`. */
export function accepts(nextPollMs = 1_000): Behaviour {
  return (request) =>
    Promise.resolve({ state: "accepted", handle: { version: 1, data: { task: request.jobId } }, nextPollMs });
}

export function fails(kind: ProviderFailureKind): Behaviour {
  return () => Promise.reject(new ProviderFailure(kind, `scripted: ${kind}, with words for operators only`));
}

/** Holds every submission until `release` is called, or the process stops; then does what `then` says. */
export function holds(then: Behaviour = completes): { readonly behaviour: Behaviour; release(): void } {
  const gate = new AbortController();
  const behaviour: Behaviour = async (request, context) => {
    const opened = AbortSignal.any([gate.signal, context.signal]);
    if (!opened.aborted) await once(opened, "abort");
    if (context.signal.aborted) throw new ProviderFailure("unavailable", "stopped");
    return then(request, context);
  };
  return { behaviour, release: () => gate.abort() };
}

/** A provider that follows a test's script, without any other dependency. */
export class ScriptedProvider implements MusicProvider {
  readonly submissions: SubmitRequest[] = [];
  readonly polls: ProviderHandle[] = [];
  readonly lookups: string[] = [];
  behaviour: Behaviour = completes;
  pollBehaviour: PollBehaviour = () => Promise.resolve({ state: "completed", tracks: [SCRIPTED_TRACK] });
  lookupBehaviour: LookupBehaviour = () => Promise.resolve({ state: "absent" });
  private readonly events = new EventEmitter();

  readonly definition: ProviderDefinition;

  constructor(id = "scripted") {
    this.definition = this.define(id);
  }

  protected define(id: string): ProviderDefinition {
    return defineProvider({
      id,
      label: "Scripted Provider",
      portVersion: PROVIDER_PORT_VERSION,
      concurrency: 8,
      settings: {},
      models: [
        {
          id: `${id}/song`,
          name: "Scripted Song",
          creditCost: 10,
          supportsLyrics: true,
          supportsInstrumental: true,
          duration: { minSeconds: 5, maxSeconds: 240, defaultSeconds: 30 },
          lyricsMaxLength: 200,
          requestOptions: SCRIPTED_OPTIONS,
        },
        {
          id: `${id}/beat`,
          name: "Scripted Beat",
          creditCost: 3,
          supportsLyrics: false,
          supportsInstrumental: false,
          duration: null,
        },
      ],
      capabilities: { idempotentSubmit: true, lookup: false, cancel: false },
      create: () => this,
    });
  }

  submit(request: SubmitRequest, context: CallContext): Promise<Completed | Accepted> {
    this.submissions.push(request);
    this.events.emit("submission");
    return this.behaviour(request, context);
  }

  poll(handle: ProviderHandle, context: CallContext): Promise<Snapshot> {
    this.polls.push(handle);
    return this.pollBehaviour(handle, context);
  }

  lookup(attemptId: string, context: CallContext): Promise<LookupOutcome> {
    this.lookups.push(attemptId);
    return this.lookupBehaviour(attemptId, context);
  }

  /** Resolves when there were `count` submissions. */
  async submitted(count = 1): Promise<void> {
    while (this.submissions.length < count) await once(this.events, "submission");
  }
}

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

/** What {@link ScriptedProvider} does with a submission. */
export type SubmitBehaviour = (request: SubmitRequest, context: CallContext) => Promise<Completed | Accepted>;

/** What it does with a poll. */
export type PollBehaviour = (handle: ProviderHandle, context: CallContext) => Promise<Snapshot>;
/** What it does with a lookup. */
export type LookupBehaviour = (attemptId: string, context: CallContext) => Promise<LookupOutcome>;

/** The first bytes of files of each type. */
const HEADS: Partial<Record<AssetContentType, readonly number[]>> = {
  "audio/mpeg": [0x49, 0x44, 0x33],
  "audio/wav": [..."RIFF\0\0\0\0WAVE"].map((character) => character.charCodeAt(0)),
  "audio/flac": [..."fLaC"].map((character) => character.charCodeAt(0)),
  "image/png": [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a],
};

/**
 * Contains no audio or image, but can be stored: 1,000 bytes that start as files of this type do.
 *
 * @example
 * assert.equal(scriptedBytes("audio/mpeg").length, 1_000);
 */
export function scriptedBytes(contentType: AssetContentType): Uint8Array {
  const bytes = new Uint8Array(1_000).map((_, index) => index % 251);
  bytes.set(HEADS[contentType] ?? []);
  return bytes;
}

/** The mix of {@link SCRIPTED_TRACK}: {@link scriptedBytes} of an mp3. */
export const SCRIPTED_AUDIO: Uint8Array = scriptedBytes("audio/mpeg");

/** What {@link ScriptedProvider} delivers by default: a mix, a master, a stem and a cover. */
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

/**
 * Every submission delivers {@link SCRIPTED_TRACK} at once.
 *
 * @example
 * const provider = new ScriptedProvider();
 * provider.behaviour = submitCompletes;
 */
export const submitCompletes: SubmitBehaviour = () => Promise.resolve({ state: "completed", tracks: [SCRIPTED_TRACK] });

/**
 * Every submission is accepted, to be polled in `nextPollMs`; the poll completes it.
 *
 * @example
 * const provider = new ScriptedProvider();
 * provider.behaviour = submitAccepts(50);
 * provider.pollBehaviour = () => Promise.resolve({ state: "running", nextPollMs: 50 });
 */
export function submitAccepts(nextPollMs = 1_000): SubmitBehaviour {
  return (request) =>
    Promise.resolve({ state: "accepted", handle: { version: 1, data: { task: request.jobId } }, nextPollMs });
}

/**
 * Every submission fails in this way.
 *
 * @example
 * const provider = new ScriptedProvider();
 * provider.behaviour = submitFails("content_rejected");
 */
export function submitFails(kind: ProviderFailureKind): SubmitBehaviour {
  return () => Promise.reject(new ProviderFailure(kind, `scripted: ${kind}, with words for operators only`));
}

/**
 * Holds every submission until `release` is called, or the process stops; then does what `then` says.
 *
 * @example
 * const provider = new ScriptedProvider();
 * const held = submitHolds(submitFails("timeout"));
 * provider.behaviour = held.behaviour;
 * await provider.submitted();
 * held.release();
 */
export function submitHolds(then: SubmitBehaviour = submitCompletes): {
  readonly behaviour: SubmitBehaviour;
  release(): void;
} {
  const gate = new AbortController();
  const behaviour: SubmitBehaviour = async (request, context) => {
    const opened = AbortSignal.any([gate.signal, context.signal]);
    if (!opened.aborted) await once(opened, "abort");
    if (context.signal.aborted) throw new ProviderFailure("unavailable", "stopped");
    return then(request, context);
  };
  return { behaviour, release: () => gate.abort() };
}

/**
 * In place of a music provider, without network: it follows a test's script and stores what it was asked for. Its
 * `definition` is a plugin for `compose`, with the models `scripted/song` (10 credits) and `scripted/beat` (3 credits).
 *
 * @example
 * const provider = new ScriptedProvider();
 * const settings = loadSettings({ env: {}, cwd: "/tmp" });
 * const app = await compose(settings, { plugins: [provider.definition] });
 * provider.behaviour = submitFails("unavailable");
 */
export class ScriptedProvider implements MusicProvider {
  readonly submissions: SubmitRequest[] = [];
  readonly polls: ProviderHandle[] = [];
  readonly lookups: string[] = [];
  behaviour: SubmitBehaviour = submitCompletes;
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

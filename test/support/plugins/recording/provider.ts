import {
  type Accepted,
  type CallContext,
  type Completed,
  defineProvider,
  type LookupOutcome,
  type MusicProvider,
  PROVIDER_PORT_VERSION,
  type ProviderCapabilities,
  type ProviderDefinition,
  ProviderFailure,
  type ProviderHandle,
  type ProviderHost,
  type ProviderModel,
  type Running,
  type SubmitRequest,
} from "../../../../plugins/sdk/index.js";
import { CallRecording } from "./call-recording.js";

/** What a submission to a model comes to. */
const FATES = {
  direct: "completes at once",
  polled: "is accepted, and completes when it is polled",
  late: "completes after `lateMs`",
  deaf: "the same, but does not hear that it is to stop",
  refusing: "is refused for now on the first attempt, and completes on the next",
  failing: "fails for good",
  rejecting: "is refused for its content",
  losing: "is accepted, but the response gets lost",
} as const;

export type Fate = keyof typeof FATES;

const COST = 2;
const POLL_MS = 50;

/** A second of silence. */
const SILENCE = silence(8_000);

/** A provider that records its submissions in a file and treats each as the name of its model says. */
export function recordingProvider(id: string, capabilities: Partial<ProviderCapabilities>): ProviderDefinition {
  return defineProvider({
    id,
    label: "Recording provider",
    portVersion: PROVIDER_PORT_VERSION,
    concurrency: 8,
    longestCallMs: ({ lateMs }) => Number(lateMs) + 1_000,
    settings: {
      file: {
        type: "string",
        required: true,
        description: "Path of the file of recorded calls, which all processes share",
      },
      lateMs: { type: "integer", default: 500, minimum: 0, description: "How long the models `late` and `deaf` take" },
    },
    models: Object.keys(FATES).map((fate) => aModel(`${id}/${fate}`)),
    capabilities: { idempotentSubmit: false, lookup: false, cancel: false, ...capabilities },
    create: (host) => new RecordingProvider(id, host),
  });
}

export class RecordingProvider implements MusicProvider {
  private readonly recording: CallRecording;

  constructor(
    private readonly id: string,
    protected readonly host: ProviderHost,
  ) {
    this.recording = new CallRecording(String(host.settings["file"]));
  }

  async submit(request: SubmitRequest, { signal }: CallContext): Promise<Completed | Accepted> {
    const { attempt } = request;
    const modelId = request.operation === "music" ? request.model.id : request.operation;
    const at = this.note(request, modelId);
    switch (fateOf(modelId)) {
      case "polled":
        return accepted(modelId, at + 3 * POLL_MS);
      case "refusing":
        if (attempt === 1) throw new ProviderFailure("unavailable", "refused for now");
        return COMPLETED;
      case "losing":
        if (attempt === 1) throw new ProviderFailure("outcome_unknown", "the response got lost");
        return COMPLETED;
      case "late":
        await this.host.clock.sleep(Number(this.host.settings["lateMs"]), signal);
        if (signal.aborted) throw new ProviderFailure("outcome_unknown", "aborted");
        return COMPLETED;
      case "deaf":
        await this.host.clock.sleep(Number(this.host.settings["lateMs"]));
        return COMPLETED;
      default:
        return conclusion(modelId);
    }
  }

  /** Records a submission. @returns when it came */
  protected note({ jobId, attemptId }: SubmitRequest, modelId: string): number {
    const at = this.host.clock.now();
    this.recording.note({ providerId: this.id, jobId, attemptId, modelId, pid: process.pid, at });
    return at;
  }

  async poll(handle: ProviderHandle): Promise<Running | Completed> {
    const { modelId, readyAt } = handle.data as { readonly modelId: string; readonly readyAt: number };
    return this.host.clock.now() < readyAt ? { state: "running", nextPollMs: POLL_MS } : conclusion(modelId);
  }

  async lookup(attemptId: string): Promise<LookupOutcome> {
    const found = this.recording.read().find((submission) => submission.attemptId === attemptId);
    return found === undefined ? { state: "absent" } : accepted(found.modelId, found.at);
  }
}

export const COMPLETED: Completed = {
  state: "completed",
  tracks: [
    {
      title: "Silence",
      bpm: null,
      tags: { mood: [], activity: [], genre: [], other: [] },
      assets: [
        {
          role: "mix",
          label: "full",
          contentType: "audio/wav",
          durationSeconds: 1,
          source: { kind: "bytes", bytes: SILENCE },
        },
      ],
    },
  ],
};

export function accepted(modelId: string, readyAt: number): Accepted {
  return { state: "accepted", handle: { version: 1, data: { modelId, readyAt } }, nextPollMs: POLL_MS };
}

/** @throws {ProviderFailure} where the model comes to nothing */
function conclusion(modelId: string): Completed {
  const fate = fateOf(modelId);
  if (fate === "failing") throw new ProviderFailure("failed", "could not be made");
  if (fate === "rejecting") throw new ProviderFailure("content_rejected", "refused for good");
  return COMPLETED;
}

function fateOf(modelId: string): Fate {
  return modelId.split("/")[1] as Fate;
}

function aModel(id: string): ProviderModel {
  return {
    id,
    name: `Recording ${fateOf(id)}`,
    creditCost: COST,
    supportsLyrics: false,
    supportsInstrumental: true,
    duration: null,
  };
}

/** WAV: mono, 8 bits, 8 kHz. */
function silence(samples: number): Uint8Array {
  const bytes = Buffer.alloc(44 + samples, 128);
  bytes.write("RIFF", 0, "latin1");
  bytes.writeUInt32LE(36 + samples, 4);
  bytes.write("WAVEfmt ", 8, "latin1");
  bytes.writeUInt32LE(16, 16);
  bytes.writeUInt16LE(1, 20);
  bytes.writeUInt16LE(1, 22);
  bytes.writeUInt32LE(8_000, 24);
  bytes.writeUInt32LE(8_000, 28);
  bytes.writeUInt16LE(1, 32);
  bytes.writeUInt16LE(8, 34);
  bytes.write("data", 36, "latin1");
  bytes.writeUInt32LE(samples, 40);
  return bytes;
}

import { existsSync } from "node:fs";
import { join } from "node:path";
import {
  type Completed,
  defineProvider,
  type MusicProvider,
  PROVIDER_PORT_VERSION,
  type ProviderAsset,
  type ProviderHost,
  type SubmitRequest,
} from "../../../../plugins/sdk/index.js";
import { SCRIPTED_AUDIO, SCRIPTED_TRACK } from "../../doubles/scripted-provider.js";
import { CallRecording } from "../recording/call-recording.js";

/** What a submission does until its gate is open: each attempt at a job has its own. */
const FATES = {
  blocking: "keeps the event loop from doing anything else",
  waiting: "waits, and ignores the signal",
  streaming: "has delivered one file, and delivers the next",
} as const;

/** A provider behind a gate, which notes in its folder who came to it. */
export default defineProvider({
  id: "gate",
  label: "Gate",
  portVersion: PROVIDER_PORT_VERSION,
  concurrency: 4,
  settings: {
    folder: {
      type: "string",
      required: true,
      description: "Folder of the recorded calls and the gate, which all processes share",
    },
  },
  models: Object.keys(FATES).map((fate) => ({
    id: `gate/${fate}`,
    name: `Gate ${fate}`,
    creditCost: 10,
    supportsLyrics: false,
    supportsInstrumental: true,
    duration: null,
  })),
  capabilities: { idempotentSubmit: true, lookup: false, cancel: false },
  create: (host) => new GateProvider(host, host.settings.folder),
});

/** Where the provider notes its submissions. */
export function gateRecordingProvider(folder: string): CallRecording {
  return new CallRecording(join(folder, "recording"));
}

/** The file that opens the gate of an attempt. */
export function gateFile(folder: string, attempt: number): string {
  return join(folder, `open-${attempt}`);
}

const LOOK_AGAIN_MS = 20;

class GateProvider implements MusicProvider {
  constructor(
    private readonly host: ProviderHost,
    private readonly folder: string,
  ) {}

  async submit({ jobId, attemptId, attempt, ...request }: SubmitRequest): Promise<Completed> {
    const modelId = request.operation === "music" ? request.model.id : request.operation;
    gateRecordingProvider(this.folder).note({
      providerId: "gate",
      jobId,
      attemptId,
      modelId,
      pid: process.pid,
      at: Date.now(),
    });
    const isOpen = (): boolean => existsSync(gateFile(this.folder, attempt));
    const opened = async (): Promise<void> => {
      while (!isOpen()) await this.host.clock.sleep(LOOK_AGAIN_MS);
    };
    if (modelId === "gate/blocking") while (!isOpen()) continue;
    if (modelId === "gate/waiting") await opened();
    const late = modelId === "gate/streaming" ? [lateAsset(opened)] : [];
    return { state: "completed", tracks: [{ ...SCRIPTED_TRACK, assets: [...SCRIPTED_TRACK.assets, ...late] }] };
  }
}

function lateAsset(opened: () => Promise<void>): ProviderAsset {
  async function* open(): AsyncIterable<Uint8Array> {
    yield SCRIPTED_AUDIO;
    await opened();
    yield SCRIPTED_AUDIO;
  }
  return {
    role: "stem",
    label: "late",
    contentType: "audio/flac",
    durationSeconds: 1,
    source: { kind: "stream", open },
  };
}

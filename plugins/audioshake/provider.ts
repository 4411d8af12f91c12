import { handleCodec, ProviderFailure } from "../sdk/index.js";
import type {
  Accepted,
  CallContext,
  LookupOutcome,
  MusicProvider,
  ProbeResult,
  ProviderHandle,
  Snapshot,
  SubmitRequest,
} from "../sdk/index.js";
import { AudioShakeClient } from "./client.js";
import { failedModelsOf, metadataOf, type Operation, operationIn, snapshotOf } from "./map.js";
import { type Host, readStems } from "./settings.js";

interface Work {
  readonly taskId: string;
  readonly operation: Operation;
}

const HANDLES = handleCodec<Work>(1, ({ taskId, operation }) =>
  typeof taskId === "string" && (operation === "stem_split" || operation === "vocal_removal")
    ? { taskId, operation }
    : null,
);

const FIRST_POLL_MS = 10_000;
const PAGE_SIZE = 100;

/** A lookup reads at most this many pages; in a longer list a task may still exist. */
export const LOOKUP_PAGES_MAX = 20;

/** Splits as tasks: the track is uploaded or named by URL, a task is created, and polled. */
export class AudioShakeProvider implements MusicProvider {
  private readonly client: AudioShakeClient;
  private readonly stems: readonly string[];

  constructor(private readonly host: Host) {
    this.stems = readStems(host.settings.stems);
    this.client = new AudioShakeClient(host);
  }

  async submit(request: SubmitRequest, { signal }: CallContext): Promise<Accepted> {
    if (request.operation === "music")
      throw new ProviderFailure("invalid_input", "AudioShake creates no music.", { billable: "no" });
    const { operation, source, jobId } = request;
    const models = operation === "vocal_removal" ? ["vocals", "instrumental"] : this.stems;
    const formats = [this.host.settings.format];
    const targets = models.map((model) => ({ model, formats }));
    const { url } = source;
    const input = url === null ? { assetId: await this.client.upload(source, jobId, signal) } : { url };
    const taskId = await this.client.create({ ...input, targets, metadata: metadataOf(request) }, signal);
    return accepted(taskId, operation);
  }

  async poll(handle: ProviderHandle, { signal }: CallContext): Promise<Snapshot> {
    const { taskId, operation } = HANDLES.read(handle);
    const { clock, settings, logger } = this.host;
    const task = await this.client.task(taskId, signal);
    const snapshot = snapshotOf(task, operation, clock.now(), settings.pollMs);
    const missing = snapshot.state === "completed" ? failedModelsOf(task) : [];
    if (missing.length > 0) logger.warn("Some stems could not be separated", { taskId, models: missing.join(", ") });
    return snapshot;
  }

  async lookup(attemptId: string, { signal }: CallContext): Promise<LookupOutcome> {
    for (let page = 0; page < LOOKUP_PAGES_MAX; page += 1) {
      const tasks = await this.client.tasks(page * PAGE_SIZE, PAGE_SIZE, signal);
      if (tasks.length === 0) return { state: "absent" };
      for (const { id, metadata } of tasks) {
        const operation = operationIn(metadata, attemptId);
        if (operation !== null && typeof id === "string") return accepted(id, operation);
      }
    }
    const message = `It is not among the first ${LOOKUP_PAGES_MAX} pages of tasks, and there are more.`;
    throw new ProviderFailure("unavailable", message);
  }

  async probe({ signal }: CallContext): Promise<ProbeResult> {
    await this.client.check(signal);
    return { credit: null, warnings: [] };
  }
}

function accepted(taskId: string, operation: Operation): Accepted {
  return { state: "accepted", handle: HANDLES.write({ taskId, operation }), nextPollMs: FIRST_POLL_MS };
}

import { foreignHandle, handleCodec, type JsonObject, ProviderFailure } from "../sdk/index.js";
import type {
  Accepted,
  CallContext,
  CancelOutcome,
  MusicProvider,
  ProbeResult,
  ProviderHandle,
  Snapshot,
  SplitRequest,
  SubmitRequest,
} from "../sdk/index.js";
import { LalalClient } from "./client.js";
import { filenameOf, idempotencyKeyOf, nextPollMs, snapshotOf } from "./map.js";
import { readOptions, type SplitOptions } from "./options.js";
import type { Host } from "./settings.js";

const CHECKED_AT_ONCE_MAX = 200;

interface Work {
  readonly operation: SplitRequest["operation"];
  readonly taskId: string;
}

const HANDLES = handleCodec(1, ({ operation, taskId }: JsonObject): Work | null => {
  const isSplit = operation === "stem_split" || operation === "vocal_removal";
  return isSplit && typeof taskId === "string" ? { operation, taskId } : null;
});

/** Splits tracks: uploads, starts, and polls all work together. */
export class LalalProvider implements MusicProvider {
  private readonly client: LalalClient;
  private readonly options: SplitOptions;

  constructor(private readonly host: Host) {
    this.options = readOptions(host.settings);
    this.client = new LalalClient(host);
  }

  async submit(request: SubmitRequest, { signal }: CallContext): Promise<Accepted> {
    if (request.operation === "music")
      throw new ProviderFailure("invalid_input", "LALAL.AI creates no music.", { billable: "no" });
    const { operation, jobId, source } = request;
    const { stems, presets, vocalPresets } = this.options;
    const sourceId = await this.client.upload(source, filenameOf(request), signal);
    const isVocalRemoval = operation === "vocal_removal";
    const body = {
      source_id: sourceId,
      presets: {
        ...(isVocalRemoval ? { stem: "vocals" } : { stem_list: stems }),
        ...presets,
        ...(isVocalRemoval || stems.includes("vocals") ? vocalPresets : {}),
      },
      idempotency_key: idempotencyKeyOf(jobId),
    };
    const taskId = await this.client.split(
      isVocalRemoval ? "/split/stem_separator/" : "/split/multistem/",
      body,
      signal,
    );
    const handle = HANDLES.write({ operation, taskId });
    return { state: "accepted", handle, nextPollMs: nextPollMs(this.host.clock.now()) };
  }

  async pollMany(
    handles: readonly ProviderHandle[],
    { signal }: CallContext,
  ): Promise<readonly (Snapshot | ProviderFailure)[]> {
    const snapshots: (Snapshot | ProviderFailure)[] = [];
    for (let at = 0; at < handles.length; at += CHECKED_AT_ONCE_MAX) {
      const works = handles.slice(at, at + CHECKED_AT_ONCE_MAX).map(HANDLES.parse);
      const ids = works.flatMap((work) => work?.taskId ?? []);
      const states = ids.length === 0 ? {} : await this.client.check(ids, signal);
      const now = this.host.clock.now();
      for (const work of works) {
        if (work === null) snapshots.push(foreignHandle());
        else
          snapshots.push(
            snapshotOf(Object.hasOwn(states, work.taskId) ? states[work.taskId] : undefined, work.operation, now),
          );
      }
    }
    return snapshots;
  }

  async cancel(handle: ProviderHandle, { signal }: CallContext): Promise<CancelOutcome> {
    const { status, error } = await this.client.cancel(HANDLES.read(handle).taskId, signal);
    if (status === "success") return "requested";
    const why = typeof error === "string" ? error.slice(0, 300) : String(status);
    if (/not in progress/i.test(why)) return "too_late";
    throw new ProviderFailure("unavailable", `The task was not cancelled: ${why}`);
  }

  async probe({ signal }: CallContext): Promise<ProbeResult> {
    const amount = await this.client.minutesLeft(signal);
    return { credit: { amount, unit: "minutes" }, warnings: amount > 0 ? [] : ["No minutes are left."] };
  }
}

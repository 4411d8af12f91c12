import { createHmac, timingSafeEqual } from "node:crypto";
import { asObject, handleCodec, isLostReply, parseJson, ProviderFailure } from "../sdk/index.js";
import type {
  Accepted,
  JsonObject,
  CallContext,
  MusicProvider,
  ParsedCallback,
  ProbeResult,
  ProviderHandle,
  ReceivedCallback,
  Snapshot,
  SubmitRequest,
} from "../sdk/index.js";
import { SunoClient } from "./client.js";
import { type Dialect, DIALECTS } from "./dialects.js";
import { failureIn, type Origin, stageOf, stemsIn, tracksIn } from "./map.js";
import { generationOf, splitOf } from "./requests.js";
import type { Host } from "./settings.js";

/** Where the state of work is read, whichever route started it. */
const RECORDS = { music: "/api/v1/generate/record-info", split: "/api/v1/vocal-removal/record-info" } as const;

/** No file exists before two minutes have passed; a split is quicker. */
const FIRST_POLL_MS = { music: 30_000, split: 15_000 } as const;
const NEXT_POLL_MS = 10_000;

/** A generation always creates two tracks; a split at least two stems. */
const FILES_MIN = 2;
/** How long the plugin waits for the remaining files after the vendor reports a failed callback. */
const UNREPORTED_WAIT_MS = 10 * 60_000;

const TOLERANCE_MS = 5 * 60_000;

interface Work {
  readonly operation: SubmitRequest["operation"];
  readonly taskId: string;
  /** When a poll first reported the failed callback, in milliseconds since 1970. */
  readonly unreportedSince: number | null;
  /** null: a split, or work whose handle does not say. */
  readonly origin: Origin | null;
}

const HANDLES = handleCodec(1, ({ operation, taskId, unreportedSince, dialect, model, submittedAt }: JsonObject) =>
  isOperation(operation) && typeof taskId === "string" && typeof dialect === "string"
    ? {
        operation,
        taskId,
        unreportedSince: typeof unreportedSince === "number" ? unreportedSince : null,
        dialect,
        ...(typeof model === "string" && typeof submittedAt === "number" ? { model, submittedAt } : {}),
      }
    : null,
);

/** A reseller of Suno: generations of two tracks, and splits of them. */
export class SunoProvider implements MusicProvider {
  private readonly client: SunoClient;
  private readonly dialect: Dialect;

  constructor(private readonly host: Host) {
    this.dialect = DIALECTS[host.settings.dialect];
    if (host.settings.webhookKey !== undefined && !this.dialect.signs)
      throw new Error(`webhookKey: ${this.dialect.name} signs no callbacks; allowed with dialect kie.ai`);
    this.client = new SunoClient(host, this.dialect);
  }

  async submit(request: SubmitRequest, { signal }: CallContext): Promise<Accepted> {
    const { operation } = request;
    const now = this.host.clock.now();
    const callBackUrl = request.callbackUrl ?? this.host.settings.fallbackCallbackUrl;
    const occasion = { dialect: this.dialect.name, callBackUrl, now };
    const { path, json } = operation === "music" ? generationOf(request, occasion) : splitOf(request, occasion);
    const taskId = await this.client.create(path, json, signal);
    const origin = operation === "music" ? originOf(request.model.upstream, now) : null;
    const handle = this.toHandle({ operation, taskId, unreportedSince: null, origin });
    return { state: "accepted", handle, nextPollMs: FIRST_POLL_MS[kindOf(operation)] };
  }

  async poll(handle: ProviderHandle, { signal }: CallContext): Promise<Snapshot> {
    const work = this.workOf(handle);
    const record = await this.client.record(RECORDS[kindOf(work.operation)], work.taskId, signal);
    const word = work.operation === "music" ? record["status"] : record["successFlag"];
    if (typeof word !== "string") throw new ProviderFailure("unavailable", "The response has no status of the task.");
    switch (stageOf(word)) {
      case "failed":
        throw failureIn(record, word);
      case "succeeded":
        return this.completed(work, record, word);
      case "unreported":
        return this.unreported(work, record, word);
      case "running":
        return { state: "running", nextPollMs: NEXT_POLL_MS };
    }
  }

  /**
   * A signature covers the task and the time, not the body: the plugin polls for the state of the work. Where the
   * submission's reply was lost, the signed task is the one that was started.
   */
  async parseCallback({ headers, body, receivedAt, handle, request }: ReceivedCallback): Promise<ParsedCallback> {
    const key = this.host.settings.webhookKey;
    if (key === undefined) return { trust: "hint" };
    const isLost = isLostReply(handle);
    const work = isLost ? this.lostWork(body, request, receivedAt) : this.workOf(handle);
    if (work === null) return { trust: "hint" };
    const sentAt = headers["x-webhook-timestamp"] ?? "";
    const expected = Buffer.from(createHmac("sha256", key).update(`${work.taskId}.${sentAt}`).digest("base64"));
    const given = Buffer.from(headers["x-webhook-signature"] ?? "");
    if (given.length !== expected.length || !timingSafeEqual(given, expected))
      return { trust: "forged", reason: "The signature does not hold for the task." };
    if (!(Math.abs(receivedAt - toMs(sentAt)) <= TOLERANCE_MS)) return { trust: "forged", reason: "It is too old." };
    if (!isLost) return { trust: "hint" };
    return { trust: "verified", snapshot: { state: "running", nextPollMs: 0, handle: this.toHandle(work) } };
  }

  async probe({ signal }: CallContext): Promise<ProbeResult> {
    const amount = await this.client.credit(signal);
    return { credit: { amount, unit: "credits" }, warnings: amount > 0 ? [] : ["No credit is left."] };
  }

  private completed({ operation, origin }: Work, record: JsonObject, word: string): Snapshot {
    const [tracks, stems] =
      operation === "music" ? [tracksIn(record, this.dialect.name, origin), []] : [[], stemsIn(record)];
    if (tracks.length + stems.length === 0) throw new ProviderFailure("failed", `${word}, and there are no files.`);
    if (
      operation === "vocal_removal" &&
      !["vocals", "instrumental"].every((label) => stems.some((stem) => stem.label === label))
    )
      throw new ProviderFailure(
        "failed",
        `${word}, and there are only: ${stems.map(({ label }) => label).join(", ")}.`,
      );
    return { state: "completed", tracks, ...(operation === "music" ? {} : { stems }) };
  }

  /** The callback may have failed during the work, or at its end: the files show which. */
  private unreported(work: Work, record: JsonObject, word: string): Snapshot {
    const files = work.operation === "music" ? tracksIn(record, this.dialect.name, work.origin) : stemsIn(record);
    const now = this.host.clock.now();
    const unreportedSince = work.unreportedSince ?? now;
    if (files.length >= FILES_MIN || now - unreportedSince >= UNREPORTED_WAIT_MS)
      return this.completed(work, record, word);
    return { state: "running", nextPollMs: NEXT_POLL_MS, handle: this.toHandle({ ...work, unreportedSince }) };
  }

  private toHandle({ origin, ...work }: Work): ProviderHandle {
    return HANDLES.write({ ...work, dialect: this.dialect.name, ...origin });
  }

  private workOf(handle: ProviderHandle): Work {
    const { dialect, model, submittedAt, ...work } = HANDLES.read(handle);
    // Another vendor does not have the task; a poll works again when the setting is restored.
    if (dialect !== this.dialect.name)
      throw new ProviderFailure(
        "misconfigured",
        `The work is at ${dialect}; the setting dialect is ${this.dialect.name}.`,
      );
    return { ...work, origin: originOf(model, submittedAt) };
  }

  /** The task that a callback names; null when it names none. */
  private lostWork(body: Uint8Array, request: ReceivedCallback["request"], receivedAt: number): Work | null {
    const { task_id: taskId } = asObject(asObject(parseJson(body))["data"]);
    if (request === undefined || typeof taskId !== "string" || taskId === "") return null;
    const model = this.host.models.find(({ id }) => id === request.modelId);
    const origin = originOf(model?.upstream, receivedAt);
    return { operation: request.operation, taskId, unreportedSince: null, origin };
  }
}

function originOf(model: string | undefined, submittedAt: number | undefined): Origin | null {
  return model === undefined || submittedAt === undefined ? null : { model, submittedAt };
}

function isOperation(value: unknown): value is Work["operation"] {
  return value === "music" || value === "stem_split" || value === "vocal_removal";
}

function kindOf(operation: SubmitRequest["operation"]): "music" | "split" {
  return operation === "music" ? "music" : "split";
}

/** Whether the time is in seconds or milliseconds is not documented. */
function toMs(sentAt: string): number {
  const time = /^\d+$/.test(sentAt) ? Number(sentAt) : Number.NaN;
  return time < 100_000_000_000 ? time * 1_000 : time;
}

import { asObject, isLink, ProviderFailure, stemLabel } from "../sdk/index.js";
import type { Completed, JsonObject, ProviderAsset, ProviderCost, Snapshot, SplitRequest } from "../sdk/index.js";

export type Operation = SplitRequest["operation"];

/** Links are signed when a task is read, for an hour. */
const LINKS_LIVE_MS = 3_600_000;

const SEPARATOR = ":";

/** The metadata of a task, by which a lookup finds it. */
export function metadataOf({ operation, attemptId }: SplitRequest): string {
  return `${operation}${SEPARATOR}${attemptId}`;
}

/** @returns the operation of the task with this attempt's metadata; null: it is another task */
export function operationIn(metadata: unknown, attemptId: string): Operation | null {
  if (typeof metadata !== "string") return null;
  const [operation, ...rest] = metadata.split(SEPARATOR);
  if (rest.join(SEPARATOR) !== attemptId) return null;
  return operation === "stem_split" || operation === "vocal_removal" ? operation : null;
}

/** One of the requested models, with its own state. */
interface Target {
  readonly model: string;
  readonly status: unknown;
  readonly links: readonly string[];
  readonly durationSeconds: number | null;
  readonly error: JsonObject;
}

/** @throws {ProviderFailure} a target that is needed failed, or its state is not known */
export function snapshotOf(task: JsonObject, operation: Operation, now: number, nextPollMs: number): Snapshot {
  const targets = (Array.isArray(task["targets"]) ? task["targets"] : []).map(targetOf);
  const invalid = targets.find(({ status }) => !["processing", "completed", ...FAILED].includes(String(status)));
  if (targets.length === 0 || invalid !== undefined)
    throw new ProviderFailure("unavailable", `The task has the unknown status ${String(invalid?.status)}.`);
  // The files of a completed target are fetched with the others: the host stores a split as a whole.
  if (targets.some(({ status }) => status === "processing")) return { state: "running", nextPollMs };
  const failed = targets.filter(({ status }) => status !== "completed");
  const [first] = failed;
  // Completed targets are billed: a stem split returns them without the failed ones.
  const isLost = operation === "vocal_removal" ? failed.length > 0 : failed.length === targets.length;
  if (first !== undefined && isLost) throw failureIn(first);
  return completedOf(task, targets, operation, now);
}

/** Models of a task that ended without their file. */
export function failedModelsOf({ targets }: JsonObject): string[] {
  const ended = (Array.isArray(targets) ? targets : []).map(targetOf);
  return ended.filter(({ status }) => status !== "completed").map(({ model }) => model);
}

/** The vendor's documentation has `error`; its own demos expect `failed`. */
const FAILED = ["error", "failed"];

function targetOf(value: unknown): Target {
  const { model, status, output, duration, error } = asObject(value);
  const files = (Array.isArray(output) ? output : []).map(asObject);
  return {
    model: typeof model === "string" ? model : "",
    status,
    links: files.map(({ link }) => link).filter(isLink),
    durationSeconds: typeof duration === "number" && duration > 0 ? duration : null,
    error: asObject(error),
  };
}

function completedOf(task: JsonObject, targets: readonly Target[], operation: Operation, now: number): Completed {
  const stems = targets.flatMap(({ model, links: [url], durationSeconds }): ProviderAsset[] =>
    url === undefined || model === ""
      ? []
      : [
          {
            role: "stem",
            label: stemLabel(model),
            contentType: null,
            durationSeconds,
            source: { kind: "url", url, expiresAt: now + LINKS_LIVE_MS },
          },
        ],
  );
  const labels = stems.map(({ label }) => label);
  const needed = operation === "vocal_removal" ? ["vocals", "instrumental"] : labels.slice(0, 1);
  // Without a code the host polls again for a while.
  if (stems.length === 0 || !needed.every((label) => labels.includes(label)))
    throw new ProviderFailure("failed", `The task completed with no more files than: ${labels.join(", ") || "none"}.`);
  const cost = costOf(task);
  return { state: "completed", tracks: [], stems, ...(cost === null ? {} : { cost }) };
}

/** The cost of the task, or else the sum of its targets' costs. */
function costOf({ cost, targets }: JsonObject): ProviderCost | null {
  const costs = (Array.isArray(targets) ? targets : []).map((target) => asObject(target)["cost"]);
  const charged = typeof cost === "number" ? [cost] : costs.filter((part) => typeof part === "number");
  return charged.length === 0 ? null : { amount: charged.reduce((sum, part) => sum + part, 0), unit: "credits" };
}

function failureIn({ model, error: { code, message } }: Target): ProviderFailure {
  const why = typeof message === "string" && message !== "" ? message.slice(0, 300) : "no reason given";
  return new ProviderFailure("failed", `The target ${model} failed: ${why}`, {
    providerCode: typeof code === "number" || typeof code === "string" ? String(code) : "error",
  });
}

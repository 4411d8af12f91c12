import { asObject, isLink, ProviderFailure, stemLabel } from "../sdk/index.js";
import type { JsonObject, ProviderAsset, ProviderFailureKind, Snapshot, SplitRequest } from "../sdk/index.js";
import type { Labels } from "./settings.js";

/** The members of a job that this plugin reads. */
export interface Job {
  readonly id: string;
  readonly status: string;
  /** By the workflow's names of its outputs. */
  readonly result: JsonObject;
  readonly error: JsonObject;
  /** The metadata that its creation set. */
  readonly metadata: JsonObject;
}

/** Codes of a job that failed; any other, `INTERNAL_ERROR` among them, is `failed`. */
const KINDS: Readonly<Record<string, ProviderFailureKind>> = { BAD_INPUT: "invalid_input", TIMEOUT: "timeout" };

/** null: it is not a job. */
export function readJob(value: unknown): Job | null {
  const { id, status, result, error, metadata } = asObject(value);
  if (typeof id !== "string" || id === "" || typeof status !== "string") return null;
  return { id, status, result: asObject(result), error: asObject(error), metadata: asObject(metadata) };
}

export function snapshotOf(
  job: Job,
  operation: SplitRequest["operation"],
  labels: Labels,
  pollMs: number,
): Snapshot | ProviderFailure {
  switch (job.status) {
    case "QUEUED":
    case "STARTED":
      return { state: "running", nextPollMs: pollMs };
    case "SUCCEEDED":
      return completedOf(job, operation, labels);
    case "FAILED":
      return failureMessage(job);
    default:
      return new ProviderFailure("unavailable", `The status ${JSON.stringify(job.status)} is unknown.`);
  }
}

function completedOf(
  { result }: Job,
  operation: SplitRequest["operation"],
  labels: Labels,
): Snapshot | ProviderFailure {
  const stems = new Map<string, ProviderAsset>();
  for (const [name, url] of Object.entries(result)) {
    const label = labelOf(name, labels);
    // Outputs that are not files (chords, a tempo) are listed next to the stems.
    if (label === null || !isLink(url) || stems.has(label)) continue;
    stems.set(label, { role: "stem", label, contentType: null, durationSeconds: null, source: { kind: "url", url } });
  }
  const missing = operation === "vocal_removal" ? ["instrumental", "vocals"].filter((label) => !stems.has(label)) : [];
  if (stems.size > 0 && missing.length === 0) return { state: "completed", tracks: [], stems: [...stems.values()] };
  const answered = Object.keys(result).join(", ");
  const what = missing.length === 0 ? "stem" : missing.join(" and no ");
  return new ProviderFailure(
    "failed",
    `The response has ${answered === "" ? "nothing" : answered}: there is no ${what} (\`labels\`).`,
    {
      billable: "yes",
    },
  );
}

/** null: it is left out. */
function labelOf(name: string, labels: Labels): string | null {
  const named = labels.get(name.toLowerCase());
  return named === undefined ? stemLabel(name) : named;
}

function failureMessage({ status, error: { code, title, message } }: Job): ProviderFailure {
  const words = [title, message].filter((word) => typeof word === "string" && word !== "").join(": ");
  const kind = (typeof code === "string" && Object.hasOwn(KINDS, code) ? KINDS[code] : undefined) ?? "failed";
  return new ProviderFailure(kind, (words === "" ? "It failed without a word." : words).slice(0, 300), {
    providerCode: typeof code === "string" ? code : status,
  });
}

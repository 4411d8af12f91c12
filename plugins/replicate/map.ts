import { NO_TAGS, ProviderFailure, stemLabel } from "../sdk/index.js";
import type { ProviderAsset, ProviderTrack, Snapshot, SubmitRequest, UrlSource } from "../sdk/index.js";

/** The members of a prediction that this plugin reads. */
export interface Prediction {
  readonly id: string;
  readonly status: string;
  readonly output: unknown;
  readonly error: string | null;
  /** Milliseconds since 1970; null when it does not say. */
  readonly completedAt: number | null;
  readonly isRemoved: boolean;
}

/** What a poll needs to know of the work. */
export interface Work {
  readonly operation: SubmitRequest["operation"];
  /** `options.output` of the model; empty for the output itself. */
  readonly output: string;
  readonly pollMs: number;
  /** The headers for fetching a file. */
  headersFor(url: URL): UrlSource["headers"];
}

/** Replicate deletes files of predictions that the API created after an hour. */
const FILES_LIVE_MS = 3_600_000;

/** A refusal of content has no code: these words in the text identify it. */
const REJECTED =
  /\b(nsfw|moderat(ion|ed)|flagged|sensitive|content polic(y|ies)|safety (filter|system|check)|prohibited content|copyright)/i;

/** Names that the forks of demucs give to all but the vocals. */
const INSTRUMENTAL: ReadonlySet<string> = new Set(["no_vocals", "accompaniment", "instrumental"]);

/** null: it is not a prediction. */
export function readPrediction(value: unknown): Prediction | null {
  if (typeof value !== "object" || value === null) return null;
  const {
    id,
    status,
    output,
    error,
    completed_at: completed,
    data_removed: removed,
  } = value as Readonly<Record<string, unknown>>;
  if (typeof id !== "string" || id === "" || typeof status !== "string") return null;
  const completedAt = typeof completed === "string" ? Date.parse(completed) : NaN;
  return {
    id,
    status,
    output: output ?? null,
    error: typeof error === "string" && error !== "" ? error : null,
    completedAt: Number.isFinite(completedAt) ? completedAt : null,
    isRemoved: removed === true,
  };
}

export function snapshotOf(prediction: Prediction, work: Work): Snapshot | ProviderFailure {
  const { status, error } = prediction;
  switch (status) {
    case "starting":
    case "processing":
      return { state: "running", nextPollMs: work.pollMs };
    case "succeeded":
      return completedOf(prediction, work);
    case "failed":
      return failureMessage(error ?? "It failed without a word.", status);
    case "canceled":
      return new ProviderFailure("cancelled", error ?? "It was cancelled there.");
    case "aborted":
      return new ProviderFailure("timeout", error ?? "Its deadline passed before it started.", { billable: "no" });
    default:
      return new ProviderFailure("unavailable", `The status ${JSON.stringify(status)} is unknown.`);
  }
}

function completedOf(prediction: Prediction, work: Work): Snapshot | ProviderFailure {
  const { output, isRemoved } = prediction;
  if (isRemoved)
    return new ProviderFailure("gone", "Replicate has deleted the files: it keeps them for an hour.", {
      billable: "yes",
    });
  if (work.operation !== "music") return stemsOf(prediction, work);
  const found = at(output, work.output);
  const urls = (Array.isArray(found) ? found : [found]).map(toUrl);
  const known = urls.filter((url) => url !== null);
  if (known.length === 0 || known.length < urls.length) return noFiles(output, work.output);
  return { state: "completed", tracks: known.map((url) => trackOf(sourceOf(url, prediction, work))) };
}

/** An object of names and URLs; stems that were not requested are null. */
function stemsOf(prediction: Prediction, work: Work): Snapshot | ProviderFailure {
  const { output } = prediction;
  if (typeof output !== "object" || output === null || Array.isArray(output)) return noFiles(output, "");
  const named = Object.entries(output).flatMap(([name, value]) => {
    const url = toUrl(value);
    return url === null ? [] : [{ name: name.toLowerCase(), url }];
  });
  const isPair = named.length === 2 && named.some(({ name }) => name === "vocals");
  const stems = named.map(({ name, url }): ProviderAsset => {
    // Of two files, one of them the vocals, `other` is all the rest.
    const isRest = INSTRUMENTAL.has(name) || (work.operation === "vocal_removal" && isPair && name === "other");
    return assetOf("stem", isRest ? "instrumental" : stemLabel(name), sourceOf(url, prediction, work));
  });
  const labels = stems.map(({ label }) => label);
  const missing =
    work.operation === "vocal_removal" ? ["instrumental", "vocals"].filter((label) => !labels.includes(label)) : [];
  if (stems.length === 0) return noFiles(output, "");
  if (missing.length > 0)
    return new ProviderFailure(
      "failed",
      `The response has ${labels.join(", ")}: there is no ${missing.join(" and no ")}.`,
      {
        billable: "yes",
      },
    );
  return { state: "completed", tracks: [], stems };
}

function failureMessage(error: string, status: string): ProviderFailure {
  const [code = status] = /\bE\d{3,4}\b/.exec(error) ?? [];
  return new ProviderFailure(REJECTED.test(error) ? "content_rejected" : "failed", error.slice(0, 300), {
    providerCode: code,
  });
}

function noFiles(output: unknown, path: string): ProviderFailure {
  const where = path === "" ? "its output" : `${path} of its output`;
  const message = JSON.stringify(output)?.slice(0, 200) ?? "nothing";
  return new ProviderFailure(
    "failed",
    `It succeeded, and ${where} is no URL of a file and no list of them: ${message}`,
    {
      billable: "yes",
    },
  );
}

function trackOf(source: UrlSource): ProviderTrack {
  return { title: null, bpm: null, tags: NO_TAGS, assets: [assetOf("mix", "full", source)] };
}

function assetOf(role: "mix" | "stem", label: string, source: UrlSource): ProviderAsset {
  return { role, label, contentType: null, durationSeconds: null, source };
}

function sourceOf(url: URL, { completedAt }: Prediction, work: Work): UrlSource {
  const headers = work.headersFor(url);
  return {
    kind: "url",
    url: url.href,
    ...(headers === undefined ? {} : { headers }),
    ...(completedAt === null ? {} : { expiresAt: completedAt + FILES_LIVE_MS }),
  };
}

function toUrl(value: unknown): URL | null {
  const url = typeof value === "string" && URL.canParse(value) ? new URL(value) : null;
  return url?.protocol === "https:" || url?.protocol === "http:" ? url : null;
}

function at(value: unknown, path: string): unknown {
  if (path === "") return value;
  return path.split(".").reduce<unknown>((found, step) => {
    if (typeof found !== "object" || found === null || !Object.hasOwn(found, step)) return undefined;
    return (found as Readonly<Record<string, unknown>>)[step];
  }, value);
}

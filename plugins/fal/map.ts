import { asObject, isLink, NO_TAGS, ProviderFailure, providerFailure, stemLabel } from "../sdk/index.js";
import type {
  ApiResponse,
  JsonObject,
  Completed,
  ProbeResult,
  ProviderAsset,
  ProviderProgress,
  ProviderTrack,
} from "../sdk/index.js";
import { errorTypesIn, REJECTED } from "./errors.js";

/** Accepted work, as its handle keeps it. */
export interface Work {
  readonly requestId: string;
  /** Do not derive it from the endpoint's id: fal drops parts of the id. */
  readonly statusUrl: string;
  readonly responseUrl: string;
  readonly cancelUrl: string;
  readonly operation: "music" | "stem_split";
  /** `options.output` of the model; empty for the output itself. */
  readonly output: string;
}

/** Namespaces that stand before an owner. */
const NAMESPACES: ReadonlySet<string> = new Set(["workflows", "comfy"]);

/** The work that a stored handle names; null: it names none. */
export function workIn(data: JsonObject): Work | null {
  const { requestId, statusUrl, responseUrl, cancelUrl, operation, output } = data;
  const texts = [requestId, statusUrl, responseUrl, cancelUrl, output];
  const isKnown = operation === "music" || operation === "stem_split";
  return isKnown && texts.every((text) => typeof text === "string") ? (data as unknown as Work) : null;
}

/**
 * The URLs at which a request can be polled, derived as fal's own clients do: from owner and alias of the endpoint's
 * id, without the rest. Only for a request whose reply was lost.
 */
export function urlsOf(baseUrl: string, endpoint: string, requestId: string): Omit<Work, "operation" | "output"> {
  const steps = endpoint.split("/");
  const app = steps.slice(0, NAMESPACES.has(steps[0] ?? "") ? 3 : 2).join("/");
  const responseUrl = `${baseUrl}/${app}/requests/${encodeURIComponent(requestId)}`;
  return { requestId, responseUrl, statusUrl: `${responseUrl}/status`, cancelUrl: `${responseUrl}/cancel` };
}

/** A status: fal has none for failed work, only an error next to `COMPLETED`. */
export type Status =
  | { readonly state: "running"; readonly progress?: ProviderProgress }
  | { readonly state: "completed" }
  | { readonly state: "failed"; readonly error: string; readonly errorType: string | null };

/** null: it is not accepted work. */
export function readAccepted(response: ApiResponse): Omit<Work, "operation" | "output"> | null {
  const {
    request_id: requestId,
    status_url: statusUrl,
    response_url: responseUrl,
    cancel_url: cancelUrl,
  } = asObject(response.json());
  const all = { requestId, statusUrl, responseUrl, cancelUrl };
  const isWhole = Object.values(all).every((value) => typeof value === "string" && value !== "");
  return isWhole ? (all as Omit<Work, "operation" | "output">) : null;
}

/**
 * @throws {ProviderFailure} `unavailable` where the response says nothing about the work: that does not say that it
 * failed
 */
export function readStatus(response: ApiResponse): Status {
  const { status, error, error_type: errorType, queue_position: queuePosition } = asObject(response.json());
  if (status === "IN_QUEUE" && typeof queuePosition === "number")
    return { state: "running", progress: { queuePosition } };
  if (status === "IN_QUEUE" || status === "IN_PROGRESS") return { state: "running" };
  if (status !== "COMPLETED")
    throw providerFailure("unavailable", response, {
      message: `The status ${JSON.stringify(status)} is unknown.`,
    });
  const type = typeof errorType === "string" && errorType !== "" ? errorType : null;
  if ((error === undefined || error === null || error === "") && type === null) return { state: "completed" };
  return { state: "failed", error: typeof error === "string" ? error : (JSON.stringify(error) ?? ""), errorType: type };
}

/** The result of finished work: the output of its model. */
export function completedOf(
  output: unknown,
  { operation, output: path }: Pick<Work, "operation" | "output">,
): Completed | ProviderFailure {
  if (operation !== "music") return stemsOf(output);
  const found = at(output, path);
  const urls = (Array.isArray(found) ? found : [found]).map(urlIn);
  const known = urls.filter((url) => url !== null);
  if (known.length === 0 || known.length < urls.length)
    return noFiles(output, path === "" ? "its output" : `${path} of its output`);
  return { state: "completed", tracks: known.map(trackOf) };
}

/** What a webhook reports; null where the queue must be polled. */
export function reportIn(body: unknown, work: Work): Completed | ProviderFailure | null {
  const { request_id: requestId, status, payload } = asObject(body);
  if (requestId !== work.requestId) return null;
  if (status === "OK") {
    const completed = completedOf(payload, work);
    // A payload that could not be written is missing here, and is in the result.
    return ProviderFailure.is(completed) ? null : completed;
  }
  // Whether other errors are final, and what they cost, stands in the result's status.
  if (status !== "ERROR" || !errorTypesIn(payload).includes(REJECTED)) return null;
  return new ProviderFailure("content_rejected", JSON.stringify(payload).slice(0, 300), { providerCode: REJECTED });
}

/** What is left of the account's balance. */
export function probeOf(billing: unknown): ProbeResult {
  const { current_balance: amount, currency } = asObject(asObject(billing)["credits"]);
  if (typeof amount !== "number" || !Number.isFinite(amount))
    return { credit: null, warnings: ["The account's billing response has no balance."] };
  const unit = typeof currency === "string" && currency !== "" ? currency.toUpperCase() : "USD";
  return { credit: { amount: Math.max(0, amount), unit }, warnings: amount > 0 ? [] : ["No balance is left."] };
}

/** Every member that is a file is a stem of its name. */
function stemsOf(output: unknown): Completed | ProviderFailure {
  const stems = Object.entries(asObject(output)).flatMap(([name, value]) => {
    const url = urlIn(value);
    return url === null ? [] : [assetOf("stem", stemLabel(name), url)];
  });
  return stems.length === 0 ? noFiles(output, "its output") : { state: "completed", tracks: [], stems };
}

function noFiles(output: unknown, where: string): ProviderFailure {
  const message = JSON.stringify(output)?.slice(0, 200) ?? "nothing";
  return new ProviderFailure("failed", `It succeeded, and ${where} has no file: ${message}`, { billable: "yes" });
}

function trackOf(url: string): ProviderTrack {
  return { title: null, bpm: null, tags: NO_TAGS, assets: [assetOf("mix", "full", url)] };
}

function assetOf(role: "mix" | "stem", label: string, url: string): ProviderAsset {
  return { role, label, contentType: null, durationSeconds: null, source: { kind: "url", url } };
}

/** Of a file object, or the URL itself. */
function urlIn(value: unknown): string | null {
  const url = typeof value === "string" ? value : asObject(value)["url"];
  return isLink(url) ? url : null;
}

function at(value: unknown, path: string): unknown {
  if (path === "") return value;
  return path.split(".").reduce<unknown>((found, step) => {
    if (typeof found !== "object" || found === null || !Object.hasOwn(found, step)) return undefined;
    return (found as JsonObject)[step];
  }, value);
}

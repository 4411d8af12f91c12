import { asObject, isLink, providerFailure } from "../sdk/index.js";
import type { ApiCall, ApiResponse, JsonObject, ProviderApi, ProviderFailure } from "../sdk/index.js";
import type { Host } from "./settings.js";

/** Songs and instrumentals have separate status routes. */
export type Kind = "song" | "instrumental";

/** Where a split can be fetched. */
export interface Zip {
  readonly url: string;
  /** Milliseconds since 1970; null when it is not reported. */
  readonly expiresAt: number | null;
}

/** The account; null for what it does not report. */
export interface Billing {
  readonly balanceCents: number | null;
  /** How many requests it works on at once; one more is refused with 429. */
  readonly concurrentRequestLimit: number | null;
}

export class MurekaClient {
  private readonly api: ProviderApi;
  private readonly stemTimeoutMs: number;

  constructor({ settings, api }: Host) {
    this.api = api({ classify });
    this.stemTimeoutMs = settings.stemTimeoutMs;
  }

  /** Starts billed work. @returns its task id */
  async generate(path: string, json: JsonObject, signal: AbortSignal): Promise<string> {
    const response = await this.api.call({ path, json, creates: true, signal });
    const { id } = asObject(response.json());
    if (typeof id !== "string" || id === "")
      throw providerFailure("outcome_unknown", response, { message: "The response has no task." });
    return id;
  }

  /** Uploads a file; nothing is billed. @returns its id, for calls of this purpose */
  async upload(file: Blob, filename: string, purpose: string, signal: AbortSignal): Promise<string> {
    const body = new FormData();
    body.append("purpose", purpose);
    body.append("file", file, filename);
    const response = await this.api.call({ path: "/v1/files/upload", body, signal });
    const { id } = asObject(response.json());
    if (typeof id !== "string" || id === "")
      throw providerFailure("unavailable", response, { message: "The response has no id of the upload." });
    return id;
  }

  async query(kind: Kind, taskId: string, signal: AbortSignal): Promise<JsonObject> {
    const response = await this.api.call({
      path: `/v1/${kind}/query/${encodeURIComponent(taskId)}`,
      isStatusCall: true,
      signal,
    });
    const task = asObject(response.json());
    if (typeof task["status"] !== "string")
      throw providerFailure("unavailable", response, { message: "The response has no status of the task." });
    return task;
  }

  /** Splits a track during the call. */
  async stem(json: JsonObject, signal: AbortSignal): Promise<Zip> {
    const response = await this.api.call({
      path: "/v1/song/stem",
      json,
      creates: true,
      timeoutMs: this.stemTimeoutMs,
      signal,
    });
    const { zip_url: url, expires_at: expiresAt } = asObject(response.json());
    if (!isLink(url)) throw providerFailure("outcome_unknown", response, { message: "The response has no ZIP." });
    return { url, expiresAt: typeof expiresAt === "number" ? expiresAt * 1_000 : null };
  }

  async billing(signal: AbortSignal): Promise<Billing> {
    const response = await this.api.call({ path: "/v1/account/billing", signal });
    const { balance, concurrent_request_limit: limit } = asObject(response.json());
    return {
      balanceCents: typeof balance === "number" && Number.isFinite(balance) ? balance : null,
      concurrentRequestLimit: typeof limit === "number" && Number.isSafeInteger(limit) && limit > 0 ? limit : null,
    };
  }
}

/** 429 has two opposite meanings; only its text distinguishes them. */
const NO_CREDIT = /quota|billing|credit/i;

function classify(response: ApiResponse, call: ApiCall): ProviderFailure | undefined {
  // The text of the request did not pass Mureka's review.
  if (response.status === 451 && call.isStatusCall !== true)
    return providerFailure("content_rejected", response, message(response));
  if (response.status !== 429) return undefined;
  return providerFailure(
    NO_CREDIT.test(message(response).message) ? "out_of_credit" : "rate_limited",
    response,
    message(response),
  );
}

/** The place of an error's text is not documented; clients read these places. */
function message(response: ApiResponse): { readonly message: string } {
  const { error, message } = asObject(response.json());
  const words = [asObject(error)["message"], message, response.text()].find(
    (text) => typeof text === "string" && text !== "",
  );
  return { message: typeof words === "string" ? words.slice(0, 300) : "" };
}

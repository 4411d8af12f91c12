import { asObject, failureOf, providerFailure } from "../sdk/index.js";
import type { ApiResponse, ApiCall, JsonObject, ProviderApi, ProviderFailure } from "../sdk/index.js";
import type { Host } from "./settings.js";

/** Of the account's limits. */
export const LIMITS_TIMEOUT_MS = 30_000;

/** The API of loudly.com: songs from a prompt, and the remaining limits of the account. */
export class LoudlyClient {
  private readonly api: ProviderApi;

  constructor({ settings, api }: Host) {
    this.api = api({ headers: { "api-key": settings.apiKey }, classify });
  }

  /** Creates a song, which is billed. */
  async song(form: FormData, signal: AbortSignal): Promise<JsonObject> {
    const response = await this.api.call({ path: "/b2b/ai/prompt/songs", body: form, creates: true, signal });
    const song = asObject(response.json());
    if (song["id"] === undefined && song["music_file_path"] === undefined)
      throw providerFailure("outcome_unknown", response, { message: "The response has no song." });
    return song;
  }

  /** Limits of the account, one for each type of request. */
  async limits(signal: AbortSignal): Promise<readonly JsonObject[]> {
    const response = await this.api.call({ path: "/b2b/account/limits", signal, timeoutMs: LIMITS_TIMEOUT_MS });
    const limits = response.json();
    if (!Array.isArray(limits))
      throw providerFailure("unavailable", response, { message: "The response has no list of limits." });
    return limits.map(asObject);
  }
}

/** Errors are `{ error, error_description }`; a 500 may mean too many requests, which only its text says. */
function classify(response: ApiResponse, call: ApiCall): ProviderFailure | null {
  const usual = failureOf(response, call);
  if (usual === null) return null;
  const { error, error_description: description } = asObject(response.json());
  const detail = [error, description].filter((text): text is string => typeof text === "string" && text !== "");
  const message = detail.join(": ").slice(0, 300);
  const kind =
    response.status === 500 && /rate[ _-]?limit|too many requests/i.test(message) ? "rate_limited" : usual.kind;
  return providerFailure(kind, response, message === "" ? {} : { message });
}

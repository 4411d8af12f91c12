import { asObject, failureOf, isLink, ProviderFailure, providerFailure } from "../sdk/index.js";
import type { ApiResponse, ApiCall, JsonObject, ProviderApi, SourceAudio } from "../sdk/index.js";
import type { Host } from "./settings.js";

/** The calls of the jobs API. */
export class MusicAiClient {
  private readonly api: ProviderApi;

  constructor(private readonly host: Host) {
    // The bare key: no scheme before it.
    this.api = host.api({ headers: { authorization: host.settings.apiKey.trim() }, classify });
  }

  /** Puts a track into their temporary storage; nothing is billed. @returns the URL to name as a job's input */
  async upload(source: SourceAudio, signal: AbortSignal): Promise<string> {
    const response = await this.api.call({ path: "/upload", signal });
    const { uploadUrl, downloadUrl } = asObject(response.json());
    if (!isLink(uploadUrl) || !isLink(downloadUrl))
      throw providerFailure("unavailable", response, { message: "The response has no URLs for an upload." });
    const { origin } = new URL(uploadUrl);
    // The URL is signed and of another host: the key is not sent, and errors quote no part of the response.
    const classifyUpload = ({ status }: ApiResponse): ProviderFailure | null =>
      status >= 200 && status < 300
        ? null
        : new ProviderFailure("unavailable", `The upload returned ${status}.`, { billable: "no" });
    const timeoutMs = this.host.settings.uploadTimeoutMs;
    const storage = this.host.api({ baseUrl: origin, timeoutMs, classify: classifyUpload });
    await storage.call({
      method: "PUT",
      path: uploadUrl,
      body: ReadableStream.from<Uint8Array>(source.open()),
      headers: { "content-length": String(source.sizeBytes) },
      signal,
    });
    return downloadUrl;
  }

  create(json: JsonObject, signal: AbortSignal): Promise<ApiResponse> {
    return this.api.call({ path: "/job", json, creates: true, signal });
  }

  job(id: string, signal: AbortSignal): Promise<ApiResponse> {
    return this.api.call({ path: `/job/${encodeURIComponent(id)}`, isStatusCall: true, signal });
  }

  /** @param page counts from 0 */
  jobs(page: number, size: number, signal: AbortSignal): Promise<ApiResponse> {
    return this.api.call({ path: `/job?page=${page}&size=${size}`, isStatusCall: true, signal });
  }

  application(signal: AbortSignal): Promise<ApiResponse> {
    return this.api.call({ path: "/application", signal });
  }
}

/** Statuses have their usual meaning; a body adds its code and its text. */
function classify(response: ApiResponse, call: ApiCall): ProviderFailure | null {
  const usual = failureOf(response, call);
  if (usual === null) return null;
  const { code, title, message } = asObject(response.json());
  const words = [title, message].filter((word) => typeof word === "string" && word !== "").join(": ");
  return providerFailure(usual.kind, response, {
    ...(words === "" ? {} : { message: words.slice(0, 300) }),
    ...(typeof code === "string" ? { code } : {}),
  });
}

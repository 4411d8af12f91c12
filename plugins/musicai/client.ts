import { bagOf, failureOf, isLink, ProviderApi, ProviderFailure, providerFailure } from "../../core/ports/music-provider.js";
import type { ApiAnswer, ApiCall, Bag, ProviderHost, SourceAudio } from "../../core/ports/music-provider.js";
import type { Config } from "./settings.js";

/** The calls of the jobs API. */
export class MusicAiClient {
  private readonly api: ProviderApi;
  private readonly fetch: typeof fetch;

  constructor(
    private readonly config: Config,
    host: ProviderHost,
  ) {
    const { baseUrl, apiKey, timeoutMs } = config;
    this.fetch = host.fetch;
    // The bare key: no scheme before it.
    this.api = new ProviderApi({ fetch: host.fetch, baseUrl, timeoutMs, headers: { authorization: apiKey }, judge });
  }

  /** Puts a track into their temporary storage; nothing is billed. @returns the URL to name as a job's input */
  async upload(source: SourceAudio, signal: AbortSignal): Promise<string> {
    const answer = await this.api.call({ path: "/upload", signal });
    const { uploadUrl, downloadUrl } = bagOf(answer.json());
    if (!isLink(uploadUrl) || !isLink(downloadUrl))
      throw providerFailure("unavailable", answer, { message: "It answered no URLs for an upload." });
    const { origin } = new URL(uploadUrl);
    // Signed by itself, at another host: the key stays at home, and nothing of its answer gets into an error.
    const judgeUpload = ({ status }: ApiAnswer): ProviderFailure | null =>
      status >= 200 && status < 300 ? null : new ProviderFailure("unavailable", `The upload was answered ${status}.`, { billable: "no" });
    const storage = new ProviderApi({ fetch: this.fetch, baseUrl: origin, timeoutMs: this.config.uploadTimeoutMs, judge: judgeUpload });
    await storage.call({
      method: "PUT",
      path: uploadUrl,
      body: ReadableStream.from<Uint8Array>(source.open()),
      headers: { "content-length": String(source.sizeBytes) },
      signal,
    });
    return downloadUrl;
  }

  create(json: Bag, signal: AbortSignal): Promise<ApiAnswer> {
    return this.api.call({ path: "/job", json, creates: true, signal });
  }

  job(id: string, signal: AbortSignal): Promise<ApiAnswer> {
    return this.api.call({ path: `/job/${encodeURIComponent(id)}`, asksAfter: true, signal });
  }

  /** @param page counts from 0 */
  jobs(page: number, size: number, signal: AbortSignal): Promise<ApiAnswer> {
    return this.api.call({ path: `/job?page=${page}&size=${size}`, asksAfter: true, signal });
  }

  application(signal: AbortSignal): Promise<ApiAnswer> {
    return this.api.call({ path: "/application", signal });
  }
}

/** Statuses mean what they usually mean; a body adds its code and its words. */
function judge(answer: ApiAnswer, call: ApiCall): ProviderFailure | null {
  const usual = failureOf(answer, call);
  if (usual === null) return null;
  const { code, title, message } = bagOf(answer.json());
  const words = [title, message].filter((word) => typeof word === "string" && word !== "").join(": ");
  return providerFailure(usual.kind, answer, {
    ...(words === "" ? {} : { message: words.slice(0, 300) }),
    ...(typeof code === "string" ? { code } : {}),
  });
}

import { asObject, failureOf, ProviderFailure, providerFailure, retryAfterMs, streamedForm } from "../sdk/index.js";
import type { ApiCall, ApiResponse, JsonObject, ProviderApi, ProviderFailureKind, SourceAudio } from "../sdk/index.js";
import { isSongId } from "./references.js";
import type { Host } from "./settings.js";

/** Six stems of ten minutes at 320 kbit/s, and some reserve. */
const ARCHIVE_MAX_BYTES = 512 * 1024 * 1024;

/** The failure kinds of the API's error codes; one status has several codes. */
const KINDS: Readonly<Record<string, ProviderFailureKind>> = {
  invalid_api_key: "misconfigured",
  missing_api_key: "misconfigured",
  "only_for_creator+": "misconfigured",
  subscription_required: "misconfigured",
  insufficient_permissions: "misconfigured",
  missing_permissions: "misconfigured",
  quota_exceeded: "out_of_credit",
  payment_required: "out_of_credit",
  bad_prompt: "content_rejected",
  bad_composition_plan: "content_rejected",
  invalid_parameters: "invalid_input",
  validation_error: "invalid_input",
  rate_limit_exceeded: "rate_limited",
  concurrent_limit_exceeded: "rate_limited",
  too_many_concurrent_requests: "rate_limited",
  system_busy: "unavailable",
  service_unavailable: "unavailable",
};

/** The calls of the music API; each returns the response, which `map.ts` reads. */
export class ElevenLabsClient {
  private readonly api: ProviderApi;
  private readonly trackApi: ProviderApi;
  private readonly format: string;
  private readonly stemFormat: string | null;

  constructor({ settings, api }: Host) {
    this.format = settings.outputFormat;
    this.stemFormat = stemFormatOf(this.format);
    const headers = { "xi-api-key": settings.apiKey };
    this.api = api({ headers, classify });
    this.trackApi = api({ headers, classify: classifyFromTrack });
  }

  /** A plan of the track; creates no music and no cost. */
  plan(json: JsonObject, signal: AbortSignal): Promise<ApiResponse> {
    return this.api.call({ path: "/v1/music/plan", json, signal });
  }

  compose(json: JsonObject, signal: AbortSignal): Promise<ApiResponse> {
    return this.api.call(this.composition(json, signal));
  }

  /** The same with parts of a track in its plan. */
  composeFromTrack(json: JsonObject, signal: AbortSignal): Promise<ApiResponse> {
    return this.trackApi.call(this.composition(json, signal));
  }

  /** Uploads a track, which is billed like a generation. @returns its song id */
  async upload(source: SourceAudio, signal: AbortSignal): Promise<string> {
    const form = streamedForm(source, { name: "track" });
    const response = await this.trackApi.call({ path: "/v1/music/upload", ...form, creates: true, signal });
    const { song_id: songId } = asObject(response.json());
    if (!isSongId(songId))
      throw providerFailure("outcome_unknown", response, { message: "The response has no song id." });
    return songId;
  }

  private composition(json: JsonObject, signal: AbortSignal): ApiCall {
    const path = `/v1/music/detailed?output_format=${encodeURIComponent(this.format)}`;
    const headers = { accept: "multipart/mixed, application/json" };
    return { path, json: withWordTimes(json), headers, creates: true, signal };
  }

  /** The remaining credits of the account's plan. */
  subscription(signal: AbortSignal): Promise<ApiResponse> {
    return this.api.call({ path: "/v1/user/subscription", signal });
  }

  separate(body: FormData, signal: AbortSignal): Promise<ApiResponse> {
    const query = this.stemFormat === null ? "" : `?output_format=${encodeURIComponent(this.stemFormat)}`;
    const path = `/v1/music/stem-separation${query}`;
    const headers = { accept: "application/zip, application/json" };
    return this.api.call({ path, body, headers, creates: true, maxBytes: ARCHIVE_MAX_BYTES, signal });
  }
}

/** Stems come at 44.1 kHz at most; null leaves the choice to ElevenLabs. */
function stemFormatOf(format: string): string | null {
  if (format === "auto") return null;
  const [, kbits] = /^mp3_48000_(\d+)$/.exec(format) ?? [];
  return kbits === undefined ? format : `mp3_44100_${Math.min(192, Number(kbits))}`;
}

function classify(response: ApiResponse, call: ApiCall): ProviderFailure | null {
  const usual = failureOf(response, call);
  if (usual === null) return null;
  const { code, message, requestId, suggestion } = detailIn(response.json());
  // Every call here belongs to a submission: a 404 never means work that is gone.
  const byStatus = usual.kind === "gone" ? "misconfigured" : usual.kind;
  const kind = (code !== undefined && Object.hasOwn(KINDS, code) ? KINDS[code] : undefined) ?? byStatus;
  const detail = message === undefined ? usual.message : `${response.status}: ${message}`;
  return new ProviderFailure(kind, suggestion === undefined ? detail : `${detail} It suggests: ${suggestion}`, {
    retryAfterMs: retryAfterMs(response.headers),
    billable: kind === "outcome_unknown" || kind === "failed" ? "unknown" : "no",
    providerCode: code,
    requestId: requestId ?? usual.requestId ?? undefined,
  });
}

/** Working from a track needs a right of its own: without it the key still works for other music. */
function classifyFromTrack(response: ApiResponse, call: ApiCall): ProviderFailure | null {
  const failure = classify(response, call);
  const isAboutKey = response.status === 401 && failure?.providerCode !== "missing_permissions";
  if (failure?.kind !== "misconfigured" || isAboutKey) return failure;
  return new ProviderFailure("failed", `This account may not work from a track. ${failure.message}`, {
    billable: "no",
    providerCode: failure.providerCode ?? "forbidden",
    requestId: failure.requestId ?? undefined,
  });
}

interface Detail {
  readonly code: string | undefined;
  readonly message: string | undefined;
  readonly requestId: string | undefined;
  /** The suggestion in place of a refused prompt or plan. */
  readonly suggestion: string | undefined;
}

/** Reads all three shapes: the current envelope, the old one (`status` and `message`), and the framework's list. */
function detailIn(body: unknown): Detail {
  const { detail } = asObject(body);
  if (Array.isArray(detail)) {
    const lines = detail
      .map(asObject)
      .map(({ loc, msg }) => `${Array.isArray(loc) ? loc.join(".") : ""}: ${String(msg)}`);
    return { code: undefined, message: lines.join("; ").slice(0, 300), requestId: undefined, suggestion: undefined };
  }
  const { code, status, message, request_id: requestId, data } = asObject(detail);
  // Clients have seen it in all three places.
  const suggestions = [data, detail, body]
    .map(asObject)
    .map((object) => object["prompt_suggestion"] ?? object["composition_plan_suggestion"]);
  const suggestion = suggestions.find((value) => value !== undefined && value !== null);
  return {
    code: textOf(code) ?? textOf(status),
    message: textOf(message)?.slice(0, 300),
    requestId: textOf(requestId),
    suggestion: suggestion === undefined ? undefined : JSON.stringify(suggestion).slice(0, 500),
  };
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** Requests the times of words, except for music without voices, which has none. */
function withWordTimes(body: JsonObject): JsonObject {
  return body["force_instrumental"] === true ? body : { ...body, with_timestamps: true };
}

import type { Job, Track } from "./schemas.js";
import { FermataError, type CallToolResult, type ResourceLink } from "./sdk.js";

/** Members of `_meta` that are Fermata's. */
export const META = {
  /** Of a tool: which credits a call takes. */
  cost: "fermata/cost",
  /** Of an error: `{ code, request_id?, details?, retry_after_seconds? }`. */
  error: "fermata/error",
  /** Of a call that charges: the key under which a retry counts once. */
  idempotencyKey: "fermata/idempotency-key",
} as const;

/** A short text for the model, and the same as data. */
export function success(
  text: string,
  structuredContent: Readonly<Record<string, unknown>>,
  links: readonly ResourceLink[] = [],
): CallToolResult {
  return { content: [{ type: "text", text }, ...links], structuredContent };
}

export interface ToolError {
  readonly code: string;
  readonly message: string;
  readonly request_id?: string;
  readonly details?: object;
  readonly retry_after_seconds?: number;
}

export function failure(error: ToolError): CallToolResult {
  const { code, message, details, retry_after_seconds: after } = error;
  const lines = [
    `${code}: ${message}`,
    ...(details === undefined ? [] : [`Details: ${JSON.stringify(details)}`]),
    ...(after === undefined ? [] : [`Try again in ${after} seconds.`]),
  ];
  return { content: [{ type: "text", text: lines.join("\n") }], isError: true, _meta: { [META.error]: error } };
}

/** What a caller sees of `error`: the API's own words, and nothing of a fault in here. */
export function toToolError(error: unknown): ToolError {
  if (!(error instanceof FermataError)) {
    return { code: "internal_error", message: "The call could not be completed." };
  }
  const { code, message, requestId, details } = error;
  const { retry_after_seconds: after } = details;
  return {
    code,
    message,
    ...(requestId === null ? {} : { request_id: requestId }),
    ...(Object.keys(details).length === 0 ? {} : { details }),
    ...(typeof after === "number" ? { retry_after_seconds: after } : {}),
  };
}

export const trackUri = (id: string): string => `fermata://tracks/${encodeURIComponent(id)}`;

/** A track, and its audio. */
export function trackLinks(tracks: readonly Track[]): ResourceLink[] {
  return tracks.flatMap(({ id, title, play_url: audio }): ResourceLink[] => [
    { type: "resource_link", uri: trackUri(id), name: id, title, mimeType: "application/json" },
    ...(audio === null
      ? []
      : [{ type: "resource_link" as const, uri: audio, name: `${id}-audio`, title: `${title} (audio)` }]),
  ]);
}

export function outputLinks({ outputs }: Job): ResourceLink[] {
  return outputs.map(({ url, label, content_type: mimeType, track_id: track }) => ({
    type: "resource_link",
    uri: url,
    name: track === null ? label : `${track}-${label}`,
    title: label,
    mimeType,
  }));
}

/** One line: title, id, length. */
export function trackLine({ id, title, duration, play_url: url }: Track): string {
  const length = duration === null ? "" : `, ${Math.round(duration)} s`;
  return `- ${title} (${id}${length})${url === null ? "" : `: ${url}`}`;
}

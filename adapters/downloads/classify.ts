import type { ProviderFailure } from "../../core/ports/music-provider.js";
import { type DownloadResponse, failure } from "./response.js";
import { retryAfterMs } from "./retry-after.js";

/** Bytes read at most of a response that is not a file. */
const REFUSAL_BYTES_MAX = 16 * 1024;

const AGAIN: ReadonlySet<number> = new Set([408, 425, 429]);

/** The errors of object stores for an expired link, mostly with 403: S3 and its kin, Google, Azure. */
const EXPIRED = /has expired|ExpiredToken|Signature not valid in the specified time frame/i;

/** Media types that are never a file: web pages, API responses. For other types the first bytes decide. */
const NO_FILE = /^(?:text\/html|application\/xhtml\+xml|application\/(?:[\w.-]+\+)?json)\b/i;

/** Why a response is not the requested file, whose body is then closed; null when it may be the file. */
export async function classify(
  response: DownloadResponse,
  expected: 200 | 206,
  linkIsOver: boolean,
): Promise<ProviderFailure | null> {
  const { status, headers, url } = response;
  const type = headers.get("content-type") ?? "";
  if (status === expected && !NO_FILE.test(type)) return null;
  const said = status === 400 || status === 401 || status === 403 ? await beginning(response) : "";
  response.body.destroy();
  if (status === expected) return failure("failed", url, `it is ${type.split(";")[0]?.trim() ?? type}, not a file`);
  const words = `the server returned ${status}`;
  if (status === 404 || status === 410) return failure("gone", url, words);
  if (EXPIRED.test(said) || (linkIsOver && (status === 401 || status === 403)))
    return failure("gone", url, `the link has expired (${status})`);
  if (status >= 500 || AGAIN.has(status))
    return failure("unavailable", url, words, { retryAfterMs: retryAfterMs(headers) });
  return failure("failed", url, words);
}

/** As much of it as arrives: an interrupted refusal is still a refusal. */
async function beginning({ body }: DownloadResponse): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      length += chunk.length;
      if (length >= REFUSAL_BYTES_MAX) break;
    }
  } catch {
    // The status says enough.
  }
  return Buffer.concat(chunks).toString("latin1");
}

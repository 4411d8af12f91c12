import type { Readable } from "node:stream";
import { ProviderFailure, type ProviderFailureKind } from "../../core/ports/music-provider.js";

const PATH_LENGTH_MAX = 200;

/** A server's response. Its owner reads or destroys the body. */
export interface DownloadResponse {
  /** Where the redirects led. */
  readonly url: URL;
  readonly status: number;
  readonly headers: Headers;
  readonly body: Readable;
}

/** A failed download, by host and path: what follows them may be a signature. */
export function failure(
  kind: ProviderFailureKind,
  { host, pathname }: URL,
  words: string,
  options: { readonly retryAfterMs?: number | undefined; readonly cause?: unknown } = {},
): ProviderFailure {
  return new ProviderFailure(
    kind,
    `The download of ${host}${pathname.slice(0, PATH_LENGTH_MAX)} failed: ${words}.`,
    options,
  );
}

import type { AssetContentType, AssetSource } from "./music-provider.js";

export interface OpenedAsset {
  /** The type by its first bytes; the provider's type is ignored. */
  readonly contentType: AssetContentType;
  /** Read once, to its end or closed early. Throws as {@link AssetOpener.open} does. */
  readonly bytes: AsyncIterable<Uint8Array>;
}

export interface OpenOptions {
  /** Of the asset itself; a ZIP around it may be four times as large. */
  readonly maxBytes: number;
  /** Whose asset it is: origins that the operator wrote into this provider's settings may be plain http and private. */
  readonly providerId?: string;
  readonly signal: AbortSignal;
}

/**
 * Opens a provider's file, wherever it is stored: in memory, in a stream, in text, behind a URL, in a ZIP. URLs fall
 * under the address policy of webhooks. Replaced through the override
 * `assetOpener` of `compose`.
 */
export interface AssetOpener {
  /**
   * @throws {ProviderFailure} `failed`: it is no audio or image that may be stored, too large, or its address is
   *   blocked; `gone`: it no longer exists; `unavailable`: it could not be fetched now. An interrupted download resumes
   *   where the server supports it
   */
  open(source: AssetSource, options: OpenOptions): Promise<OpenedAsset>;
  /** Aborts running downloads. */
  close(): Promise<void>;
}

import type { AssetOpener } from "../ports/asset-opener.js";
import { type AudioStore, AudioTooLargeError } from "../ports/audio-store.js";
import { fileEndingOf, ProviderFailure, type ProviderAsset } from "../ports/music-provider.js";
import type { Tracer } from "../ports/tracer.js";
import type { TrackAsset } from "../library/track.js";
import { traced } from "../tracing/traced.js";
import { sourceIssue } from "./result-issues.js";

export interface StoreAssetDeps {
  readonly audio: AudioStore;
  readonly opener: AssetOpener;
  readonly maxBytes: number;
  readonly tracer: Tracer | null;
}

/** Copies single files of a provider into the AudioStore. */
export class StoreAsset {
  constructor(private readonly deps: StoreAssetDeps) {}

  /**
   * @param providerId the provider of the asset
   * @param keyPrefix where it is stored, without the file's own name and ending
   * @throws {ProviderFailure} as {@link AssetOpener} does; `failed` when a sound came for a picture, or the other way
   * round
   */
  store(keyPrefix: string, providerId: string, asset: ProviderAsset, signal: AbortSignal): Promise<TrackAsset> {
    const attributes = { "fermata.provider": providerId, "fermata.asset.role": asset.role };
    return traced(
      this.deps.tracer,
      () => ({ name: "fetch file", kind: "client", attributes }),
      async (span) => {
        const stored = await this.copy(keyPrefix, providerId, asset, signal);
        span?.set({ "fermata.asset.bytes": stored.sizeBytes, "fermata.asset.type": stored.contentType });
        return stored;
      },
    );
  }

  private async copy(
    keyPrefix: string,
    providerId: string,
    asset: ProviderAsset,
    signal: AbortSignal,
  ): Promise<TrackAsset> {
    const issue = sourceIssue(asset.source);
    if (issue !== null) throw new ProviderFailure("failed", `The plugin returned a wrong source: ${issue}.`);
    const { contentType, bytes } = await this.deps.opener.open(asset.source, {
      maxBytes: this.deps.maxBytes,
      providerId,
      signal,
    });
    if ((asset.role === "cover") !== contentType.startsWith("image/")) {
      await close(bytes);
      const allowed = asset.role === "cover" ? "an image" : "audio";
      throw new ProviderFailure("failed", `It is ${contentType}; allowed: ${allowed}.`);
    }
    const label = asset.label.replace(/[^a-z0-9]+/g, "-");
    const name = label === "full" ? asset.role : `${asset.role}-${label}`;
    const audioKey = `${keyPrefix}-${name}.${fileEndingOf(contentType)}`;
    const stored = await this.put(audioKey, bytes);
    return {
      role: asset.role,
      label: asset.label,
      audioKey,
      contentType,
      sizeBytes: stored.sizeBytes,
      durationSeconds: asset.durationSeconds,
    };
  }

  private async put(audioKey: string, bytes: AsyncIterable<Uint8Array>): ReturnType<AudioStore["put"]> {
    try {
      return await this.deps.audio.put(audioKey, bytes, this.deps.maxBytes);
    } catch (error) {
      // A store that failed before its first read has left it open, and with it a connection to the provider.
      await close(bytes);
      if (!(error instanceof AudioTooLargeError)) throw error;
      throw new ProviderFailure("failed", error.message, { cause: error });
    }
  }
}

async function close(bytes: AsyncIterable<Uint8Array>): Promise<void> {
  await bytes[Symbol.asyncIterator]().return?.();
}

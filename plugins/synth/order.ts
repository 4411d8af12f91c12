import type { ProviderAsset, TrackTags } from "../../core/ports/music-provider.js";

/** What a render worker is asked for. Two equal orders give equal bytes. */
export interface RenderOrder {
  readonly prompt: string;
  readonly lyrics: string | null;
  readonly seconds: number;
  /** True for a sung lead, false for an instrumental. */
  readonly sung: boolean;
  readonly keepStems: boolean;
}

/** A finished file, small enough to be moved between threads in one piece. */
export interface RenderedAsset extends Pick<ProviderAsset, "role" | "label" | "contentType" | "durationSeconds"> {
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/** What a render worker answers. */
export interface RenderedTrack {
  readonly title: string;
  readonly bpm: number;
  readonly tags: TrackTags;
  readonly assets: readonly RenderedAsset[];
}

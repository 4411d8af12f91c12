import type { ProviderAsset, SplitRequest, TrackTags } from "../sdk/index.js";

/** What the caller decided beyond words; all else comes from the prompt. */
export interface CompositionOptions {
  /** Another seed makes another track of the same words. */
  readonly seed?: number;
  readonly bpm?: number;
  /** Such as `F# minor`. */
  readonly key?: string;
}

/** The options among other members; of other types they count as not given. */
export function compositionOptions({
  seed,
  bpm,
  key,
}: { readonly [Name in keyof CompositionOptions]?: unknown }): CompositionOptions {
  return {
    ...(typeof seed === "number" ? { seed } : {}),
    ...(typeof bpm === "number" ? { bpm } : {}),
    ...(typeof key === "string" ? { key } : {}),
  };
}

/** What a piece is made from. Two equal ones sound the same. */
export interface CompositionSpec extends CompositionOptions {
  readonly prompt: string;
  readonly lyrics: string | null;
  readonly seconds: number;
  /** True for a sung lead, false for an instrumental. */
  readonly sung: boolean;
  /** The piece that it goes on from, and where; left out for one of its own. */
  readonly after?: { readonly composition: CompositionSpec; readonly untilSeconds: number };
}

/** What a render worker is asked for. Two equal orders give equal bytes. */
export interface RenderOrder extends CompositionSpec {
  readonly kind: "render";
  readonly keepStems: boolean;
}

/** Stems of a piece that was made here. */
export interface OwnSplitOrder extends CompositionSpec {
  readonly kind: "split-own";
  readonly operation: SplitRequest["operation"];
  /** SHA-256 of the master that must come out, as hex. */
  readonly masterDigest: string;
}

/** Stems of any other audio, which no thread of this process touches. */
export interface SplitOrder {
  readonly operation: SplitRequest["operation"];
  /** An audio file. */
  readonly bytes: Uint8Array<ArrayBuffer>;
}

export type Order = RenderOrder | OwnSplitOrder;

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
  /** SHA-256 of the master, as hex. */
  readonly masterDigest: string;
}

/** What becomes of each kind of order. */
export interface Results {
  readonly render: RenderedTrack;
  /** null where the piece sounds different by now. */
  readonly "split-own": readonly RenderedAsset[] | null;
}

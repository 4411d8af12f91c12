import type { ProviderAsset, SplitRequest, TrackTags } from "../sdk/index.js";

/** Options that override the prompt. */
export interface CompositionOptions {
  /** Another seed creates another track from the same words. */
  readonly seed?: number;
  readonly bpm?: number;
  /** Such as `F# minor`. */
  readonly key?: string;
}

/** Picks the options from an object; ignores members of other types. */
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

/** The input of the composer. Equal specs give the same sound. */
export interface CompositionSpec extends CompositionOptions {
  readonly prompt: string;
  readonly lyrics: string | null;
  readonly seconds: number;
  /** True for a sung lead, false for an instrumental. */
  readonly sung: boolean;
  /** Of the composer; absent: 1, from before it had any. */
  readonly edition?: number;
  /** The track that this one extends, and from where; absent if it extends none. */
  readonly after?: { readonly composition: CompositionSpec; readonly untilSeconds: number };
}

/** A job of a render worker. Equal specs give equal bytes. */
export interface RenderSpec extends CompositionSpec {
  readonly kind: "render";
  readonly keepMaster: boolean;
  readonly keepStems: boolean;
}

/** A split of one of synth's own tracks. */
export interface OwnSplitSpec extends CompositionSpec {
  readonly kind: "split-own";
  readonly operation: SplitRequest["operation"];
  /** SHA-256 of the master that the render must produce, as hex. */
  readonly masterDigest: string;
}

/** A split of any other audio, which runs in a child process only. */
export interface SplitSpec {
  readonly operation: SplitRequest["operation"];
  /** An audio file. */
  readonly bytes: Uint8Array<ArrayBuffer>;
}

export type JobSpec = RenderSpec | OwnSplitSpec;

/** A finished file, small enough to be transferred between threads in one message. */
export interface RenderedAsset extends Pick<ProviderAsset, "role" | "label" | "contentType" | "durationSeconds"> {
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/** The result of a render worker. */
export interface RenderedTrack {
  readonly title: string;
  readonly bpm: number;
  readonly tags: TrackTags;
  readonly assets: readonly RenderedAsset[];
  /** SHA-256 of the master as a WAV file, as hex. */
  readonly masterDigest: string;
}

/** The result of each kind of job. */
export interface Results {
  readonly render: RenderedTrack;
  /** null if the track renders to different bytes now. */
  readonly "split-own": readonly RenderedAsset[] | null;
}

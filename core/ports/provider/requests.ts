import type { AssetContentType, ProviderReference } from "./assets.js";
import type { ProviderModel } from "./definition.js";
import type { ReferenceMode } from "./references.js";
import type { OptionValues } from "./request-options.js";

interface AnyRequest {
  /** The same for every attempt of one job: pass it as the provider's idempotency key where there is one. */
  readonly jobId: string;
  /** One per attempt: pass it as client reference or metadata where the provider can be searched by it. */
  readonly attemptId: string;
  /** Counts from 1. */
  readonly attempt: number;
  /**
   * Where the provider may report to, unguessable and the same for every attempt of one job; null when it could not
   * reach us.
   */
  readonly callbackUrl: string | null;
}

/** What a generation asks of a provider. Already checked against the model's own bounds. */
export interface MusicRequest extends AnyRequest {
  readonly operation: "music";
  readonly model: ProviderModel;
  readonly prompt: string;
  readonly lyrics: string | null;
  readonly durationSeconds: number | null;
  readonly instrumental: boolean;
  /**
   * By name, only those that the model declares (`requestOptions`), each as declared; declared defaults are filled in.
   * The same for every attempt of one job at one model. Empty when there are none.
   */
  readonly options: OptionValues;
  /** The track to work from, where the model declares its mode (`references`); left out where there is none. */
  readonly reference?: MusicReference;
}

/** A track to split, or to work from. */
export interface SourceAudio {
  readonly title: string;
  readonly contentType: AssetContentType;
  readonly sizeBytes: number;
  readonly durationSeconds: number | null;
  /** The stored bytes, lossless where there is a lossless copy; may be opened again. */
  open(): AsyncIterable<Uint8Array>;
  /**
   * A signed link to the same bytes that a provider can fetch for a day; null when this installation has no public
   * address.
   */
  readonly url: string | null;
  /** The reference that this plugin's provider returned with the track; null for all other tracks. */
  readonly reference: ProviderReference | null;
}

/** The track that a generation works from. Already checked against what the model declares. */
export interface MusicReference {
  readonly mode: ReferenceMode;
  readonly source: SourceAudio;
  /** Where `extend` goes on, or `inpaint` begins, in seconds; null: at the end (`extend`), or none (`cover`). */
  readonly fromSeconds: number | null;
  /** Where `inpaint` ends; null in other modes. */
  readonly toSeconds: number | null;
  /** How much of the track is kept, 0 to 1; null: as the provider does it. */
  readonly strength: number | null;
}

/** Asks for a track's parts. Already checked against the declared {@link SplitCapability}. */
export interface SplitRequest extends AnyRequest {
  /** `vocal_removal` wants `instrumental` and `vocals`; `stem_split` any stems of the provider. */
  readonly operation: "stem_split" | "vocal_removal";
  readonly source: SourceAudio;
}

export type SubmitRequest = MusicRequest | SplitRequest;

import { type DurationBounds as Bounds, MODEL_LIMITS, type ReferenceMode } from "../../../core/ports/music-provider.js";
import type { ListedModel } from "../../../core/providers/list-models.js";
import { priceOf } from "../../../core/providers/prices.js";
import { type ModelOption, presentOptions } from "./model-option.js";

/** A generation model that can be asked for. */
export interface Model {
  /** `<provider>/<version>`; its slash is sent as `%2F` in a path. */
  id: string;
  name: string;
  provider_label: string;
  supports_lyrics: boolean;
  supports_instrumental: boolean;
  /** A generation that is not instrumental needs lyrics. */
  requires_lyrics: boolean;
  /** Seconds that `duration` of a request may be; left out where it takes none. */
  duration?: DurationBounds;
  /**
   * Longest prompt, in Unicode code points.
   * @isInt
   */
  prompt_max_length: number;
  /**
   * Longest lyrics, in Unicode code points; 0 where there are none.
   * @isInt
   */
  lyrics_max_length: number;
  /**
   * Whole credits for one generation.
   * @isInt
   */
  credit_cost: number;
  /** The least and the most that one generation can cost: without a track, and in each mode of `references`. */
  credit_bounds: CreditBounds;
  /** `unavailable`: switched off, or its provider is down just now. */
  status: "available" | "unavailable";
  /** What else a request may choose; empty when there is nothing. */
  options: ModelOption[];
  /** What it can do with a track: `reference` of a request. Empty when there is nothing. */
  references: ModelReference[];
}

/** Whole credits; both are prices themselves. */
export interface CreditBounds {
  /** @isInt */
  minimum: number;
  /** @isInt */
  maximum: number;
}

/** Both are allowed themselves. */
export interface DurationBounds {
  /** @isInt */
  minimum: number;
  /** @isInt */
  maximum: number;
}

/** A mode in which a model works from a track. */
export interface ModelReference {
  mode: "extend" | "cover" | "inpaint";
  /**
   * Whole credits for one generation in this mode.
   * @isInt
   */
  credit_cost: number;
  /** `own`: only tracks that this provider created. */
  sources: "any" | "own";
  /** Types of file; left out where all are taken. */
  content_types?: string[];
  /** @isInt */
  max_bytes?: number;
  /** @isInt */
  max_seconds?: number;
  takes_strength: boolean;
}

function presentReference(mode: ReferenceMode, model: ListedModel["model"]): ModelReference {
  const { sources, contentTypes, maxBytes, maxSeconds, ...capability } = model.references?.[mode] ?? { sources: "own" };
  return {
    mode,
    credit_cost: priceOf(model, mode),
    sources,
    ...(contentTypes === undefined ? {} : { content_types: [...contentTypes] }),
    ...(maxBytes === undefined ? {} : { max_bytes: maxBytes }),
    ...(maxSeconds === undefined ? {} : { max_seconds: maxSeconds }),
    takes_strength: capability.takesStrength === true,
  };
}

/** Whole seconds are given, so that bounds between two of them are the next within. */
function presentDuration({ minSeconds, maxSeconds }: Bounds): DurationBounds {
  return { minimum: Math.ceil(minSeconds), maximum: Math.floor(maxSeconds) };
}

export function presentModel({ model, status, modes, price }: ListedModel): Model {
  return {
    id: model.id,
    name: model.name,
    provider_label: model.providerLabel,
    supports_lyrics: model.supportsLyrics,
    supports_instrumental: model.supportsInstrumental,
    requires_lyrics: model.requiresLyrics === true,
    ...(model.duration === null ? {} : { duration: presentDuration(model.duration) }),
    prompt_max_length: Math.min(model.promptMaxLength ?? Infinity, MODEL_LIMITS.promptLength),
    lyrics_max_length: model.supportsLyrics
      ? Math.min(model.lyricsMaxLength ?? Infinity, MODEL_LIMITS.lyricsLength)
      : 0,
    credit_cost: model.creditCost,
    credit_bounds: { minimum: price.minimum, maximum: price.maximum },
    status,
    options: presentOptions(model.requestOptions),
    references: modes.map((mode) => presentReference(mode, model)),
  };
}

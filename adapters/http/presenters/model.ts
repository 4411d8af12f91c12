import type { ReferenceMode } from "../../../core/ports/music-provider.js";
import type { ListedModel } from "../../../core/providers/list-models.js";
import { type ModelOption, presentOptions } from "./model-option.js";

/** A generation model that can be asked for. */
export interface Model {
  /** `<provider>/<version>`; its slash is sent as `%2F` in a path. */
  id: string;
  name: string;
  provider_label: string;
  supports_lyrics: boolean;
  supports_instrumental: boolean;
  /**
   * Whole credits for one generation.
   * @isInt
   */
  credit_cost: number;
  /** `unavailable`: switched off, or its provider is down just now. */
  status: "available" | "unavailable";
  /** What else a request may choose; empty when there is nothing. */
  options: ModelOption[];
  /** What it can do with a track: `reference` of a request. Empty when there is nothing. */
  references: ModelReference[];
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

function presentReference(mode: ReferenceMode, { creditCost, references = {} }: ListedModel["model"]): ModelReference {
  const { sources, contentTypes, maxBytes, maxSeconds, ...capability } = references[mode] ?? { sources: "own" };
  return {
    mode,
    credit_cost: capability.creditCost ?? creditCost,
    sources,
    ...(contentTypes === undefined ? {} : { content_types: [...contentTypes] }),
    ...(maxBytes === undefined ? {} : { max_bytes: maxBytes }),
    ...(maxSeconds === undefined ? {} : { max_seconds: maxSeconds }),
    takes_strength: capability.takesStrength === true,
  };
}

export function presentModel({ model, status, modes }: ListedModel): Model {
  return {
    id: model.id,
    name: model.name,
    provider_label: model.providerLabel,
    supports_lyrics: model.supportsLyrics,
    supports_instrumental: model.supportsInstrumental,
    credit_cost: model.creditCost,
    status,
    options: presentOptions(model.requestOptions),
    references: modes.map((mode) => presentReference(mode, model)),
  };
}

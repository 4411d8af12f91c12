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
}

export function presentModel({ model, status }: ListedModel): Model {
  return {
    id: model.id,
    name: model.name,
    provider_label: model.providerLabel,
    supports_lyrics: model.supportsLyrics,
    supports_instrumental: model.supportsInstrumental,
    credit_cost: model.creditCost,
    status,
    options: presentOptions(model.requestOptions),
  };
}

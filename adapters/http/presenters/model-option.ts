import type { RequestOption, RequestOptions } from "../../../core/ports/music-provider.js";

/** What a model takes beyond prompt and lyrics, as a member of `options` of `POST /api/v1/generations`. */
export interface ModelOption {
  name: string;
  type: "integer" | "number" | "string" | "boolean";
  description: string;
  /** Of `integer` and `number`; allowed itself. */
  minimum?: number;
  /** Of `integer` and `number`; allowed itself. */
  maximum?: number;
  /**
   * Of `string`, in Unicode code points.
   * @isInt
   */
  min_length?: number;
  /**
   * Of `string`, in Unicode code points.
   * @isInt
   */
  max_length?: number;
  /** Of `string`: the only values, where there is such a list. */
  allowed?: string[];
  /** What is sent where the option is not given; left out where the provider then decides. */
  default?: string | number | boolean;
}

/** In the order of the declaration. */
export function presentOptions(options: RequestOptions = {}): ModelOption[] {
  return Object.entries(options).map(([name, option]) => ({
    name,
    type: option.type,
    description: option.description,
    ...boundsOf(option),
    ...(option.default === undefined ? {} : { default: option.default }),
  }));
}

function boundsOf(option: RequestOption): Partial<ModelOption> {
  switch (option.type) {
    case "boolean":
      return {};
    case "integer":
    case "number":
      return { minimum: option.minimum, maximum: option.maximum };
    case "string": {
      const { minLength = 0, maxLength, allowed } = option;
      return allowed === undefined
        ? { min_length: minLength, ...(maxLength === undefined ? {} : { max_length: maxLength }) }
        : { allowed: [...allowed] };
    }
  }
}

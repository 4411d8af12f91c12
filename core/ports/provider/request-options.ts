/** The value of an option, as callers give it and as plugins get it. */
export type OptionValue = string | number | boolean;

/** Options of one generation, by name. */
export type OptionValues = { readonly [name: string]: OptionValue };

/**
 * What a model takes beyond prompt, lyrics, duration and `instrumental`. Callers see the declaration in
 * `GET /api/v1/models`; the host checks requests against it.
 *
 * Bounds are included. `default` is sent with every request that does not give the option; leave it out where the
 * provider has a default of its own, and describe that one.
 */
export type RequestOption = {
  /** For callers: at most 500 characters. */
  readonly description: string;
} & (
  | {
      readonly type: "integer" | "number";
      readonly minimum: number;
      readonly maximum: number;
      readonly default?: number;
    }
  | {
      readonly type: "string";
      /** In code points; 0 by default. */
      readonly minLength?: number;
      /** In code points, at most 3,000. Needed unless `allowed` is given. */
      readonly maxLength?: number;
      /** The only values, at most 100 of at most 100 characters. */
      readonly allowed?: readonly string[];
      readonly default?: string;
    }
  | { readonly type: "boolean"; readonly default?: boolean }
);

/** The declared options of a model, by name: `^[a-z][a-z0-9_]{0,39}$`, at most 20. */
export type RequestOptions = { readonly [name: string]: RequestOption };

/**
 * The options that many providers have, with the name, type and meaning that they have in every plugin. A model
 * declares one of them as it is here, or with narrower bounds:
 * `{ ...STANDARD_OPTIONS.bpm, minimum: 60, maximum: 180 }`.
 */
export const STANDARD_OPTIONS = {
  seed: {
    type: "integer",
    minimum: 0,
    maximum: 4_294_967_295,
    description: "The same request with the same seed gives the same result, as far as the provider can.",
  },
  negative_prompt: {
    type: "string",
    maxLength: 3_000,
    description: "What the music should not be like.",
  },
  bpm: {
    type: "integer",
    minimum: 20,
    maximum: 300,
    description: "Beats per minute.",
  },
  /** A note `A` to `G`, optionally `#` or `b`, a space, then `major` or `minor`. */
  key: {
    type: "string",
    maxLength: 8,
    description: "Musical key: a note, then major or minor, such as C major, F# minor or Eb major.",
  },
  language: {
    type: "string",
    maxLength: 35,
    description: "Language of the lyrics, as a BCP 47 tag such as en or pt-BR.",
  },
  vocal_gender: {
    type: "string",
    allowed: ["female", "male"],
    description: "Voice of the singer.",
  },
  variation_strength: {
    type: "number",
    minimum: 0,
    maximum: 1,
    description: "How far the result may be from what it is based on: 0 stays close, 1 is free.",
  },
} as const satisfies RequestOptions;

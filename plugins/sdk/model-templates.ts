import type { ProviderModel, ReferenceMode } from "../../core/ports/music-provider.js";
import type { JsonObject } from "./json.js";

/** Inputs of a hosted model: its own names, each with its value. */
export type ModelInputs = JsonObject;

/**
 * `options` of a model at a provider that hosts many (fal, Replicate): which input takes which part of a request, and
 * where in its output the files are.
 */
export interface InputTemplate {
  /** Input that takes the prompt. */
  readonly prompt: string;
  /** Input that takes the lyrics; needed where the model supports them. */
  readonly lyrics?: string;
  /** Input that takes the duration; needed where the model has one. */
  readonly duration?: string;
  /** Of the duration and all other times; seconds by default. */
  readonly durationUnit?: "s" | "ms";
  /** Inputs that take the request options, by their names; each that the model declares needs one. */
  readonly inputs?: { readonly [option: string]: string };
  /** Sent with every request. */
  readonly fixed?: ModelInputs;
  /** Sent with an instrumental request, in addition. */
  readonly instrumental?: ModelInputs;
  /** Sent, in addition, with a request that is not instrumental and has no lyrics. */
  readonly wordless?: ModelInputs;
  /** Path to the files in the output, with dots between its steps (`audio`, `result.0`); left out: the whole output. */
  readonly output?: string;
  /** How the model works from a track; each mode that the model declares needs one. */
  readonly references?: { readonly [Mode in ReferenceMode]?: ReferenceTemplate };
}

/** One mode of a model. Absent members default to the model's own template, except `duration`. */
export interface ReferenceTemplate extends Partial<Omit<InputTemplate, "references">> {
  /** The upstream model of the mode; the model's own `upstream` by default. */
  readonly upstream?: string;
  /** Input that takes the track: as a link or a data URI, as the provider accepts. */
  readonly source: string;
  /**
   * Input that takes how long the added part is (`extend`), or the result (`cover`, `inpaint`). Left out: it is not
   * sent.
   */
  readonly duration?: string;
  /** Input that takes the length of an extended track, with the part that it continues. */
  readonly total?: string;
  /** Input that takes where `extend` goes on, or `inpaint` begins; without one `extend` goes on from the end alone. */
  readonly from?: string;
  /** Input that takes where `inpaint` ends. */
  readonly to?: string;
  /** True where the inputs of times take whole seconds alone. */
  readonly wholeSeconds?: boolean;
  readonly strength?: StrengthInput;
}

/** An input that takes how much of the track is kept. */
export interface StrengthInput {
  readonly input: string;
  /** Its value for strength 0, which keeps nothing of the track; 0 by default. */
  readonly none?: number;
  /** Its value for strength 1, which keeps all of the track; 1 by default. */
  readonly all?: number;
}

/** The template of a model without an issue; with a mode, that of the mode. */
export function inputTemplateOf(
  { options }: ProviderModel,
  mode: ReferenceMode | null = null,
): InputTemplate & Partial<ReferenceTemplate> {
  const template = options as unknown as InputTemplate;
  if (mode === null) return template;
  const { duration: _, ...own } = template;
  return { ...own, ...template.references?.[mode] };
}

/** The upstream models of one model: its own and those of its modes. */
export function templatesOf(model: ProviderModel): readonly { readonly upstream: string; readonly output: string }[] {
  const { output = "", references = {} } = inputTemplateOf(model);
  const own = { upstream: model.upstream ?? "", output };
  return [own, ...Object.values(references).map((mode) => ({ ...own, ...definedOf(mode) }))];
}

function definedOf({ upstream, output }: ReferenceTemplate): { upstream?: string; output?: string } {
  return { ...(upstream === undefined ? {} : { upstream }), ...(output === undefined ? {} : { output }) };
}

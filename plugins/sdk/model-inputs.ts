import {
  type MusicReference,
  type MusicRequest,
  type OptionValues,
  ProviderFailure,
  type SourceAudio,
} from "../../core/ports/music-provider.js";
import {
  type InputTemplate,
  inputTemplateOf,
  type ModelInputs,
  type ReferenceTemplate,
  type StrengthInput,
} from "./model-templates.js";

type Template = InputTemplate & Partial<ReferenceTemplate>;

/** Durations are measured and imprecise: a point this close to the end counts as the end. */
const END_TOLERANCE_SECONDS = 0.1;

/**
 * The inputs of one request, by its model's template; without a duration, the model's default is sent. With a
 * reference, all but the track itself: see {@link inputsWithTrack}.
 *
 * @throws {ProviderFailure} `invalid_input`: the template has no input for the mode or its options
 */
export function inputsOf(request: MusicRequest): ModelInputs {
  const { model, prompt, lyrics, instrumental, options, reference } = request;
  const template = inputTemplateOf(model, reference?.mode);
  const seconds = reference === undefined ? lengthOf(request) : lengthIn(reference, request);
  return {
    ...template.fixed,
    [template.prompt]: prompt,
    ...(template.duration === undefined || seconds === null
      ? {}
      : { [template.duration]: timeIn(template, seconds, Math.ceil) }),
    ...(template.lyrics === undefined || lyrics === null ? {} : { [template.lyrics]: lyrics }),
    ...(instrumental ? template.instrumental : {}),
    ...(!instrumental && lyrics === null ? template.wordless : {}),
    ...optionInputs(template, options),
    ...(reference === undefined ? {} : referenceInputs(template, reference, request)),
  };
}

/**
 * The inputs of one request with the track that it works from, where there is one.
 *
 * @param give returns the track as the provider takes it; called last, after all checks of the request
 * @throws {ProviderFailure} `invalid_input`, as {@link inputsOf}; and what `give` throws
 */
export async function inputsWithTrack(
  request: MusicRequest,
  give: (source: SourceAudio) => string | Promise<string>,
): Promise<ModelInputs> {
  const inputs = inputsOf(request);
  const { model, reference } = request;
  if (reference === undefined) return inputs;
  const { source: input } = inputTemplateOf(model, reference.mode);
  if (input === undefined) throw refused(`${model.id} has no input for a track to ${reference.mode}.`);
  if (model.references?.[reference.mode]?.needsUrl === true && reference.source.url === null)
    throw refused("The provider fetches tracks by URL, and this one has none.");
  return { ...inputs, [input]: await give(reference.source) };
}

/** Without a duration the model chooses one, and may bill for minutes. */
function lengthOf({ durationSeconds, model }: MusicRequest): number | null {
  return durationSeconds ?? model.duration?.defaultSeconds ?? null;
}

/**
 * A cover is as long as its track unless the request says otherwise, within the model's bounds; an inpainted track
 * keeps its length.
 */
function lengthIn({ mode, source }: MusicReference, request: MusicRequest): number | null {
  const { durationSeconds: requested, model } = request;
  if (mode === "inpaint") return source.durationSeconds;
  if (mode === "extend" || requested !== null || source.durationSeconds === null) return lengthOf(request);
  return Math.min(source.durationSeconds, model.duration?.maxSeconds ?? Infinity);
}

function optionInputs({ inputs = {} }: InputTemplate, options: OptionValues): ModelInputs {
  const named = Object.entries(inputs).map(([option, input]) => [input, options[option]] as const);
  return Object.fromEntries(named.filter(([, value]) => value !== undefined));
}

function referenceInputs(template: Template, reference: MusicReference, request: MusicRequest): ModelInputs {
  const { from, to, total, strength } = template;
  const { mode, fromSeconds, toSeconds, source, strength: kept } = reference;
  if (mode === "extend" && from === undefined) refuseEarlierPoint(request.model.id, reference);
  const start = fromSeconds ?? source.durationSeconds;
  const added = lengthOf(request);
  if (total !== undefined && (start === null || added === null))
    throw refused("The length of the extended track is not known: that of the track was not measured.");
  const roundStart = mode === "inpaint" ? Math.floor : Math.round;
  return {
    ...(from === undefined || fromSeconds === null ? {} : { [from]: timeIn(template, fromSeconds, roundStart) }),
    ...(to === undefined || toSeconds === null ? {} : { [to]: timeIn(template, toSeconds, Math.ceil) }),
    ...(total === undefined ? {} : { [total]: timeIn(template, (start ?? 0) + (added ?? 0), Math.ceil) }),
    ...(strength === undefined || kept === null ? {} : { [strength.input]: strengthIn(strength, kept) }),
  };
}

function refuseEarlierPoint(modelId: string, { fromSeconds, source }: MusicReference): void {
  const end = source.durationSeconds;
  if (fromSeconds === null || (end !== null && fromSeconds >= end - END_TOLERANCE_SECONDS)) return;
  throw refused(`${modelId} goes on from the end of a track alone, not from ${fromSeconds} s.`);
}

function timeIn({ durationUnit, wholeSeconds }: Template, seconds: number, round: (at: number) => number): number {
  if (durationUnit === "ms") return Math.round(seconds * 1_000);
  return wholeSeconds === true ? round(seconds) : seconds;
}

/** To four digits: 1 - 0.7 is not 0.3 in binary fractions. */
function strengthIn({ none = 0, all = 1 }: StrengthInput, kept: number): number {
  return Math.round((none + kept * (all - none)) * 10_000) / 10_000;
}

function refused(message: string): ProviderFailure {
  return new ProviderFailure("invalid_input", message, { billable: "no" });
}

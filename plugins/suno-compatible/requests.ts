import { ProviderFailure } from "../sdk/index.js";
import type { JsonObject, MusicRequest, SplitRequest } from "../sdk/index.js";
import { referencedOf } from "./references.js";

/** The lowest limit of all vendors and models. */
const TITLE_MAX_LENGTH = 80;

const GENDERS: Readonly<Record<string, string>> = { female: "f", male: "m" };

/** Of one submission. */
export interface Occasion {
  readonly dialect: string;
  readonly callBackUrl: string;
  /** Milliseconds since 1970. */
  readonly now: number;
}

/** A call that starts billed work. */
export interface Creation {
  readonly path: string;
  readonly json: JsonObject;
}

/** What starts a generation. @throws {ProviderFailure} for a request for which the vendors have no mode */
export function generationOf(request: MusicRequest, occasion: Occasion): Creation {
  const { callBackUrl } = occasion;
  if (request.instrumental && isChosen(request, "vocal_gender"))
    throw refused("An instrumental has no singer: it takes no vocal_gender.");
  if (request.reference !== undefined) {
    const { path, json } = referencedOf(request, request.reference, occasion);
    return { path, json: { ...customOf(request), ...json, callBackUrl } };
  }
  const path = "/api/v1/generate";
  if (request.lyrics === null && !request.instrumental) return { path, json: { ...simpleOf(request), callBackUrl } };
  const { model, durationSeconds } = request;
  // The vendor's default is 20 seconds.
  const timing = model.duration === null ? {} : { duration: durationSeconds ?? model.duration.defaultSeconds };
  return { path, json: { customMode: true, ...customOf(request), ...timing, callBackUrl } };
}

/** What starts a split of an own track. */
export function splitOf({ operation, source }: SplitRequest, { dialect, callBackUrl }: Occasion): Creation {
  const { reference } = source;
  if (reference === null) throw refused("It splits only tracks that it created itself, and this is not one.");
  const { taskId, audioId, dialect: madeAt } = reference;
  if (madeAt !== dialect)
    throw refused(`The track was created at ${String(madeAt)}; the setting dialect is ${dialect}.`);
  if (typeof taskId !== "string" || typeof audioId !== "string")
    throw refused("The track's reference names no task and audio.");
  const type = operation === "vocal_removal" ? "separate_vocal" : "split_stem";
  return { path: "/api/v1/vocal-removal/generate", json: { taskId, audioId, type, callBackUrl } };
}

/**
 * A song whose words the vendor writes. The mode for that takes a description alone, as `prompt` and as `style`: a
 * `prompt` alone is refused by now.
 */
function simpleOf(request: MusicRequest): JsonObject {
  const { model, prompt, durationSeconds, options } = request;
  if (durationSeconds !== null) throw refused("It takes a duration with lyrics or for an instrumental only.");
  const chosen = Object.keys(options).find((name) => isChosen(request, name));
  if (chosen !== undefined) throw refused(`It takes ${chosen} with lyrics or for an instrumental only.`);
  return { customMode: false, prompt, style: prompt, instrumental: false, model: model.upstream };
}

/** Custom mode: `prompt` is the lyrics and `style` the description. */
function customOf({ model, prompt, lyrics, instrumental, options }: MusicRequest): JsonObject {
  const { styleWeight, weirdnessConstraint } = model.options ?? {};
  const vocalGender = GENDERS[String(options["vocal_gender"])];
  return {
    ...(instrumental ? {} : { prompt: lyrics, vocalGender }),
    style: prompt,
    title: titleOf(prompt),
    negativeTags: options["negative_prompt"],
    styleWeight,
    weirdnessConstraint,
    instrumental,
    model: model.upstream,
  };
}

/** Whether the caller chose an option; an operator's default is left out where the route does not have it. */
function isChosen({ model, options }: MusicRequest, name: string): boolean {
  const declared = model.requestOptions?.[name];
  return declared !== undefined && options[name] !== undefined && options[name] !== declared.default;
}

/** The beginning of the description, cut between two words. */
function titleOf(prompt: string): string {
  const letters = [...prompt.trim().replace(/\s+/gu, " ")];
  if (letters.length <= TITLE_MAX_LENGTH) return letters.join("");
  const cut = letters.slice(0, TITLE_MAX_LENGTH + 1).join("");
  const space = cut.lastIndexOf(" ");
  return space > 0 ? cut.slice(0, space) : letters.slice(0, TITLE_MAX_LENGTH).join("");
}

function refused(why: string): ProviderFailure {
  return new ProviderFailure("invalid_input", why, { billable: "no" });
}

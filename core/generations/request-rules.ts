import { IdempotencyKeyRequiredError, InvalidRequestError, type RequestIssue } from "../errors.js";
import { MODEL_LIMITS, type OptionValues } from "../ports/music-provider.js";
import { checkReference, type GivenReference } from "./reference-rules.js";
import { optionPath, OPTIONS_MAX } from "../providers/request-options.js";

/** What a caller asks for; members that were not given are undefined. */
export interface GenerationInput {
  readonly modelId: string;
  readonly prompt: string;
  readonly lyrics?: string | undefined;
  /** Seconds. */
  readonly duration?: number | undefined;
  readonly instrumental?: boolean | undefined;
  readonly client?: string | undefined;
  readonly metadata?: { readonly [key: string]: unknown } | undefined;
  /** Those that the model declares, by name: strings, numbers, true and false. */
  readonly options?: { readonly [name: string]: unknown } | undefined;
  /** A track to work from, in a mode that the model declares. */
  readonly reference?: GivenReference | undefined;
}

export const CLIENT_MAX_LENGTH = 100;
export const METADATA_MAX_BYTES = 16 * 1024;
export const METADATA_MAX_DEPTH = 8;
export const OPTIONS_MAX_BYTES = 16 * 1024;
export const IDEMPOTENCY_KEY_MAX_LENGTH = 255;

/**
 * Checks what holds for every model. Lengths count Unicode code points.
 *
 * @throws {InvalidRequestError} `details.issues` holds every issue
 * @see API v1, section 4, "POST /api/v1/generations"; decisions, "Values, units, shapes"
 */
export function checkGenerationInput(input: GenerationInput): void {
  const issues: RequestIssue[] = [];
  checkText(issues, "prompt", input.prompt, 1, MODEL_LIMITS.promptLength);
  checkText(issues, "lyrics", input.lyrics, 0, MODEL_LIMITS.lyricsLength);
  if (input.duration !== undefined && !Number.isSafeInteger(input.duration)) {
    issues.push({ path: "body.duration", message: "must be a whole number of seconds" });
  }
  if (input.lyrics !== undefined && input.instrumental === true) {
    issues.push({ path: "body.instrumental", message: "must not be true together with lyrics" });
  }
  issues.push(...checkClientAndMetadata(input), ...checkOptionValues(input.options));
  issues.push(...checkReference(input.reference));
  if (issues.length > 0) throw new InvalidRequestError(issues);
}

/** The issues of members that are stored for the caller and never interpreted. */
export function checkClientAndMetadata(input: Pick<GenerationInput, "client" | "metadata">): RequestIssue[] {
  const issues: RequestIssue[] = [];
  checkText(issues, "client", input.client, 1, CLIENT_MAX_LENGTH);
  if (input.metadata !== undefined) {
    if (isDeeperThan(input.metadata, METADATA_MAX_DEPTH)) {
      issues.push({ path: "body.metadata", message: `must be at most ${METADATA_MAX_DEPTH} levels deep` });
    } else if (new TextEncoder().encode(JSON.stringify(input.metadata)).length > METADATA_MAX_BYTES) {
      issues.push({ path: "body.metadata", message: `must have at most ${METADATA_MAX_BYTES} bytes as JSON` });
    }
  }
  return issues;
}

/** The options of a checked request; those that are undefined are not given. */
export function givenOptions({ options = {} }: Pick<GenerationInput, "options">): OptionValues {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as OptionValues;
}

/** What holds for the options of every model; which of them a model takes is checked against the model. */
function checkOptionValues(options: GenerationInput["options"]): RequestIssue[] {
  if (options === undefined) return [];
  const path = "body.options";
  const isObject = typeof options === "object" && options !== null && !Array.isArray(options);
  if (!isObject) return [{ path, message: "must be a JSON object" }];
  const given = Object.entries(options).filter(([, value]) => value !== undefined);
  if (given.length > OPTIONS_MAX) {
    return [{ path, message: `must have at most ${OPTIONS_MAX} members; it has ${given.length}` }];
  }
  const wrong = given.filter(([, value]) => !isOptionValue(value));
  if (wrong.length > 0) {
    return wrong.map(([name]) => ({ path: optionPath(name), message: "must be a string, a number, true or false" }));
  }
  if (new TextEncoder().encode(JSON.stringify(Object.fromEntries(given))).length <= OPTIONS_MAX_BYTES) return [];
  return [{ path, message: `must have at most ${OPTIONS_MAX_BYTES} bytes as JSON` }];
}

function isOptionValue(value: unknown): boolean {
  return typeof value === "string" || typeof value === "boolean" || Number.isFinite(value);
}

const PRINTABLE_ASCII = /^[\x20-\x7e]+$/;

/**
 * Returns the key when it may be used.
 *
 * @throws {IdempotencyKeyRequiredError} absent or empty
 * @throws {InvalidRequestError} too long, or not printable ASCII
 */
export function checkIdempotencyKey(key: string | undefined): string {
  if (key === undefined || key === "") throw new IdempotencyKeyRequiredError();
  if (key.length > IDEMPOTENCY_KEY_MAX_LENGTH || !PRINTABLE_ASCII.test(key)) {
    const message = `must have 1 to ${IDEMPOTENCY_KEY_MAX_LENGTH} printable ASCII characters`;
    throw new InvalidRequestError([{ path: "header.Idempotency-Key", message }]);
  }
  return key;
}

function checkText(issues: RequestIssue[], field: string, text: string | undefined, min: number, max: number): void {
  if (text === undefined) return;
  if (!text.isWellFormed()) issues.push({ path: `body.${field}`, message: "must be well-formed Unicode" });
  const length = codePoints(text);
  if (length < min || length > max) {
    const allowed = min === 0 ? `at most ${max}` : `${min} to ${max}`;
    issues.push({ path: `body.${field}`, message: `must have ${allowed} characters; it has ${length}` });
  }
}

function codePoints(text: string): number {
  let count = 0;
  for (const _ of text) count++;
  return count;
}

/** Looks no deeper than `levels`, so that a hostile nesting costs nothing. */
function isDeeperThan(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  return levels === 0 || Object.values(value).some((member) => isDeeperThan(member, levels - 1));
}

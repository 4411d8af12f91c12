import type { RequestIssue } from "../errors.js";
import type { OptionValue, OptionValues, ProviderModel, RequestOption } from "../ports/music-provider.js";

/** Most options of a model, and of a request. */
export const OPTIONS_MAX = 20;
export const OPTION_NAME = /^[a-z][a-z0-9_]{0,39}$/;

/** Longest part of an unknown name that a message repeats. */
const SHOWN_NAME_LENGTH = 40;
/** Most allowed values in a message; `GET /api/v1/models` lists all of them. */
const SHOWN_VALUES = 20;

/** What texts of a standard name look like, in every plugin. */
const FORMATS: ReadonlyMap<string, { readonly pattern: RegExp; readonly words: string }> = new Map([
  ["key", { pattern: /^[A-G][#b]? (major|minor)$/, words: "a key such as C major, F# minor or Eb major" }],
  ["language", { pattern: /^[A-Za-z]{2,3}(-[A-Za-z0-9]{1,8})*$/, words: "a language tag such as en or pt-BR" }],
]);

/** Whether a value is one that the option takes. */
export function takesValue(name: string, option: RequestOption, value: unknown): value is OptionValue {
  switch (option.type) {
    case "boolean":
      return typeof value === "boolean";
    case "integer":
      return Number.isSafeInteger(value) && isWithin(value as number, option);
    case "number":
      return typeof value === "number" && isWithin(value, option);
    case "string":
      return typeof value === "string" && takesText(name, option, value);
  }
}

/** What the option takes, in words: `a whole number from 0 to 10`. */
export function allowedValues(name: string, option: RequestOption): string {
  switch (option.type) {
    case "boolean":
      return "true or false";
    case "integer":
      return `a whole number from ${option.minimum} to ${option.maximum}`;
    case "number":
      return `a number from ${option.minimum} to ${option.maximum}`;
    case "string": {
      const { allowed, minLength = 0, maxLength } = option;
      if (allowed !== undefined) return `one of: ${listed(allowed, SHOWN_VALUES)}`;
      const length = minLength === 0 ? `at most ${maxLength}` : `${minLength} to ${maxLength}`;
      return FORMATS.get(name)?.words ?? `a string of ${length} characters`;
    }
  }
}

/**
 * What is wrong with the options of a request for this model: names that it does not declare, values that they do not
 * take.
 */
export function optionIssues(model: Pick<ProviderModel, "id" | "requestOptions">, given: OptionValues): RequestIssue[] {
  const { id, requestOptions = {} } = model;
  const names = Object.keys(requestOptions);
  const known = names.length === 0 ? `${id} takes no options` : `allowed for ${id}: ${names.join(", ")}`;
  return Object.entries(given).flatMap(([name, value]): RequestIssue[] => {
    const option = Object.hasOwn(requestOptions, name) ? requestOptions[name] : undefined;
    if (option === undefined) return [{ path: optionPath(name), message: `is not a known option; ${known}` }];
    if (takesValue(name, option, value)) return [];
    return [{ path: optionPath(name), message: `must be ${allowedValues(name, option)} for ${id}` }];
  });
}

/** The given options with the model's defaults, in the order of the declaration. */
export function withDefaults(model: Pick<ProviderModel, "requestOptions">, given: OptionValues): OptionValues {
  const { requestOptions = {} } = model;
  return Object.fromEntries(
    Object.entries(requestOptions).flatMap(([name, option]) => {
      const value = Object.hasOwn(given, name) ? given[name] : option.default;
      return value === undefined ? [] : [[name, value] as const];
    }),
  );
}

export function optionPath(name: string): string {
  return `body.options.${name.length <= SHOWN_NAME_LENGTH ? name : `${name.slice(0, SHOWN_NAME_LENGTH)}…`}`;
}

function isWithin(
  value: number,
  { minimum, maximum }: { readonly minimum: number; readonly maximum: number },
): boolean {
  return value >= minimum && value <= maximum;
}

function takesText(name: string, option: RequestOption & { readonly type: "string" }, text: string): boolean {
  const { allowed, minLength = 0, maxLength = Infinity } = option;
  if (allowed !== undefined && !allowed.includes(text)) return false;
  const length = [...text].length;
  if (!text.isWellFormed() || length < minLength || length > maxLength) return false;
  return FORMATS.get(name)?.pattern.test(text) ?? true;
}

function listed(values: readonly string[], most: number): string {
  return values.length <= most ? values.join(", ") : `${values.slice(0, most).join(", ")}, …`;
}

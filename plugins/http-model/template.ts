import type { MusicRequest, OptionValues, ProviderModel } from "../sdk/index.js";

export type PlaceholderValue = string | number | boolean | OptionValues | null;

/** What `{{…}}` may name; in addition `{{options.NAME}}`, an option of the request or of the model. */
export const PLACEHOLDERS = [
  "prompt",
  "lyrics",
  "duration",
  "instrumental",
  "model",
  "options",
  "job_id",
  "attempt_id",
  "callback_url",
] as const;

const PLACEHOLDER = /\{\{\s*([^{}]*?)\s*\}\}/g;
const ALONE = /^\{\{\s*([^{}]*?)\s*\}\}$/;
const OPTION = /^options\.([\w-]+)$/;

/** The names of all placeholders in a text, known or not. */
export function placeholdersIn(text: string): string[] {
  return [...text.matchAll(PLACEHOLDER)].map(([, name = ""]) => name);
}

/** Names of unknown placeholders in the template of a body. */
export function unknownPlaceholders(template: object): string[] {
  const known: readonly string[] = PLACEHOLDERS;
  return placeholdersIn(JSON.stringify(template)).filter((name) => !known.includes(name) && !OPTION.test(name));
}

/**
 * The issue between a template and the options of models: a placeholder that no model has an option for, and a
 * request option that has no placeholder and would never be sent.
 */
export function optionIssues(template: object, models: readonly ProviderModel[]): string[] {
  const names = placeholdersIn(JSON.stringify(template));
  const placed = new Set(names.flatMap((name) => OPTION.exec(name)?.[1] ?? []));
  const had = new Set(models.flatMap((model) => [...Object.keys(model.options ?? {}), ...declaredBy(model)]));
  const unknown = models.length === 0 ? [] : [...placed].filter((name) => !had.has(name));
  const unsent = names.includes("options")
    ? []
    : models.flatMap((model) => declaredBy(model).flatMap((name) => (placed.has(name) ? [] : [{ model, name }])));
  return [
    ...unknown.map((name) => `no model has {{options.${name}}} in its options or requestOptions`),
    ...unsent.map(({ model, name }) => `${model.id} has requestOptions.${name}, and there is no {{options.${name}}}`),
  ];
}

function declaredBy({ requestOptions = {} }: ProviderModel): string[] {
  return Object.keys(requestOptions);
}

/** A path with its placeholders filled in, whose values become parts of a URL; slashes in a model's name stay. */
export function filledPath(
  template: string,
  { id = "", model = "" }: { readonly id?: string; readonly model?: string },
): string {
  const parts: Readonly<Record<string, string>> = {
    id: encodeURIComponent(id),
    model: model.split("/").map(encodeURIComponent).join("/"),
  };
  return template.replace(PLACEHOLDER, (_, name: string) => parts[name] ?? "");
}

/** The server's own name of a model. */
export function nameOf({ id, upstream }: ProviderModel): string {
  return upstream ?? id.slice(id.indexOf("/") + 1);
}

export function valuesOf(request: MusicRequest): Readonly<Record<string, PlaceholderValue>> {
  const { model, prompt, lyrics, durationSeconds, instrumental, jobId, attemptId, callbackUrl } = request;
  const declared = declaredBy(model);
  const chosen = Object.entries(request.options).filter(([name]) => declared.includes(name));
  const options = [...Object.entries(model.options ?? {}), ...chosen].map(
    ([name, value]) => [`options.${name}`, value as PlaceholderValue] as const,
  );
  return {
    ...Object.fromEntries(options),
    options: chosen.length === 0 ? null : Object.fromEntries(chosen),
    prompt,
    lyrics,
    duration: durationSeconds ?? model.duration?.defaultSeconds ?? null,
    instrumental,
    model: nameOf(model),
    job_id: jobId,
    attempt_id: attemptId,
    callback_url: callbackUrl,
  };
}

/**
 * A JSON value with its placeholders filled in. A text that is one placeholder becomes its value, a number a number; a
 * member or item that is one without a value is left out. Inside other text, a placeholder without a value is empty.
 */
export function filled(template: unknown, values: Readonly<Record<string, PlaceholderValue>>): unknown {
  if (typeof template === "string") {
    const [, alone] = ALONE.exec(template) ?? [];
    if (alone !== undefined) return values[alone] ?? undefined;
    return template.replace(PLACEHOLDER, (_, name: string) => textOf(values[name] ?? ""));
  }
  if (Array.isArray(template)) return template.map((item) => filled(item, values)).filter((item) => item !== undefined);
  if (typeof template !== "object" || template === null) return template;
  const members = Object.entries(template).map(([name, value]) => [name, filled(value, values)] as const);
  return Object.fromEntries(members.filter(([, value]) => value !== undefined));
}

function textOf(value: NonNullable<PlaceholderValue>): string {
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

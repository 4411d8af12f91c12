import type { MusicRequest } from "../sdk/index.js";

export type PlaceholderValue = string | number | boolean | null;

/** What `{{…}}` may name; beside these `{{options.NAME}}`, a member of the model's `options`. */
export const PLACEHOLDERS = [
  "prompt",
  "lyrics",
  "duration",
  "instrumental",
  "model",
  "job_id",
  "attempt_id",
  "callback_url",
] as const;

const PLACEHOLDER = /\{\{\s*([^{}]*?)\s*\}\}/g;
const ALONE = /^\{\{\s*([^{}]*?)\s*\}\}$/;

/** The names of all placeholders in a text, known or not. */
export function placeholdersIn(text: string): string[] {
  return [...text.matchAll(PLACEHOLDER)].map(([, name = ""]) => name);
}

/** Names in the template of a body that stand for nothing. */
export function unknownPlaceholders(template: object): string[] {
  const known: readonly string[] = PLACEHOLDERS;
  return placeholdersIn(JSON.stringify(template)).filter(
    (name) => !known.includes(name) && !/^options\.[\w-]+$/.test(name),
  );
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

export function valuesOf(request: MusicRequest): Readonly<Record<string, PlaceholderValue>> {
  const { model, prompt, lyrics, durationSeconds, instrumental, jobId, attemptId, callbackUrl } = request;
  const options = Object.entries(model.options ?? {}).map(
    ([name, value]) => [`options.${name}`, value as PlaceholderValue] as const,
  );
  return {
    ...Object.fromEntries(options),
    prompt,
    lyrics,
    duration: durationSeconds,
    instrumental,
    model: model.upstream ?? model.id.slice(model.id.indexOf("/") + 1),
    job_id: jobId,
    attempt_id: attemptId,
    callback_url: callbackUrl,
  };
}

/**
 * A JSON value with its placeholders filled in. A text that is one placeholder becomes its value, a number a number; a member or item that
 * is one without a value is left out. Inside other text, a placeholder without a value is empty.
 */
export function filled(template: unknown, values: Readonly<Record<string, PlaceholderValue>>): unknown {
  if (typeof template === "string") {
    const [, alone] = ALONE.exec(template) ?? [];
    if (alone !== undefined) return values[alone] ?? undefined;
    return template.replace(PLACEHOLDER, (_, name: string) => String(values[name] ?? ""));
  }
  if (Array.isArray(template)) return template.map((item) => filled(item, values)).filter((item) => item !== undefined);
  if (typeof template !== "object" || template === null) return template;
  const members = Object.entries(template).map(([name, value]) => [name, filled(value, values)] as const);
  return Object.fromEntries(members.filter(([, value]) => value !== undefined));
}

import type { CodeBody, CodeRequest } from "../../parts/code.js";
import { bodyOf, type Operation, successOf } from "../description/operations.js";
import type { Parameter } from "../description/document.js";

/** What the reader has entered for an operation. */
export interface Entered {
  /** Of parameters, by their name; an empty text is none. */
  readonly parameters: Readonly<Record<string, string>>;
  /** JSON as text. */
  readonly body: string;
  /** Members of a form: texts, and files. */
  readonly form: Readonly<Record<string, string | File>>;
}

const ID = /\b(?:job|trk|pls|whe|evt)_[0-9a-z]{26}\b/g;
/** Ids of the last responses, by their prefix: a job that was just created can be asked for at once. */
const seen = new Map<string, string>();

/** Remembers the ids in a response: the first of each kind. */
export function remember(text: string): void {
  const found = new Map<string, string>();
  for (const [id] of text.matchAll(ID)) {
    const prefix = id.slice(0, 4);
    if (!found.has(prefix)) found.set(prefix, id);
  }
  for (const [prefix, id] of found) seen.set(prefix, id);
}

/** What a field for a parameter begins with: required ones have an example. */
export function initialValue({ name, required = false, example }: Parameter): string {
  if (name === "Prefer") return String(example ?? "");
  if (!required) return "";
  const text = example === undefined ? "" : String(example);
  return seen.get(text.slice(0, 4)) ?? text;
}

/** Parameters that have a field; the Idempotency-Key comes by itself. */
export function fieldsOf({ parameters = [] }: Operation): readonly Parameter[] {
  return parameters.filter(({ name }) => name !== "Idempotency-Key");
}

/** The body that the form begins with. */
export function initialBody({ requestBody }: Operation): string {
  const body = bodyOf(requestBody?.content);
  return body?.type === "application/json" ? JSON.stringify(body.example ?? {}, null, 2) : "";
}

/** Whether the body is a form with files. */
export function isForm({ requestBody }: Operation): boolean {
  return bodyOf(requestBody?.content)?.type === "multipart/form-data";
}

/**
 * The request that is entered, as it is sent and as it is shown as code.
 *
 * @param base what the address begins with, without a slash at its end
 * @param key an Idempotency-Key, for operations that take one
 * @throws {SyntaxError} the body is not JSON
 */
export function requestOf(operation: Operation, entered: Entered, base: string, key: string): CodeRequest {
  const pathParameters: Record<string, string> = {};
  const query: Record<string, string | number> = {};
  const headers: Record<string, string> = {};
  for (const { name, in: place, schema } of operation.parameters ?? []) {
    const value = name === "Idempotency-Key" ? key : (entered.parameters[name] ?? "");
    if (value === "") continue;
    if (place === "path") pathParameters[name] = value;
    if (place === "query")
      query[name] = schema?.type === "integer" && /^[1-9]\d{0,8}$/.test(value) ? Number(value) : value;
    if (place === "header") headers[name] = value;
  }
  const body = enteredBody(operation, entered);
  return {
    method: operation.method,
    base,
    path: operation.path,
    ...{ pathParameters, query, headers },
    ...(body === null ? {} : { body }),
    shows: showsOf(operation),
  };
}

function showsOf(operation: Operation): CodeRequest["shows"] {
  const [status, response] = successOf(operation) ?? [];
  if (bodyOf(response?.content)?.type === "text/event-stream") return "text";
  return status === "202" ? "job" : "data";
}

function enteredBody(operation: Operation, { body, form }: Entered): CodeBody | null {
  if (isForm(operation)) {
    const texts = Object.entries(form).flatMap(([name, value]) =>
      typeof value === "string" && value !== "" ? [[name, value] as const] : [],
    );
    const files = formFields(operation).filter(({ isFile }) => isFile);
    return {
      texts: Object.fromEntries(texts),
      files: Object.fromEntries(files.map(({ name }) => [name, fileName(form[name])])),
    };
  }
  if (operation.requestBody === undefined || body.trim() === "") return null;
  return { json: JSON.parse(body) as unknown };
}

/** As code names it, where its name needs no care. */
function fileName(file: string | File | undefined): string {
  return file instanceof File && /^[\w.-]+$/.test(file.name) ? file.name : "audio.wav";
}

export function formFields({ requestBody }: Operation) {
  const schema = bodyOf(requestBody?.content)?.media.schema;
  return Object.entries(schema?.properties ?? {}).map(([name, { format, description = "" }]) => ({
    name,
    description,
    isFile: format === "binary",
    isRequired: schema?.required?.includes(name) === true,
  }));
}

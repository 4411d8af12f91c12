import type { ApiDocument, DescribedOperation, MediaType } from "./document.js";

/** An operation with where it is. */
export interface Operation extends DescribedOperation {
  /** Of its address in this page; stays the same while the operation has its id. */
  readonly id: string;
  /** In upper case. */
  readonly method: string;
  readonly path: string;
  /** What the server sends, instead of what one asks of it. */
  readonly isEvent: boolean;
}

/** Operations under one heading. */
export interface Group {
  readonly name: string;
  readonly description: string;
  readonly operations: readonly Operation[];
}

const METHODS = ["get", "post", "put", "patch", "delete"];
const EVENTS: Omit<Group, "operations"> = {
  name: "Events",
  description: "What is posted to your webhook endpoints.",
};

/** By tags, in the order of the document; what the server sends comes last. */
export function groupsOf(document: ApiDocument): Group[] {
  const operations = operationsIn(document.paths, false);
  const named = document.tags ?? [];
  const others = operations.flatMap(({ tags = [] }) => tags).filter((tag) => !named.some(({ name }) => name === tag));
  const tags = [...named, ...[...new Set(others)].map((name) => ({ name, description: "" }))];
  const groups = tags.map(({ name, description = "" }) => ({
    name,
    description,
    operations: operations.filter(({ tags: [tag] = [] }) => tag === name).sort(creatingFirst),
  }));
  const events = operationsIn(document.webhooks ?? {}, true);
  return [...groups, { ...EVENTS, operations: events }].filter(({ operations: { length } }) => length > 0);
}

function operationsIn(paths: ApiDocument["paths"], isEvent: boolean): Operation[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([method]) => METHODS.includes(method))
      .map(([method, operation]) => ({
        ...operation,
        id: operation.operationId ?? path,
        method: method.toUpperCase(),
        path,
        isEvent,
      })),
  );
}

/** What creates something comes before what reads it; otherwise the order of the document stays. */
function creatingFirst(one: Operation, other: Operation): number {
  return Number(other.method === "POST") - Number(one.method === "POST");
}

/** The scopes that an operation needs. */
export function scopesOf({ security = [] }: Operation): readonly string[] {
  return security.flatMap((scheme) => Object.values(scheme).flat());
}

/** Whether a request is charged: those have a key that makes them safe to repeat. */
export function isCharged({ parameters = [] }: Operation): boolean {
  return parameters.some(({ name, required }) => name === "Idempotency-Key" && required === true);
}

/** The media type of a body, and what is known of it. */
export function bodyOf(
  content: Readonly<Record<string, MediaType>> | undefined,
): { readonly type: string; readonly media: MediaType; readonly example: unknown } | null {
  const [entry] = Object.entries(content ?? {});
  if (entry === undefined) return null;
  const [type, media] = entry;
  const [first] = Object.values(media.examples ?? {});
  return { type, media, example: media.example ?? first?.value };
}

/** The success of an operation: its status, and the response. */
export function successOf({ responses = {} }: Operation) {
  return Object.entries(responses).find(([status]) => Number(status) < 300);
}

export function addressOf({ id, isEvent }: Operation): string {
  return `#/${isEvent ? "events" : "operations"}/${encodeURIComponent(id)}`;
}

/** What a search looks in. */
export function textOf({ id, method, path, summary, description, parameters = [], responses = {} }: Operation): string {
  const codes = Object.values(responses).flatMap(({ content }) =>
    Object.values(content ?? {}).flatMap(({ examples }) => Object.keys(examples ?? {})),
  );
  const names = parameters.map(({ name }) => name);
  return [id, method, path, summary, description, ...names, ...codes].join(" ").toLowerCase();
}

import fc from "fast-check";
import type { OpenApiDocument, Operation, Parameter } from "../../../adapters/http/openapi/model.js";
import { bodies, type Headers, inHeader } from "./request-bodies.js";
import { SAMPLES } from "./samples.js";
import { valuesOf } from "./schema-values.js";
import { oddText } from "./values.js";

/** Who sends a request. */
export type Caller = "none" | "wrong" | "revoked" | "limited" | "foreign" | "own";

/** A request, with placeholders in place of ids: `@own.track@`. */
export interface FuzzRequest {
  readonly caller: Caller;
  readonly method: string;
  /** With its query. */
  readonly path: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: string | Uint8Array | null;
  /** Whether it reaches its operation, whatever becomes of it there: method and path are those of the operation. */
  readonly isRouted: boolean;
}

export interface DescribedOperation {
  readonly method: string;
  readonly path: string;
  readonly operation: Operation;
}

export function operationsOf(document: Pick<OpenApiDocument, "paths">): DescribedOperation[] {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  );
}

const CALLERS = fc.oneof(
  { weight: 12, arbitrary: fc.constant<Caller>("own") },
  { weight: 5, arbitrary: fc.constantFrom<Caller>("none", "wrong", "revoked", "limited", "foreign") },
);

/** What stands before an id in a path, and the kind of that id. */
const KINDS: Readonly<Record<string, string>> = {
  tracks: "track",
  playlists: "playlist",
  generations: "job",
  jobs: "job",
  accounts: "account",
  keys: "key",
  tokens: "token",
  models: "model",
  "webhook-endpoints": "endpoint",
  "webhook-deliveries": "delivery",
};
const ALL_KINDS = [...new Set(Object.values(KINDS))];

/** Requests for an operation, most of which are nearly valid. */
export function requestsFor(
  { method, path, operation }: DescribedOperation,
  document: OpenApiDocument,
): fc.Arbitrary<FuzzRequest> {
  const { parameters } = operation;
  return fc
    .record({
      caller: CALLERS,
      method: fc.oneof(
        { weight: 30, arbitrary: fc.constant(method) },
        { weight: 1, arbitrary: fc.constantFrom("HEAD", "OPTIONS", "PUT", "TRACE", "PROPFIND", "DELETE") },
      ),
      ids: fc.tuple(...(path.match(/\{\w+\}/g) ?? []).map((name) => idsIn(path, name))),
      query: queries(parameters.filter((parameter) => parameter.in === "query")),
      headers: fc.tuple(headers(parameters.filter((parameter) => parameter.in === "header")), oddHeaders),
      body: bodies(operation, document),
    })
    .map(({ caller, method: verb, ids, query, headers: [own, odd], body }) => {
      const parts = [...ids];
      const filled = path.replace(/\{\w+\}/g, () => parts.shift()?.text ?? "");
      return {
        caller,
        method: verb,
        path: filled + query,
        headers: [...own, ...body.headers, ...odd],
        body: body.content,
        isRouted: verb === method && ids.every(({ isWhole }) => isWhole),
      };
    });
}

interface PathId {
  readonly text: string;
  /** Whether it is one segment of a path that routers take as such. */
  readonly isWhole: boolean;
}

function idsIn(path: string, name: string): fc.Arbitrary<PathId> {
  const before = path.slice(0, path.indexOf(name)).split("/").at(-2) ?? "";
  const kind = KINDS[before] ?? "job";
  const known = (owner: string, of: string): PathId => ({ text: `@${owner}.${of}@`, isWhole: true });
  return fc.oneof(
    { weight: 8, arbitrary: fc.constantFrom(known("own", kind), known("own", kind), known("foreign", kind)) },
    { weight: 1, arbitrary: fc.constantFrom(...ALL_KINDS).map((of) => known("own", of)) },
    {
      weight: 2,
      arbitrary: oddText.map((text) => ({
        text: encodeURIComponent(text.toWellFormed()),
        isWhole: !["", ".", ".."].includes(text),
      })),
    },
    {
      weight: 1,
      arbitrary: fc
        .constantFrom("", ".", "..", "%", "%00", "%zz", "%C3", "a/b", "a%2Fb", ";x=1", "@own.track@%00", "%2e%2e", "\\")
        .map((text) => ({ text, isWhole: false })),
    },
  );
}

function queries(parameters: readonly Parameter[]): fc.Arbitrary<string> {
  const given = parameters.map(({ name, schema }) =>
    fc.option(
      fc
        .oneof(
          { weight: 3, arbitrary: valuesOf(schema, {}, SAMPLES, name).map(String) },
          { weight: 2, arbitrary: oddText },
        )
        .map((value) => `${name}=${encodeURIComponent(value.toWellFormed())}`),
      { freq: 2 },
    ),
  );
  const names = fc.constantFrom("limit", "cursor", "x", ...parameters.map(({ name }) => name));
  const odd = fc.oneof(
    fc.constantFrom("&&&", "=", "%zz", "%00=1", "a[b]=c", "__proto__[x]=1", "x=%C3", "?", "constructor=1", "+=+"),
    names.map((name) => `${name}[]=1`),
    names.map((name) => `${name}[a]=1&${name}[b]=2`),
    names.map((name) => `${name}=1&${name}=2`),
    names.map((name) => name),
    fc.tuple(names, oddText).map(([name, text]) => `${name}=${encodeURIComponent(text.toWellFormed())}`),
  );
  return fc
    .tuple(fc.tuple(...given), fc.option(odd, { freq: 1, nil: null }))
    .map(([parts, extra]) => [...parts, extra].filter((part) => part !== null).join("&"))
    .map((query) => (query === "" ? "" : `?${query}`));
}

/** As a header can carry it: a client refuses to send the rest. */
const headerText: fc.Arbitrary<string> = fc.oneof(
  oddText.map((text) => text.replaceAll(/[^\t\x20-\x7e\x80-\xff]/g, "~").slice(0, 2_000)),
  fc.constantFrom("a, b", '"', "wait=99999999999", "wait=-1", "wait=1, wait=2", ";;;", "bytes=0-0,1-1", "W/", "\xff"),
);

function headers(parameters: readonly Parameter[]): fc.Arbitrary<Headers> {
  const each = parameters.map(({ name, schema, required }) =>
    fc.oneof(
      {
        weight: 6,
        arbitrary: valuesOf(schema, {}, SAMPLES, name).map((value): Headers => [
          [name, name === "Idempotency-Key" ? `k${String(value).replaceAll(/[^ -~]/g, "")}` : String(value)],
        ]),
      },
      { weight: required ? 1 : 6, arbitrary: fc.constant<Headers>([]) },
      { weight: 1, arbitrary: headerText.map((text): Headers => [[name, text]]) },
      {
        weight: 1,
        arbitrary: fc.tuple(headerText, headerText).map(([one, other]): Headers => [
          [name, one],
          [name, other],
        ]),
      },
    ),
  );
  return fc.tuple(...each).map((all) => all.flat().map(([name, value]) => [name, inHeader(value)] as const));
}

const oddHeaders: fc.Arbitrary<Headers> = fc.oneof(
  { weight: 5, arbitrary: fc.constant<Headers>([]) },
  {
    weight: 1,
    arbitrary: fc
      .tuple(
        fc.constantFrom(
          ...["Accept", "Accept-Encoding", "Range", "If-Match", "If-None-Match", "X-Forwarded-For", "X-Client"],
          ...["X-Forwarded-Proto", "X-Forwarded-Host", "Forwarded", "Cookie", "Origin", "Referer", "X-Request-Id"],
          ...["traceparent", "X-HTTP-Method-Override", "X-Reason", "Prefer", "Accept-Language", "User-Agent"],
          ...["Idempotency-Key", "Sec-Fetch-Site", "Via", "Max-Forwards", "TE", "X-Original-URL"],
        ),
        headerText,
      )
      .map((header): Headers => [header]),
  },
);

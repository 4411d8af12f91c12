import type { OpenApiDocument, Schema } from "../../../adapters/http/openapi/model.js";
import { issuesIn } from "../../api/json-schema.js";
import type { DescribedOperation, FuzzRequest } from "./requests.js";
import type { FuzzResponse } from "./send.js";

/** Headers that only some of the responses with a status have. */
const OPTIONAL_HEADERS = ["Idempotent-Replayed", "Preference-Applied"];

/**
 * What is wrong with the response to a request that reached its operation: its status, its type, its body and its
 * headers have to be those of the document.
 */
export function undocumented(
  { operation }: DescribedOperation,
  document: OpenApiDocument,
  response: FuzzResponse,
): string[] {
  // Refused before there is a route: the path and the headers together are too long.
  if (response.status === 431) return [];
  const described = operation.responses[response.status];
  if (described === undefined) return [`the status ${response.status} is not documented`];
  const type = String(response.headers["content-type"] ?? "").split(";")[0] ?? "";
  const media = Object.entries(described.content ?? {});
  const missing = Object.keys(described.headers ?? {})
    .filter((name) => !OPTIONAL_HEADERS.includes(name) && response.headers[name.toLowerCase()] === undefined)
    .map((name) => `the header ${name} is missing`);
  if (media.length === 0) return response.body.length === 0 ? missing : [...missing, "there is a body"];
  const found = media.find(([name]) => name === type);
  if (found === undefined) return [...missing, `the type ${JSON.stringify(type)} is not documented`];
  return [...missing, ...bodyIssues(type, response, found[1].schema, document)];
}

function bodyIssues(
  type: string,
  { body }: FuzzResponse,
  schema: Schema,
  { components: { schemas } }: OpenApiDocument,
): string[] {
  return type === "application/json" ? issuesIn(JSON.parse(body.toString()), schema, schemas) : [];
}

/** What no response may be, whatever was sent. */
export function unacceptable({ method, path }: FuzzRequest, response: FuzzResponse): string[] {
  const { status, headers, body } = response;
  const text = body.toString();
  const found = [];
  // 502: the provider failed; the request asked to wait for the result.
  if (status >= 500 && status !== 502) found.push(`the status is ${status}`);
  if (status < 200) found.push(`the status is ${status}`);
  if (status === 429 && headers["retry-after"] === undefined) found.push("Retry-After is missing");
  if (headers["x-injected"] !== undefined) found.push("a header of the request is one of the response");
  if (status >= 400 && method !== "HEAD") found.push(...envelopeIssues(text));
  // What operators ask for may say where files are and what went wrong.
  if (status >= 400 || !path.startsWith("/admin/"))
    found.push(...LEAKS.filter(([, pattern]) => pattern.test(text)).map(([what]) => `${what} in the response`));
  return found.map((issue) => `${method} ${path.slice(0, 200)}: ${status}: ${issue}`);
}

/** What only the inside of the server has. None of it is in any request that the tests send. */
const LEAKS: readonly (readonly [what: string, pattern: RegExp])[] = [
  ["a stack trace", /\n\s+at \S+ \(|\bnode:internal\b|\.(ts|js|mjs):\d+:\d+/],
  ["a path of this machine", /\/(work|home|root|tmp|usr|node_modules)\/[a-z]/],
  ["SQL", /\b(select|insert into|update|delete from) [`"][a-z_]+[`"]|SQLITE_[A-Z]+|\bER_[A-Z_]+\b|\bknex\b/],
  [
    "an error of the language",
    /\b(TypeError|RangeError|ReferenceError|SyntaxError)\b|Cannot read propert|is not a function/,
  ],
];

function envelopeIssues(text: string): string[] {
  try {
    const { error } = JSON.parse(text) as { readonly error?: Readonly<Record<string, unknown>> };
    const isWhole = [error?.["code"], error?.["message"], error?.["request_id"]].every(
      (member) => typeof member === "string" && member !== "",
    );
    return isWhole ? [] : ["the refusal has no code, message and request id"];
  } catch {
    return ["the refusal is no JSON"];
  }
}

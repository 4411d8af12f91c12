import type { OpenApiDocument, Operation, Schema } from "../../adapters/http/openapi/model.js";
import type { ApiClient, ApiResponse, SendOptions } from "../support/api-client.js";
import { A_GENERATION } from "../support/api-client.js";
import { resolve } from "../api/json-schema.js";

/** An operation of a description, with a request that fits it. */
export interface DescribedOperation {
  /** `GET /api/v1/me` */
  readonly name: string;
  readonly method: string;
  readonly path: string;
  readonly operation: Operation;
  /** The name of the parameter of its path, if it has one. */
  readonly parameter: string | null;
  /** An example of its JSON body; undefined when it takes none. */
  readonly body: Readonly<Record<string, unknown>> | undefined;
}

/** Bodies whose example in the description would be refused for other reasons than those of a test. */
const BODIES: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  "POST /api/v1/generations": A_GENERATION,
  "POST /api/v1/playlists": { title: "Rain" },
  "PATCH /api/v1/playlists/{id}": { title: "taken over" },
  "PATCH /api/v1/webhook-endpoints/{id}": { status: "disabled" },
  "POST /admin/v1/accounts/{id}/generations": A_GENERATION,
};

/** Every operation of the public or the admin API. */
export function operationsOf(document: OpenApiDocument): DescribedOperation[] {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([verb, operation]) => {
      const method = verb.toUpperCase();
      const name = `${method} ${path}`;
      const media = operation.requestBody?.content["application/json"];
      const example = Object.values(media?.examples ?? {})[0]?.value as Readonly<Record<string, unknown>> | undefined;
      const body = media === undefined ? undefined : (BODIES[name] ?? example ?? {});
      return { name, method, path, operation, parameter: /\{(\w+)\}/.exec(path)?.[1] ?? null, body };
    }),
  );
}

/** Sends a request that fits the operation. */
export function sendTo(
  api: ApiClient,
  { method, path, body }: DescribedOperation,
  { id = "none", ...given }: SendOptions & { readonly id?: string } = {},
): Promise<ApiResponse> {
  const sent = given.body ?? body;
  return api.send(method, path.replace(/\{\w+\}/, encodeURIComponent(id)), {
    ...given,
    headers: {
      "Idempotency-Key": "the-security-of-operations",
      ...(sent === undefined ? {} : { "Content-Type": "application/json" }),
      ...given.headers,
    },
    ...(sent === undefined ? {} : { body: sent }),
  });
}

/** Members of `value` that its schema does not declare, with their paths. */
export function undeclaredIn(value: unknown, schema: Schema, document: OpenApiDocument, at = "$"): string[] {
  const parts = partsOf(schema, document);
  if (Array.isArray(value)) {
    const items = parts.map((part) => part.items).find((one) => one !== undefined);
    return items === undefined
      ? []
      : value.flatMap((one, index) => undeclaredIn(one, items, document, `${at}[${index}]`));
  }
  if (typeof value !== "object" || value === null) return [];
  const declared = Object.assign({}, ...parts.map((part) => part.properties ?? {})) as Record<string, Schema>;
  const isOpen = parts.some(({ additionalProperties: more }) => more === true || typeof more === "object");
  return Object.entries(value).flatMap(([name, member]) => {
    const known = declared[name];
    if (known !== undefined) return undeclaredIn(member, known, document, `${at}.${name}`);
    return isOpen ? [] : [`${at}.${name}`];
  });
}

/** The schema itself and all that it refers to or is composed of. */
function partsOf(schema: Schema, document: OpenApiDocument): Schema[] {
  const more = [...(schema.allOf ?? []), ...(schema.anyOf ?? [])];
  if (schema.$ref !== undefined) more.push(resolve(schema.$ref, document.components.schemas));
  return [schema, ...more.flatMap((part) => partsOf(part, document))];
}

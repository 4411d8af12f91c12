import type { RateLimitKind } from "../../../core/accounts/tiers.js";

/** As much of OpenAPI 3.1 as the description of this API uses. */
export interface OpenApiDocument {
  openapi: string;
  info: { title: string; version: string; description: string; "x-fermata-version": string };
  servers: { url: string }[];
  tags: { name: string; description: string }[];
  paths: { [path: string]: { [method: string]: Operation } };
  /** What the server sends by itself, by the type of the event. */
  webhooks?: { [type: string]: { post: WebhookOperation } };
  components: {
    schemas: { [name: string]: Schema };
    headers: { [name: string]: { description: string; schema: Schema; example?: unknown } };
    securitySchemes: { [name: string]: object };
  };
}

export interface Operation {
  operationId: string;
  summary?: string;
  description?: string;
  tags?: string[];
  security: { [scheme: string]: string[] }[];
  parameters: Parameter[];
  requestBody?: { required?: boolean; description?: string; content: { [type: string]: MediaType } };
  responses: { [status: string]: Response };
  /** The limit that it counts in. */
  "x-rate-limit"?: RateLimitKind;
}

/** A request that the server sends. */
export type WebhookOperation = Omit<Operation, "operationId" | "x-rate-limit">;

export interface Parameter {
  in: "path" | "query" | "header";
  name: string;
  required: boolean;
  description?: string;
  schema: Schema;
  example?: unknown;
}

export interface Response {
  description: string;
  headers?: { [name: string]: { $ref: string } };
  content?: { [type: string]: MediaType };
}

export interface MediaType {
  schema: Schema;
  examples?: { [name: string]: { summary?: string; value: unknown } };
}

export interface Schema {
  $ref?: string;
  type?: string | string[];
  format?: string;
  description?: string;
  enum?: readonly unknown[];
  properties?: { [name: string]: Schema };
  required?: string[];
  maxProperties?: number;
  additionalProperties?: boolean | Schema;
  items?: Schema;
  maxItems?: number;
  allOf?: Schema[];
  anyOf?: Schema[];
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  pattern?: string;
  default?: unknown;
  /** OpenAPI 3.0 only. */
  nullable?: boolean;
}

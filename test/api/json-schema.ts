import type { Schema } from "../../adapters/http/openapi/model.js";

type Schemas = Readonly<Record<string, Schema>>;

/** The keywords that {@link issuesIn} supports; a schema with another one is an issue itself. */
const KEYWORDS = new Set([
  ...["$ref", "type", "format", "description", "enum", "properties", "required", "additionalProperties"],
  ...["maxProperties", "items", "maxItems", "allOf", "anyOf", "minLength", "maxLength", "minimum", "maximum"],
  ...["pattern", "default"],
]);

const FORMATS: Readonly<Record<string, (text: string) => boolean>> = {
  "date-time": (text) => /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(text),
  uri: (text) => URL.canParse(text),
};

/** The issues of `value` under `schema` (JSON Schema, as far as this API's description uses it), a line each. */
export function issuesIn(value: unknown, schema: Schema, schemas: Schemas, at = "$"): string[] {
  const unknown = Object.keys(schema).filter((keyword) => !KEYWORDS.has(keyword));
  const own = [
    ...unknown.map((keyword) => `${at}: the keyword ${keyword} is not known`),
    ...typeIssues(value, schema, at),
    ...textIssues(value, schema, at),
    ...memberIssues(value, schema, schemas, at),
  ];
  if (schema.enum !== undefined && !schema.enum.includes(value))
    own.push(`${at}: ${JSON.stringify(value)} is not one of ${schema.enum.join(", ")}`);
  const { items } = schema;
  if (Array.isArray(value) && items !== undefined) {
    own.push(...value.flatMap((item, index) => issuesIn(item, items, schemas, `${at}[${index}]`)));
  }
  for (const part of schema.allOf ?? []) own.push(...issuesIn(value, part, schemas, at));
  if (schema.anyOf !== undefined && schema.anyOf.every((part) => issuesIn(value, part, schemas, at).length > 0))
    own.push(`${at}: fits none of anyOf`);
  if (schema.$ref !== undefined) own.push(...issuesIn(value, resolve(schema.$ref, schemas), schemas, at));
  return own;
}

export function resolve(ref: string, schemas: Schemas): Schema {
  const found = schemas[ref.replace("#/components/schemas/", "")];
  if (found === undefined) throw new Error(`${ref} leads nowhere.`);
  return found;
}

function typeIssues(value: unknown, { type }: Schema, at: string): string[] {
  if (type === undefined) return [];
  const types = Array.isArray(type) ? type : [type];
  const isOne = types.some((name) => {
    if (name === "null") return value === null;
    if (name === "array") return Array.isArray(value);
    if (name === "integer") return Number.isInteger(value);
    if (name === "object") return typeof value === "object" && value !== null && !Array.isArray(value);
    return typeof value === name;
  });
  return isOne ? [] : [`${at}: ${JSON.stringify(value)} is no ${types.join(" or ")}`];
}

function textIssues(value: unknown, schema: Schema, at: string): string[] {
  if (typeof value !== "string") return [];
  const issues = [];
  const length = [...value].length;
  if (schema.format !== undefined && !FORMATS[schema.format]?.(value)) issues.push(`${at}: is no ${schema.format}`);
  if (length < (schema.minLength ?? 0) || length > (schema.maxLength ?? Infinity))
    issues.push(`${at}: has ${length} characters`);
  if (schema.pattern !== undefined && !new RegExp(schema.pattern, "u").test(value))
    issues.push(`${at}: does not fit ${schema.pattern}`);
  return issues;
}

function memberIssues(value: unknown, schema: Schema, schemas: Schemas, at: string): string[] {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return [];
  const { properties = {}, required = [], additionalProperties } = schema;
  const { maxProperties = Infinity } = schema;
  const count = Object.keys(value).length;
  if (count > maxProperties) return [`${at}: has ${count} members`];
  const issues = required.filter((name) => !Object.hasOwn(value, name)).map((name) => `${at}.${name}: is missing`);
  for (const [name, member] of Object.entries(value)) {
    const known = properties[name] ?? (typeof additionalProperties === "object" ? additionalProperties : undefined);
    if (known !== undefined) issues.push(...issuesIn(member, known, schemas, `${at}.${name}`));
    else if (additionalProperties === false) issues.push(`${at}.${name}: is one too many`);
  }
  return issues;
}

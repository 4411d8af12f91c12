import type { ApiDocument, Header, Schema } from "./document.js";

/** What a reference leads to, and the parts of `allOf` as one. */
export function resolved(document: ApiDocument, schema: Schema): Schema {
  if (schema.$ref !== undefined) {
    const { $ref, ...own } = schema;
    const found = document.components.schemas[lastOf($ref)];
    return found === undefined ? own : { ...resolved(document, found), ...own };
  }
  if (schema.allOf === undefined) return schema;
  const { allOf, ...own } = schema;
  const parts = [...allOf.map((part) => resolved(document, part)), own];
  return Object.assign({}, ...parts, {
    properties: parts.reduce(
      (all, { properties = {} }) => ({ ...all, ...merged(all, properties) }),
      {} as Readonly<Record<string, Schema>>,
    ),
    required: [...new Set(parts.flatMap(({ required = [] }) => required))],
  }) as Schema;
}

function merged(
  all: Readonly<Record<string, Schema>>,
  more: Readonly<Record<string, Schema>>,
): Readonly<Record<string, Schema>> {
  return Object.fromEntries(Object.entries(more).map(([name, schema]) => [name, { ...all[name], ...schema }]));
}

export function headerOf(document: ApiDocument, header: Header): Header {
  return header.$ref === undefined ? header : (document.components.headers?.[lastOf(header.$ref)] ?? {});
}

function lastOf(reference: string): string {
  return reference.slice(reference.lastIndexOf("/") + 1);
}

/** The type in words: `list of Track`, `string or null`. */
export function typeOf(document: ApiDocument, schema: Schema): string {
  const name = schema.$ref === undefined ? undefined : lastOf(schema.$ref);
  const { type, items, anyOf, oneOf, allOf, enum: values, format, properties } = resolved(document, schema);
  const choices = anyOf ?? oneOf;
  if (choices !== undefined) return [...new Set(choices.map((one) => typeOf(document, one)))].join(" or ");
  if (items !== undefined) return `list of ${typeOf(document, items)}`;
  if (properties !== undefined && name !== undefined) return name;
  const types = typeof type === "string" ? [type] : (type ?? []);
  if (types.length === 0 && values !== undefined) return "string";
  const shown = types.map((one) => (one === "string" && format !== undefined ? `string (${format})` : one));
  return shown.length > 0 ? shown.join(" or ") : allOf === undefined ? "any" : "object";
}

/** What a value has to be beyond its type: `1 to 3000 characters`. */
export function boundsOf(schema: Schema): string[] {
  const { minLength, maxLength, minimum, maximum, maxItems, maxProperties } = schema;
  return [
    range(minLength, maxLength, "characters"),
    range(minimum, maximum, ""),
    range(undefined, maxItems, "items"),
    range(undefined, maxProperties, "members"),
    ...(schema.default === undefined ? [] : [`default ${JSON.stringify(schema.default)}`]),
  ].filter((bound) => bound !== "");
}

function range(least: number | undefined, most: number | undefined, unit: string): string {
  if (least === undefined && most === undefined) return "";
  const words =
    least === undefined ? `at most ${most}` : most === undefined ? `at least ${least}` : `${least} to ${most}`;
  return `${words} ${unit}`.trim();
}

/** Schemas of what is within: members of an object, also of one in a list. */
export function membersOf(document: ApiDocument, schema: Schema): readonly (readonly [string, Schema, boolean])[] {
  const { properties, required = [], items, anyOf, oneOf, additionalProperties } = resolved(document, schema);
  if (properties !== undefined)
    return Object.entries(properties).map(([name, member]) => [name, member, required.includes(name)] as const);
  if (items !== undefined) return membersOf(document, items);
  for (const choice of anyOf ?? oneOf ?? []) {
    const members = membersOf(document, choice);
    if (members.length > 0) return members;
  }
  return typeof additionalProperties === "object" && (additionalProperties.$ref ?? additionalProperties.properties)
    ? membersOf(document, additionalProperties)
    : [];
}

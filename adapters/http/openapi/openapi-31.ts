import type { OpenApiDocument, Schema } from "./model.js";

/**
 * Turns a description in OpenAPI 3.0, the newest that tsoa writes, into one in 3.1: there a bearer key may have scopes,
 * and schemas are plain JSON Schema.
 */
export function toOpenApi31(document: OpenApiDocument): OpenApiDocument {
  document.openapi = "3.1.0";
  const { schemas } = document.components;
  const convert = (schema: Schema): void => convertSchema(schema, schemas);
  Object.values(schemas).forEach(convert);
  for (const operation of Object.values(document.paths).flatMap((path) => Object.values(path))) {
    for (const parameter of operation.parameters) convert(parameter.schema);
    for (const { content } of [
      ...Object.values(operation.responses),
      ...(operation.requestBody ? [operation.requestBody] : []),
    ]) {
      for (const { schema } of Object.values(content ?? {})) convert(schema);
    }
  }
  return document;
}

/** Formats that promise less, or more, than the numbers here keep to. */
const NUMBER_FORMATS: ReadonlySet<string | undefined> = new Set(["int32", "int64", "float", "double"]);

function convertSchema(schema: Schema, schemas: Readonly<Record<string, Schema>>): void {
  if (schema.nullable === true) admitNull(schema);
  delete schema.nullable;
  mergeParts(schema, schemas);
  if (NUMBER_FORMATS.has(schema.format)) delete schema.format;
  const { items, additionalProperties } = schema;
  const children = [
    ...Object.values(schema.properties ?? {}),
    ...(schema.allOf ?? []),
    ...(schema.anyOf ?? []),
    ...(items === undefined ? [] : [items]),
    ...(typeof additionalProperties === "object" ? [additionalProperties] : []),
  ];
  for (const child of children) convertSchema(child, schemas);
}

function admitNull(schema: Schema): void {
  const { type, allOf, anyOf } = schema;
  if (typeof type === "string") schema.type = [type, "null"];
  else if (anyOf !== undefined) schema.anyOf = [...anyOf, { type: "null" }];
  else if (allOf !== undefined) {
    schema.anyOf = [...allOf, { type: "null" }];
    delete schema.allOf;
  }
}

/** Closed objects refuse the members of each other, so that nothing would fit all of them: they become one object. */
function mergeParts(schema: Schema, schemas: Readonly<Record<string, Schema>>): void {
  const parts = (schema.allOf ?? []).map((part) =>
    part.$ref === undefined ? part : (schemas[part.$ref.replace("#/components/schemas/", "")] ?? part),
  );
  if (parts.length < 2 || !parts.every(({ properties }) => properties !== undefined)) return;
  delete schema.allOf;
  schema.type = "object";
  schema.properties = Object.assign({}, ...parts.map(({ properties }) => properties)) as Record<string, Schema>;
  schema.required = parts.flatMap(({ required = [] }) => required);
  if (parts.some(({ additionalProperties }) => additionalProperties === false)) schema.additionalProperties = false;
}

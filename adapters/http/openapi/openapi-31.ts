import type { OpenApiDocument, Schema } from "./model.js";

/**
 * Turns a description in OpenAPI 3.0, the newest that tsoa writes, into one in 3.1: there a bearer key may have scopes,
 * and schemas are plain JSON Schema.
 */
export function toOpenApi31(document: OpenApiDocument): OpenApiDocument {
  document.openapi = "3.1.0";
  Object.values(document.components.schemas).forEach(convert);
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

function convert(schema: Schema): void {
  if (schema.nullable === true && typeof schema.type === "string") schema.type = [schema.type, "null"];
  delete schema.nullable;
  if (NUMBER_FORMATS.has(schema.format)) delete schema.format;
  const { items, additionalProperties } = schema;
  const children = [
    ...Object.values(schema.properties ?? {}),
    ...(schema.allOf ?? []),
    ...(schema.anyOf ?? []),
    ...(items === undefined ? [] : [items]),
    ...(typeof additionalProperties === "object" ? [additionalProperties] : []),
  ];
  children.forEach(convert);
}

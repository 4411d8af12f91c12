/** The storage's schema is not the one of this version. */
export class SchemaError extends Error {
  override readonly name = "SchemaError";
}

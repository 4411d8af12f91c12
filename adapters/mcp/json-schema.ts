import { z } from "zod";
import type { JsonSchemaType, jsonSchemaValidator } from "./sdk.js";

/** Checks what a person filled in against the sent form. The SDK's own validator would be half of its bundle. */
export const JSON_SCHEMA_VALIDATOR: jsonSchemaValidator = {
  getValidator: <T>(schema: JsonSchemaType) => {
    const parsed = z.fromJSONSchema(schema as Parameters<typeof z.fromJSONSchema>[0]);
    return (input: unknown) => {
      const { success, error } = parsed.safeParse(input);
      return success
        ? { valid: true as const, data: input as T, errorMessage: undefined }
        : { valid: false as const, data: undefined, errorMessage: z.prettifyError(error) };
    };
  },
};

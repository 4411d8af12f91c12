/** In the bundle, what the SDK takes from the platform. */
export { default as process } from "node:process";

/** Servers here are given json-schema.ts instead. */
export class DefaultJsonSchemaValidator {
  getValidator() {
    throw new Error("A server needs jsonSchemaValidator.");
  }
}

import type { Request } from "express";
import { InvalidRequestError } from "../../../core/errors.js";

/**
 * The only member of a body that `jsonBody` has read.
 *
 * @throws {InvalidRequestError} it is no text, or not the only one
 */
export function textMember(request: Request, name: string): string {
  const { [name]: value, ...others } = request.body as Readonly<Record<string, unknown>>;
  const [other] = Object.keys(others);
  if (other !== undefined)
    throw new InvalidRequestError([{ path: `body.${other}`, message: `is unknown; allowed: ${name}` }]);
  if (typeof value === "string" && value !== "") return value;
  throw new InvalidRequestError([{ path: `body.${name}`, message: "must be a text that is not empty" }]);
}

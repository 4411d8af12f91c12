import createClient from "openapi-fetch";
import type { components, paths } from "../generated/admin-api.js";
import { ApiError, dataOf } from "../parts/api-error.js";
import { BASE_URL } from "../parts/base.js";
import { session } from "./session.js";

/** The admin API, as the operator of the session. */
export const admin = createClient<paths>({ baseUrl: BASE_URL.replace(/\/$/, "") });

/** What the admin API sends. */
export type Schemas = components["schemas"];

/** As {@link dataOf}; where the session has ended, the page asks for a token again. */
export async function read<Data>(call: Parameters<typeof dataOf<Data>>[0]): Promise<Data> {
  try {
    return await dataOf(call);
  } catch (error) {
    if (error instanceof ApiError && error.isSignedOut) session.value = null;
    throw error;
  }
}

/** The header that says why an operator does something, for the audit log. @param reason empty: none is given */
export function because(reason: string): { "X-Reason"?: string } {
  return reason === "" ? {} : { "X-Reason": encodeURIComponent(reason) };
}

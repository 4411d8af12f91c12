import createClient from "openapi-fetch";
import type { paths } from "../generated/admin-api.js";
import { BASE_URL } from "../parts/base.js";

/** The admin API, as the operator of the session. */
export const admin = createClient<paths>({ baseUrl: BASE_URL.replace(/\/$/, "") });

/** The header that says why an operator does something, for the audit log. @param reason empty: none is given */
export function because(reason: string): { "X-Reason"?: string } {
  return reason === "" ? {} : { "X-Reason": encodeURIComponent(reason) };
}

/** Exchanges a token for a session. */
export async function signIn(token: string): Promise<Response> {
  return fetch(`${BASE_URL}admin/v1/session`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ token }),
  });
}

export async function signOut(): Promise<void> {
  await fetch(`${BASE_URL}admin/v1/session`, { method: "DELETE" });
}

import { signal } from "@preact/signals";
import { ApiError, dataOf } from "../parts/api-error.js";
import { BASE_URL } from "../parts/base.js";

const ROLES = ["read", "operate", "owner"] as const;

export type Role = (typeof ROLES)[number];

export interface Operator {
  readonly name: string;
  readonly role: Role;
}

/** Who has signed in; null: no one; undefined: not known yet. */
export const session = signal<Operator | null | undefined>(undefined);

/** Whether the operator's role is this one, or one that may do more. */
export function may(role: Role): boolean {
  const { value } = session;
  return value !== null && value !== undefined && ROLES.indexOf(value.role) >= ROLES.indexOf(role);
}

/** Reads whose session it is. @throws {ApiError} that is not known */
export async function findSession(): Promise<void> {
  try {
    session.value = await call<Operator>("me", {});
  } catch (error) {
    if (!(error instanceof ApiError && error.isSignedOut)) throw error;
    session.value = null;
  }
}

/** Exchanges a token for a session. @throws {ApiError} it is refused */
export async function signIn(token: string): Promise<void> {
  session.value = await call<Operator>("session", {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ token }),
  });
}

/** @throws {ApiError} the session goes on */
export async function signOut(): Promise<void> {
  await call("session", { method: "DELETE" });
  session.value = null;
}

function call<Data>(path: string, options: RequestInit): Promise<Data> {
  return dataOf(fetched<Data>(path, options));
}

/** Calls the admin API where its types do not help. @param path below `/admin/v1/` */
export async function fetched<Data>(path: string, options: RequestInit): Promise<Fetched<Data>> {
  const response = await fetch(`${BASE_URL}admin/v1/${path}`, options);
  const body = (await response.json()) as { readonly data: Data };
  return response.ok ? { data: body, response } : { error: body, response };
}

type Fetched<Data> = Awaited<Parameters<typeof dataOf<Data>>[0]>;

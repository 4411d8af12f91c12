import { signal } from "@preact/signals";
import { BASE_URL } from "../../parts/base.js";
import { ApiError } from "../../parts/api-error.js";

/** `opening`: it is not known yet. */
export type SessionState = "opening" | "open" | "closed";

export const session = signal<SessionState>("opening");
/** Why one has to sign in, where there is something to say. */
export const closedBecause = signal<"link" | "ended" | "unreachable" | null>(null);

const SESSION_URL = `${BASE_URL}api/v1/session`;

/** Goes by the code of the link, or else by the session that is there. */
export async function openSession(): Promise<void> {
  const code = takeCode();
  try {
    if (code !== null && (await sent("POST", { code })).ok) return opened();
    const { data } = (await (await sent("GET")).json()) as { readonly data: { readonly is_open: boolean } };
    if (data.is_open) return opened();
    closedBecause.value = code === null ? null : "link";
  } catch {
    closedBecause.value = "unreachable";
  }
  session.value = "closed";
}

/** @throws {ApiError} it is no valid key, or could not be asked about */
export async function signIn(key: string): Promise<void> {
  let response: Response;
  try {
    response = await sent("POST", { api_key: key });
  } catch {
    throw new ApiError(0, "unreachable", "The server cannot be reached.", "", {});
  }
  if (response.ok) return opened();
  const { error } = (await response.json().catch(() => ({}))) as {
    readonly error?: { readonly code: string; readonly message: string; readonly request_id: string };
  };
  const message = error?.message ?? `The server responded with ${response.status}.`;
  throw new ApiError(response.status, error?.code ?? "unreadable", message, error?.request_id ?? "", {});
}

export async function signOut(): Promise<void> {
  await sent("DELETE").catch(() => undefined);
  closedBecause.value = null;
  session.value = "closed";
}

/** A response said that there is none any more. */
export function sessionEnded(): void {
  if (session.value !== "open") return;
  closedBecause.value = "ended";
  session.value = "closed";
}

function opened(): void {
  closedBecause.value = null;
  session.value = "open";
}

/** The code leaves the address, and the history, before anything else happens. */
function takeCode(): string | null {
  const code = new URLSearchParams(location.hash.slice(1)).get("code");
  if (location.hash !== "") history.replaceState(null, "", location.pathname + location.search);
  return code;
}

/** Whether the address holds a code: it was pasted into a tab that shows the studio already. */
export function hasCode(): boolean {
  return new URLSearchParams(location.hash.slice(1)).has("code");
}

function sent(method: "GET" | "POST" | "DELETE", body?: object): Promise<Response> {
  if (body === undefined) return fetch(SESSION_URL, { method });
  const headers = { "Content-Type": "application/json" };
  return fetch(SESSION_URL, { method, headers, body: JSON.stringify(body) });
}

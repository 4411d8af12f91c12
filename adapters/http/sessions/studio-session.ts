import type { Request } from "express";
import { type Authenticate, type Caller } from "../../../core/accounts/authenticate.js";
import { InvalidApiKeyError } from "../../../core/errors.js";
import { SCOPES } from "../../../core/ports/scopes.js";
import { open, seal, type Sessions, type SessionsDeps } from "./sessions.js";

/** What a session at the studio holds: the key that it was opened with, or the account of a link. */
export type StudioSession = { readonly key: string } | { readonly account: string };

export interface StudioDeps {
  readonly sessions: Sessions<StudioSession>;
  readonly authenticate: Pick<Authenticate, "identify" | "findAccount">;
  /** Opens the codes of {@link studioCode}. */
  readonly codes: SessionsDeps;
}

const CODE_CONTEXT = "studio-code";
const CODE_TTL_MS = 12 * 3_600_000;

/** What opens the studio for an account without a key, for 12 hours: part of a link that the terminal shows. */
export function studioCode(
  deps: SessionsDeps,
  accountId: string,
): { readonly code: string; readonly expiresAt: number } {
  const expiresAt = deps.clock.now() + CODE_TTL_MS;
  return { code: seal(deps, CODE_CONTEXT, { held: accountId, expiresAt }), expiresAt };
}

/** Whose code it is. @throws {InvalidApiKeyError} it has expired, or is not one of this installation */
export async function accountOfCode({ codes }: StudioDeps, code: string): Promise<string> {
  const account = await open<string>(codes, CODE_CONTEXT, code);
  if (account === null) throw new InvalidApiKeyError("The link to the studio is not valid, or has expired.");
  return account;
}

/** Who has signed in at the studio; null: no one. @throws {InvalidApiKeyError} the key is not valid any more */
export async function authenticateBySession(
  { studio }: { readonly studio?: StudioDeps },
  request: Request,
): Promise<Caller | null> {
  const session = (await studio?.sessions.find(request)) ?? null;
  if (studio === undefined || session === null) return null;
  if ("key" in session) {
    const { account, key } = await studio.authenticate.identify(`Bearer ${session.key}`);
    return { account, scopes: key.scopes };
  }
  const account = await studio.authenticate.findAccount(session.account);
  return account === undefined ? null : { account, scopes: SCOPES };
}

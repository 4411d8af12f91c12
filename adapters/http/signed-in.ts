import type { IncomingMessage } from "node:http";
import type { Scope } from "../../core/ports/scopes.js";

/** Whom the app around Fermata has signed in. */
export interface SignedInCaller {
  /** The account that the request acts for, as `app.accounts.ensure` returns it. */
  readonly accountId: string;
  /** What the request may do, as the scopes of a key; all by default. */
  readonly scopes?: readonly Scope[];
}

/**
 * Who sends a request that carries no API key, by the app's own means, such as its session cookie; null: a
 * caller that it does not know, and the response is 401. What it throws is logged, and the response is 500.
 *
 * @param request as Express passes it, with what the app's own middleware has put there
 */
export type AuthenticateRequest = SignedIn["callerOf"];

/** A method's parameter may be of a narrower type in an app: that of Express, or with what its middleware adds. */
interface SignedIn {
  callerOf(request: IncomingMessage): SignedInCaller | null | undefined | Promise<SignedInCaller | null | undefined>;
}

import { sign } from "node:crypto";
import { failureOf, ProviderFailure, providerFailure } from "../sdk/index.js";
import type { ApiCall, ApiResponse, ProviderApi } from "../sdk/index.js";
import type { Host, ServiceAccount } from "./settings.js";

const SCOPE = "https://www.googleapis.com/auth/cloud-platform";
const GRANT = "urn:ietf:params:oauth:grant-type:jwt-bearer";

/** The requested lifetime of a token; the longest that Google grants. */
const LIFETIME_SECONDS = 3_600;

/** A token is not used in its last minute: a call that begins then might end without it. */
const MARGIN_MS = 60_000;

export const TOKEN_TIMEOUT_MS = 30_000;

/**
 * Access tokens of a service account (RFC 7523): each is used until shortly before it expires, then the next one is
 * requested.
 */
export class AccessTokens {
  private readonly api: ProviderApi;
  private current: { readonly token: string; readonly goodUntil: number } | null = null;

  constructor(
    private readonly account: ServiceAccount,
    private readonly host: Host,
  ) {
    const { origin: baseUrl } = new URL(account.tokenUrl);
    this.api = host.api({ baseUrl, timeoutMs: TOKEN_TIMEOUT_MS, classify });
  }

  /**
   * @throws {ProviderFailure} `misconfigured`: the account is refused; or a temporary failure. No work was started in
   * either case
   */
  async token(signal: AbortSignal): Promise<string> {
    const now = this.host.clock.now();
    if (this.current !== null && now < this.current.goodUntil) return this.current.token;
    const form = new URLSearchParams({ grant_type: GRANT, assertion: assertionOf(this.account, now) });
    const body = new Uint8Array(new TextEncoder().encode(form.toString()));
    const headers = { "content-type": "application/x-www-form-urlencoded" };
    const response = await this.api.call({ path: this.account.tokenUrl, body, headers, signal });
    const { access_token: token, expires_in: seconds } = (response.json() ?? {}) as {
      readonly [name: string]: unknown;
    };
    if (typeof token !== "string" || token === "")
      throw providerFailure("unavailable", response, { message: "The response has no access token." });
    const livesMs = typeof seconds === "number" ? seconds * 1_000 : 0;
    this.current = { token, goodUntil: now + livesMs - MARGIN_MS };
    return token;
  }

  /** A token that was refused is not used again. */
  forget(): void {
    this.current = null;
  }
}

/** The assertion of the account, signed with its key. */
function assertionOf({ clientEmail, privateKey, keyId, tokenUrl }: ServiceAccount, now: number): string {
  const issuedAt = Math.floor(now / 1_000);
  const header = { alg: "RS256", typ: "JWT", ...(keyId === null ? {} : { kid: keyId }) };
  const claims = { iss: clientEmail, scope: SCOPE, aud: tokenUrl, iat: issuedAt, exp: issuedAt + LIFETIME_SECONDS };
  const message = [header, claims].map((part) => Buffer.from(JSON.stringify(part)).toString("base64url")).join(".");
  return `${message}.${sign("sha256", Buffer.from(message), privateKey).toString("base64url")}`;
}

/** Only the name of the error is repeated: the response could contain the assertion. */
function classify(response: ApiResponse, call: ApiCall): ProviderFailure | null {
  const usual = failureOf(response, call);
  if (usual === null) return null;
  const { error, error_description: description } = (response.json() ?? {}) as { readonly [name: string]: unknown };
  const code = typeof error === "string" ? error : undefined;
  const message = typeof description === "string" ? description.slice(0, 200) : "";
  const passes = usual.kind === "unavailable" || usual.kind === "rate_limited";
  return new ProviderFailure(
    passes ? usual.kind : "misconfigured",
    `No access token (${response.status} ${code ?? ""}): ${message}`,
    {
      retryAfterMs: usual.retryAfterMs ?? undefined,
      billable: "no",
      providerCode: code,
    },
  );
}

import { parseCookie, stringifySetCookie } from "cookie";
import type { Request, Response } from "express";
import { FermataError } from "../../../core/errors.js";
import type { Clock } from "../../../core/ports/clock.js";
import type { SecretBox } from "../../../core/ports/secret-box.js";
import { isFromOwnPage } from "./same-origin.js";

export interface SessionsDeps {
  readonly secretBox: Pick<SecretBox, "seal" | "open">;
  readonly clock: Pick<Clock, "now">;
  readonly publicUrl: { readonly current: string };
}

interface Sealed<Held> {
  readonly held: Held;
  readonly expiresAt: number;
}

/**
 * Who has signed in at a page: a sealed cookie, so that no process remembers sessions and all of them accept one.
 *
 * The cookie has no path of its own, which makes it that of the address that set it, whatever prefix a proxy adds: set
 * by `PREFIX/admin/v1/session` it is sent to `PREFIX/admin/v1` alone (RFC 6265, section 5.1.4).
 */
export class Sessions<Held> {
  /** @param name of the cookie; what is sealed under another name does not open */
  constructor(
    private readonly name: string,
    private readonly ttlMs: number,
    private readonly deps: SessionsDeps,
  ) {}

  /** @returns when it ends, in milliseconds since 1970 */
  begin(response: Response, held: Held): number {
    const expiresAt = this.deps.clock.now() + this.ttlMs;
    const sealed = seal(this.deps, this.name, { held, expiresAt });
    this.setCookie(response, sealed, Math.floor(this.ttlMs / 1000));
    return expiresAt;
  }

  end(response: Response): void {
    this.setCookie(response, "", 0);
  }

  /** null: no session, one that has ended, or a request that no page of this server sent. */
  async find(request: Request): Promise<Held | null> {
    const { [this.name]: sealed } = parseCookie(request.headers.cookie ?? "");
    if (sealed === undefined || !isFromOwnPage(request, this.deps.publicUrl.current)) return null;
    return open(this.deps, this.name, sealed);
  }

  private setCookie(response: Response, value: string, maxAge: number): void {
    const secure = response.req.secure || this.deps.publicUrl.current.startsWith("https:");
    const { name } = this;
    response.append(
      "Set-Cookie",
      stringifySetCookie({ name, value, httpOnly: true, sameSite: "strict", secure, maxAge }),
    );
  }
}

/** A text that only this installation could write, and until then. @param context what it is good for */
export function seal<Held>({ secretBox }: SessionsDeps, context: string, sealed: Sealed<Held>): string {
  return secretBox.seal(JSON.stringify(sealed), context);
}

/** What was sealed; null when it has expired, or was sealed by another installation or for something else. */
export async function open<Held>(
  { secretBox, clock }: SessionsDeps,
  context: string,
  text: string,
): Promise<Held | null> {
  let opened: string;
  try {
    opened = await secretBox.open(text, context);
  } catch (error) {
    if (FermataError.is(error)) throw error;
    return null;
  }
  const { held, expiresAt } = JSON.parse(opened) as Sealed<Held>;
  return clock.now() < expiresAt ? held : null;
}

import type { JobId } from "../ids.js";
import type { Digest } from "../ports/digest.js";

/** Where the HTTP server takes what providers report. */
export const CALLBACK_PATH = "/callbacks/";

const ATTEMPT_TOKEN = /^([1-9]\d{0,5})\./;

/** What an address for callbacks is about: an attempt by its number; null: whichever attempt of the job is open. */
export type CallbackSubject = { readonly attempt: number | null };

/**
 * Addresses that providers report to, which nobody else can guess: one per attempt, or one per job where the provider
 * recognises a repeated call by its content, which the address is a part of. Whoever knows one is believed to be that
 * provider, or to have seen its traffic; what it says counts only when it is signed besides.
 */
export class CallbackUrls {
  /**
   * @param publicUrl what the world reaches this installation by, without a slash at its end; null: providers are only
   * polled
   */
  constructor(
    private readonly digest: Digest,
    private readonly secret: string,
    private readonly publicUrl: string | null,
  ) {}

  /** Whether the world can reach this installation. */
  get isReachable(): boolean {
    return this.publicUrl !== null;
  }

  urlOf(providerId: string, jobId: JobId, attempt: number | null): string | null {
    if (this.publicUrl === null) return null;
    return `${this.publicUrl}${CALLBACK_PATH}${providerId}/${jobId}/${this.token(providerId, jobId, attempt)}`;
  }

  /** @returns null when the address was not made here */
  read(providerId: string, jobId: JobId, token: string): CallbackSubject | null {
    const [, digits] = ATTEMPT_TOKEN.exec(token) ?? [];
    const attempt = digits === undefined ? null : Number(digits);
    return this.digest.equals(token, this.token(providerId, jobId, attempt)) ? { attempt } : null;
  }

  private token(providerId: string, jobId: JobId, attempt: number | null): string {
    const mac = (about: string): string => this.digest.hmacSha256(this.secret, `callback\n${providerId}\n${about}`);
    return attempt === null ? mac(jobId) : `${attempt}.${mac(`${jobId}\n${attempt}`)}`;
  }
}

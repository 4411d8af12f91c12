import type { JobId } from "../ids.js";
import type { Digest } from "../ports/digest.js";

/** Where the HTTP server takes what providers report. */
export const CALLBACK_PATH = "/callbacks/";

/**
 * Addresses that providers report to: one per job and provider, which nobody else can guess. Whoever knows one is
 * believed to be that provider, or to have seen its traffic; what it says counts only when it is signed besides.
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

  urlOf(providerId: string, jobId: JobId): string | null {
    return this.publicUrl === null ? null : `${this.publicUrl}${CALLBACK_PATH}${providerId}/${jobId}/${this.token(providerId, jobId)}`;
  }

  isToken(providerId: string, jobId: JobId, token: string): boolean {
    return this.digest.equals(token, this.token(providerId, jobId));
  }

  private token(providerId: string, jobId: JobId): string {
    return this.digest.hmacSha256(this.secret, `callback\n${providerId}\n${jobId}`);
  }
}

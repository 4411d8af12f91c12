import type { JobId } from "../ids.js";
import type { Digest } from "../ports/digest.js";
import { type Keyring, NO_KEY_ID, type Subkey } from "../ports/keyring.js";

/** Where the HTTP server takes what providers report. */
export const CALLBACK_PATH = "/callbacks/";

/** The key's id and the signature; tokens of versions without key ids are a signature alone. */
const TOKEN = /^([0-9a-f]{16})-([\w-]{43})$/;

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
    private readonly keyring: Keyring,
    private readonly publicUrl: string | null,
  ) {}

  /** Whether the world can reach this installation. */
  get isReachable(): boolean {
    return this.publicUrl !== null;
  }

  urlOf(providerId: string, jobId: JobId): string | null {
    if (this.publicUrl === null) return null;
    const subkey = this.keyring.current("callback-links");
    const token = `${subkey.id}-${this.signature(subkey, providerId, jobId)}`;
    return `${this.publicUrl}${CALLBACK_PATH}${providerId}/${jobId}/${token}`;
  }

  /**
   * Whether this is the token of an address that was given out and whose key is still in force.
   *
   * @throws {ServiceUnavailableError} its key is unknown here and the storage cannot be asked
   */
  async accepts(providerId: string, jobId: JobId, token: string): Promise<boolean> {
    const [, id = NO_KEY_ID, signature = token] = TOKEN.exec(token) ?? [];
    const subkey = await this.keyring.find("callback-links", id);
    return subkey !== null && this.digest.equals(signature, this.signature(subkey, providerId, jobId));
  }

  private signature({ id, key }: Subkey, providerId: string, jobId: JobId): string {
    // Versions without key ids used one key for everything, and so named the purpose in the text.
    const text = id === NO_KEY_ID ? `callback\n${providerId}\n${jobId}` : `${providerId}\n${jobId}`;
    return this.digest.hmacSha256(key, text);
  }
}

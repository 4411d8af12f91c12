import type { JobId } from "../ids.js";
import type { Digest } from "../ports/digest.js";
import { type Keyring, NO_KEY_ID, type Subkey } from "../ports/keyring.js";

/** Where the HTTP server takes what providers report. */
export const CALLBACK_PATH = "/callbacks/";

/**
 * The number of the attempt, unless the address is the job's; the key's id; the signature. Tokens of versions without
 * key ids are a signature alone.
 */
const TOKEN = /^(?:([1-9]\d{0,5})\.)?([0-9a-f]{16})-([\w-]{43})$/;

/** What an address for callbacks is about: an attempt by its number; null: whichever attempt of the job is open. */
export interface CallbackSubject {
  readonly attempt: number | null;
}

export interface CallbackUrlsDeps {
  readonly digest: Digest;
  readonly keyring: Keyring;
  readonly publicUrl: string | null;
}

/**
 * Addresses that providers report to, which no one else can guess: one per attempt, or one per job where the provider
 * recognises a repeated call by its content, which the address is a part of. A sender that knows one is taken for that
 * provider, or for someone who saw its traffic; what it reports counts only when it is signed as well.
 */
export class CallbackUrls {
  /**
   * @param publicUrl what the world reaches this installation by, without a slash at its end; null: providers are only
   * polled
   */
  constructor(private readonly deps: CallbackUrlsDeps) {}

  /** Whether the world can reach this installation. */
  get isReachable(): boolean {
    return this.deps.publicUrl !== null;
  }

  urlOf(providerId: string, jobId: JobId, attempt: number | null): string | null {
    if (this.deps.publicUrl === null) return null;
    const subkey = this.deps.keyring.current("callback-links");
    const token = `${subkey.id}-${this.signature(subkey, providerId, jobId, attempt)}`;
    const prefix = attempt === null ? "" : `${attempt}.`;
    return `${this.deps.publicUrl}${CALLBACK_PATH}${providerId}/${jobId}/${prefix}${token}`;
  }

  /**
   * What the address of this token is about.
   *
   * @returns null when it was not given out, or its key is no longer in force
   * @throws {ServiceUnavailableError} its key is unknown here and the storage cannot be asked
   */
  async read(providerId: string, jobId: JobId, token: string): Promise<CallbackSubject | null> {
    const [, digits, id = NO_KEY_ID, signature = token] = TOKEN.exec(token) ?? [];
    const attempt = digits === undefined ? null : Number(digits);
    const subkey = await this.deps.keyring.find("callback-links", id);
    if (subkey === null) return null;
    return this.deps.digest.equals(signature, this.signature(subkey, providerId, jobId, attempt)) ? { attempt } : null;
  }

  private signature({ id, key }: Subkey, providerId: string, jobId: JobId, attempt: number | null): string {
    // Versions without key ids used one key for everything, and so named the purpose in the text.
    const text = id === NO_KEY_ID ? `callback\n${providerId}\n${jobId}` : `${providerId}\n${jobId}`;
    return this.deps.digest.hmacSha256(key, attempt === null ? text : `${text}\n${attempt}`);
  }
}

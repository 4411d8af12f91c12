import { isAudioKey } from "../ports/audio-store.js";
import type { Clock } from "../ports/clock.js";
import type { Digest } from "../ports/digest.js";

/** What a signed link turned out to be. */
export type LinkCheck = { readonly state: "valid"; readonly audioKey: string } | { readonly state: "forged" | "expired" };

/** Where the HTTP server serves stored audio. */
export const AUDIO_PATH = "/audio/";

/**
 * Links to stored audio that need no API key: signed, and dead after their time.
 *
 * @see decisions, "Library" (`play_url`)
 */
export class AudioUrls {
  /**
   * @param secret signs the links; changing it kills all that are out
   * @param publicUrl what callers reach this server by, without a slash at its end; asked anew for every link
   */
  constructor(
    private readonly digest: Digest,
    private readonly clock: Clock,
    private readonly secret: string,
    private readonly publicUrl: () => string,
    private readonly ttlMs: number,
  ) {}

  /** @param ttlMs how long the link lives; the configured time by default */
  sign(audioKey: string, ttlMs = this.ttlMs): string {
    const expires = String(Math.ceil((this.clock.now() + ttlMs) / 1000));
    return `${this.publicUrl()}${AUDIO_PATH}${audioKey}?expires=${expires}&signature=${this.signature(audioKey, expires)}`;
  }

  /** Judges a link by its parts. A forged link is never said to be expired. */
  check(audioKey: string, expires: unknown, signature: unknown): LinkCheck {
    if (!isAudioKey(audioKey) || typeof expires !== "string" || typeof signature !== "string") return { state: "forged" };
    if (!/^\d{1,12}$/.test(expires)) return { state: "forged" };
    if (!this.digest.equals(signature, this.signature(audioKey, expires))) return { state: "forged" };
    if (this.clock.now() >= Number(expires) * 1000) return { state: "expired" };
    return { state: "valid", audioKey };
  }

  private signature(audioKey: string, expires: string): string {
    return this.digest.hmacSha256(this.secret, `audio\n${audioKey}\n${expires}`);
  }
}

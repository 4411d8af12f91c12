import { isAudioKey } from "../ports/audio-store.js";
import type { Clock } from "../ports/clock.js";
import type { Digest } from "../ports/digest.js";
import { type Keyring, NO_KEY_ID, type Subkey } from "../ports/keyring.js";
import type { ErasureStore } from "../ports/erasure-store.js";
import type { LibraryStore } from "../ports/library-store.js";

/**
 * What a signed link turned out to be. `revoked`: its track has been unshared since. `gone`: its track has been deleted
 * since, or the file is about to be.
 */
export type LinkCheck =
  | { readonly state: "valid"; readonly audioKey: string }
  | { readonly state: "forged" | "expired" | "revoked" | "gone" };

/** The parts of a link as a client sent them; of `parameters` those of {@link AudioUrls.sign}. */
export interface PresentedLink {
  readonly audioKey: string;
  readonly parameters: Readonly<Record<string, unknown>>;
}

export interface LinkOptions {
  /** How long the link lives, in milliseconds; by default the configured time, and up to a 24th of it longer. */
  readonly ttlMs?: number;
  /** {@link Track.linkGeneration}; left out for files of no track. */
  readonly generation?: number;
}

export interface AudioUrlsDeps {
  readonly digest: Digest;
  readonly clock: Clock;
  readonly keyring: Keyring;
  readonly library: Pick<LibraryStore, "linkGeneration">;
  readonly erasures: Pick<ErasureStore, "isNotedFile">;
  /** What callers reach this server by, without a slash at its end; asked again for every link. */
  readonly publicUrl: () => string;
  readonly ttlMs: number;
}

/** Where the HTTP server serves stored audio. */
export const AUDIO_PATH = "/audio/";

const KEY_ID_PATTERN = /^[0-9a-f]{16}$/;

/** The configured time has so many windows; links that are signed within one of them end together. */
const WINDOWS_PER_TTL = 24;

/**
 * Links to stored audio that need no API key: signed, and dead after their time or when their track is unshared or
 * deleted.
 *
 * @see decisions, "Library" (`play_url`)
 */
export class AudioUrls {
  constructor(private readonly deps: AudioUrlsDeps) {}

  /**
   * A link to a stored file, beginning with `http.publicUrl`. Every client that has it can fetch the file. Within a
   * window of time the link to a file is always the same, unless `ttlMs` is given: responses with it stay the same too.
   *
   * @param audioKey of an asset of a track, or of an output of a split
   */
  sign(audioKey: string, { ttlMs, generation }: LinkOptions = {}): string {
    const expires = String(this.endOf(ttlMs));
    const subkey = this.deps.keyring.current("audio-links");
    const counter = generation === undefined ? null : String(generation);
    const signature = this.signature(subkey, { audioKey, expires, generation: counter });
    const parameters = [
      `expires=${expires}`,
      `signature=${signature}`,
      `key=${subkey.id}`,
      ...(counter === null ? [] : [`generation=${counter}`]),
    ];
    return `${this.deps.publicUrl()}${AUDIO_PATH}${audioKey}?${parameters.join("&")}`;
  }

  /** While this stays the same, {@link sign} makes the same link of the same file and generation. */
  period(): string {
    return `${this.endOf(undefined)} ${this.deps.keyring.current("audio-links").id} ${this.deps.publicUrl()}`;
  }

  /**
   * Checks a link by its parts. A forged link is never said to be expired. Reads the storage for links that are
   * otherwise valid: one indexed row, and a second one for files of no track.
   *
   * @throws {ServiceUnavailableError} the storage cannot be asked
   */
  async check({ audioKey, parameters }: PresentedLink): Promise<LinkCheck> {
    const { expires, signature, key, generation = null } = parameters;
    if (!isAudioKey(audioKey) || typeof expires !== "string" || typeof signature !== "string") return FORGED;
    if (key !== undefined && (typeof key !== "string" || !KEY_ID_PATTERN.test(key))) return FORGED;
    if (!/^\d{1,12}$/.test(expires)) return FORGED;
    if (generation !== null && (typeof generation !== "string" || !/^\d{1,9}$/.test(generation))) return FORGED;
    const subkey = await this.deps.keyring.find("audio-links", key ?? NO_KEY_ID);
    if (subkey === null) return FORGED;
    const expected = this.signature(subkey, { audioKey, expires, generation });
    if (!this.deps.digest.equals(signature, expected)) return FORGED;
    if (this.deps.clock.now() >= Number(expires) * 1000) return { state: "expired" };
    return this.checkGeneration(audioKey, generation);
  }

  /** In whole seconds since 1970. */
  private endOf(ttlMs: number | undefined): number {
    const now = this.deps.clock.now();
    if (ttlMs !== undefined) return Math.ceil((now + ttlMs) / 1000);
    const windowSeconds = Math.max(1, Math.floor(this.deps.ttlMs / 1000 / WINDOWS_PER_TTL));
    return Math.ceil((now + this.deps.ttlMs) / 1000 / windowSeconds) * windowSeconds;
  }

  /** A file of no track has no generation. Links of versions without generations count as the first one, 0. */
  private async checkGeneration(audioKey: string, generation: string | null): Promise<LinkCheck> {
    const current = await this.deps.library.linkGeneration(audioKey);
    if (current !== null) return current === Number(generation ?? 0) ? { state: "valid", audioKey } : REVOKED;
    const isGone = generation !== null || (await this.deps.erasures.isNotedFile(audioKey));
    return isGone ? GONE : { state: "valid", audioKey };
  }

  private signature({ id, key }: Subkey, { audioKey, expires, generation }: SignedParts): string {
    // Versions without key ids signed so, and signed no generation.
    const text =
      id === NO_KEY_ID && generation === null
        ? `audio\n${audioKey}\n${expires}`
        : `${audioKey}\n${expires}\n${generation ?? "-"}`;
    return this.deps.digest.hmacSha256(key, text);
  }
}

interface SignedParts {
  readonly audioKey: string;
  readonly expires: string;
  readonly generation: string | null;
}

const FORGED: LinkCheck = { state: "forged" };
const REVOKED: LinkCheck = { state: "revoked" };
const GONE: LinkCheck = { state: "gone" };

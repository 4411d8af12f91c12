import type { Random } from "../ports/random.js";
import type { Track } from "./track.js";

/** Where the HTTP server shows shared tracks. */
export const SHARE_PATH = "/share/";

const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
/** 131 bits: not to be found by guessing. */
const TOKEN_LENGTH = 22;
const TOKEN_PATTERN = /^[0-9A-Za-z]{22}$/;
/** Some are thrown away, so that every character is equally likely. */
const RANDOM_BYTES = 64;

/** A token that no track was ever shared under: each sharing gets a new one, so that taking it back holds for good. */
export function newShareToken(random: Pick<Random, "bytes">): string {
  let token = "";
  while (token.length < TOKEN_LENGTH) {
    for (const byte of random.bytes(RANDOM_BYTES)) {
      const unbiased = byte < 256 - (256 % ALPHABET.length);
      if (unbiased && token.length < TOKEN_LENGTH) token += ALPHABET[byte % ALPHABET.length];
    }
  }
  return token;
}

/** True when `text` has the form of a token; nothing else is looked up. */
export function isShareToken(text: string): boolean {
  return TOKEN_PATTERN.test(text);
}

/**
 * Addresses of the public pages of shared tracks.
 *
 * @see decisions, "Library" (`share_url`)
 */
export class ShareUrls {
  /** @param publicUrl what callers reach this server by, without a slash at its end; read again for every address */
  constructor(private readonly publicUrl: () => string) {}

  /** The page of a track; null while it is not shared. */
  urlOf({ shareToken }: Pick<Track, "shareToken">): string | null {
    return shareToken === null ? null : `${this.publicUrl()}${SHARE_PATH}${shareToken}`;
  }
}

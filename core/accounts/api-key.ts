/**
 * The form of an API key: `frm_`, 40 random base-62 characters (238 bits), 6 characters of checksum. A key that was
 * mistyped or invented is refused without reading the storage, and secret scanners recognise it by
 * {@link API_KEY_PATTERN}.
 */
export const API_KEY_PATTERN = /^frm_[0-9A-Za-z]{46}$/;

const PREFIX = "frm_";
const BEHIND_PREFIX = /^[0-9A-Za-z]{46}$/;
const RANDOM_LENGTH = 40;
const CHECKSUM_LENGTH = 6;
const SHOWN_LENGTH = 12;
const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/**
 * How many random bytes {@link makeToken} reads at the most: some are thrown away so that every character is equally
 * likely.
 */
export const TOKEN_RANDOM_BYTES = 128;

/** Builds a token from unpredictable bytes. */
export function makeToken(randomBytes: (count: number) => Uint8Array, prefix = PREFIX): string {
  let random = "";
  while (random.length < RANDOM_LENGTH) {
    for (const byte of randomBytes(TOKEN_RANDOM_BYTES)) {
      const unbiased = byte < 256 - (256 % ALPHABET.length);
      if (unbiased && random.length < RANDOM_LENGTH) random += ALPHABET[byte % ALPHABET.length];
    }
  }
  return `${prefix}${random}${checksum(random)}`;
}

/** True when `token` has the form of a key, or of another token with this prefix, and its checksum fits. */
export function isWellFormedToken(token: string, prefix = PREFIX): boolean {
  if (!token.startsWith(prefix) || !BEHIND_PREFIX.test(token.slice(prefix.length))) return false;
  const random = token.slice(prefix.length, prefix.length + RANDOM_LENGTH);
  return token.endsWith(checksum(random));
}

/** The part of a token that lists may show. */
export function shownPrefixOf(token: string): string {
  return token.slice(0, SHOWN_LENGTH);
}

const CRC_TABLE = Uint32Array.from({ length: 256 }, (_, index) => {
  let value = index;
  for (let bit = 0; bit < 8; bit++) value = value & 1 ? 0xedb88320 ^ (value >>> 1) : value >>> 1;
  return value;
});

/** CRC-32 (ISO 3309) of the ASCII text, in base 62. */
function checksum(text: string): string {
  let crc = 0xffffffff;
  for (let index = 0; index < text.length; index++) {
    crc = (CRC_TABLE[(crc ^ text.charCodeAt(index)) & 0xff] ?? 0) ^ (crc >>> 8);
  }
  let value = (crc ^ 0xffffffff) >>> 0;
  let digits = "";
  for (let index = 0; index < CHECKSUM_LENGTH; index++) {
    digits = (ALPHABET[value % ALPHABET.length] ?? "") + digits;
    value = Math.floor(value / ALPHABET.length);
  }
  return digits;
}

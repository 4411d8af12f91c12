/** A stored file. */
export interface StoredAudio {
  readonly sizeBytes: number;
  /** Changes whenever the bytes do; visible ASCII without quotes. */
  readonly etag: string;
  /** Milliseconds since 1970. */
  readonly modifiedAt: number;
}

/** A stored file as a list shows it. */
export interface ListedAudio extends Pick<StoredAudio, "sizeBytes" | "modifiedAt"> {
  readonly key: string;
}

/** What a link to a stored file gives. */
export interface AudioLink {
  /** Milliseconds since 1970; a store that cannot promise so long a life gives a shorter one. */
  readonly expiresAt: number;
  /** What the file is said to be. */
  readonly contentType: string;
}

/**
 * Files of tracks. A key is lower-case segments of letters, digits, `_`, `-` and `.`, joined by `/`; its ending names
 * the type. What is stored under a key is whole or absent: a reader never sees a part of it. A store that cannot be
 * reached throws {@link ServiceUnavailableError}: callers of the API get a 503. Selected by `audio.url`; the override
 * `audio` of `compose` replaces it.
 */
export interface AudioStore {
  /**
   * Stores bytes in place of an earlier file. When it fails, or the source does, the earlier file stays.
   *
   * @throws {AudioTooLargeError} the source holds more than `maxBytes`
   */
  put(key: string, source: Uint8Array | AsyncIterable<Uint8Array>, maxBytes: number): Promise<StoredAudio>;
  /** null when nothing is stored there. */
  stat(key: string): Promise<StoredAudio | null>;
  /**
   * The bytes from `start` to `end`, both included; all of them without a range. Throws while being read when the file
   * is gone.
   */
  read(key: string, range?: { readonly start: number; readonly end: number }): AsyncIterable<Uint8Array>;
  /** Deletes all files under keys that begin with `prefix` and a `/`; without any it succeeds. */
  deleteAll(prefix: string): Promise<void>;
  /** Deletes the file under this key; without one it succeeds. */
  delete(key: string): Promise<void>;
  /**
   * What is stored, in the order of the keys (byte by byte), from the first key behind `after`: fewer than `limit` when
   * there is no more. A file that is stored or deleted meanwhile may be in the list or not; what has no key is left
   * out.
   *
   * @param after null: from the beginning; it need not be a key that is stored
   */
  list(after: string | null, limit: number): Promise<ListedAudio[]>;
  /**
   * A link with which any client can read the file, and ranges of it, until it expires; the store does not check that
   * the file exists. Left out by a store without links: this server then serves all audio.
   */
  readonly linkTo?: (key: string, link: AudioLink) => Promise<string>;
  /** Called once, when nothing uses the store any more. Left out: there is nothing to close. */
  readonly close?: () => void | Promise<void>;
}

export class AudioTooLargeError extends Error {
  override readonly name = "AudioTooLargeError";
  constructor(maxBytes: number) {
    super(`The audio is larger than ${maxBytes} bytes.`);
  }
}

const KEY = /^[a-z0-9_][a-z0-9_.-]*(\/[a-z0-9_][a-z0-9_.-]*)*$/;

/** True when `key` can be stored; everything else never reaches a file system. */
export function isAudioKey(key: string): boolean {
  return key.length <= 200 && KEY.test(key);
}

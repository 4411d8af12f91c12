import { assert } from "../../../core/assert.js";
import { type AudioStore, AudioTooLargeError, isAudioKey } from "../../../core/ports/audio-store.js";
import type { ListedAudio, StoredAudio } from "../../../core/ports/audio-store.js";
import type { Clock } from "../../../core/ports/clock.js";

interface StoredFile extends StoredAudio {
  readonly bytes: Uint8Array;
}

/**
 * Keeps files in memory in place of a folder or a bucket, without links of its own. It keeps the contract of audio
 * stores.
 *
 * @example
 * const audio = new MemoryAudioStore();
 * await audio.put("trk_1/mix.mp3", tinyMp3(), 1_000_000);
 * assert.deepEqual(audio.keys, ["trk_1/mix.mp3"]);
 */
export class MemoryAudioStore implements AudioStore {
  private readonly files = new Map<string, StoredFile>();
  private versions = 0;

  /** @param clock for the times of storage; the system's by default */
  constructor(private readonly clock: Pick<Clock, "now"> = { now: () => Date.now() }) {}

  /** The keys of all files, in their order. */
  get keys(): readonly string[] {
    return [...this.files.keys()].sort();
  }

  async put(key: string, source: Uint8Array | AsyncIterable<Uint8Array>, maxBytes: number): Promise<StoredAudio> {
    requireKey(key);
    const bytes = await readAtMost(source instanceof Uint8Array ? [source] : source, maxBytes);
    this.versions += 1;
    const stored = { sizeBytes: bytes.length, etag: String(this.versions), modifiedAt: this.clock.now() };
    this.files.set(key, { ...stored, bytes });
    return stored;
  }

  async stat(key: string): Promise<StoredAudio | null> {
    requireKey(key);
    const file = this.files.get(key);
    return file === undefined ? null : { sizeBytes: file.sizeBytes, etag: file.etag, modifiedAt: file.modifiedAt };
  }

  async *read(key: string, range?: { readonly start: number; readonly end: number }): AsyncIterable<Uint8Array> {
    requireKey(key);
    const file = this.files.get(key);
    if (file === undefined) throw new Error(`No audio is stored under ${key}.`);
    yield range === undefined ? file.bytes : file.bytes.subarray(range.start, range.end + 1);
  }

  async deleteAll(prefix: string): Promise<void> {
    requireKey(prefix);
    for (const key of this.keys) if (key.startsWith(`${prefix}/`)) this.files.delete(key);
  }

  async delete(key: string): Promise<void> {
    requireKey(key);
    this.files.delete(key);
  }

  async list(after: string | null, limit: number): Promise<ListedAudio[]> {
    const keys = this.keys.filter((key) => after === null || key > after).slice(0, limit);
    return keys.flatMap((key) => {
      const file = this.files.get(key);
      return file === undefined ? [] : [{ key, sizeBytes: file.sizeBytes, modifiedAt: file.modifiedAt }];
    });
  }
}

function requireKey(key: string): void {
  assert(isAudioKey(key), "an audio key is lower-case segments of letters, digits, _, - and .");
}

async function readAtMost(
  source: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
  maxBytes: number,
): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of source) {
    size += chunk.length;
    if (size > maxBytes) throw new AudioTooLargeError(maxBytes);
    chunks.push(chunk);
  }
  return new Uint8Array(Buffer.concat(chunks));
}

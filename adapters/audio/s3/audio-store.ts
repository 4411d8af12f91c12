import type { Readable } from "node:stream";
import {
  DeleteObjectCommand,
  GetObjectCommand,
  type GetObjectCommandInput,
  HeadObjectCommand,
  ListObjectsV2Command,
  type S3Client,
} from "@aws-sdk/client-s3";
import { getSignedUrl } from "@aws-sdk/s3-request-presigner";
import { assert } from "../../../core/assert.js";
import { AudioTooLargeError, isAudioKey } from "../../../core/ports/audio-store.js";
import type { AudioLink, AudioStore, ListedAudio, StoredAudio } from "../../../core/ports/audio-store.js";
import type { Clock } from "../../../core/ports/clock.js";
import {
  clientFor,
  isMissing,
  S3_TIMEOUTS,
  type S3Agents,
  type S3Credentials,
  type S3Timeouts,
  unavailable,
} from "./client.js";
import { readS3Url, type S3Place } from "./s3-url.js";
import { upload } from "./upload.js";

/** No signature lives longer (Signature Version 4). */
const LINK_SECONDS_MAX = 7 * 86_400;

/** Links of one file that are created within this time are equal, so that browsers can use their caches. */
const LINK_STEP_MS = 3_600_000;

/** Objects are deleted one by one, which every server understands, but so many at once. */
const DELETIONS_MAX = 8;

export interface S3Options {
  /** As in `audio.url`. */
  readonly url: string;
  /** null: as the SDK finds them. */
  readonly credentials?: S3Credentials | null;
  /** Whether listeners are redirected to the bucket; true by default. */
  readonly givesLinks?: boolean;
  readonly timeouts?: Partial<S3Timeouts>;
  /** Says when links are signed. */
  readonly clock: Clock;
  readonly agents: S3Agents;
}

/**
 * Objects in one bucket of any server that speaks S3. What has a name was stored completely before it got it. A failure
 * of the server is a {@link ServiceUnavailableError}, of any kind: its cause says what the operator has to fix.
 */
export class S3AudioStore implements AudioStore {
  readonly linkTo?: (key: string, link: AudioLink) => Promise<string>;
  private readonly place: S3Place;
  private readonly client: S3Client;
  private readonly timeouts: S3Timeouts;
  private readonly clock: Clock;

  /** Connects when it is used. @throws {Error} the URL cannot be read */
  constructor({ url, credentials = null, givesLinks = true, timeouts, clock, agents }: S3Options) {
    this.place = readS3Url(url);
    this.clock = clock;
    this.timeouts = { ...S3_TIMEOUTS, ...timeouts };
    this.client = clientFor(this.place, credentials, this.timeouts, agents);
    if (givesLinks) this.linkTo = (key, link) => this.sign(key, link);
  }

  async put(key: string, source: Uint8Array | AsyncIterable<Uint8Array>, maxBytes: number): Promise<StoredAudio> {
    const target = { ...this.objectOf(key), ContentType: contentTypeOf(key) };
    let sourceError: { readonly error: unknown } | null = null;
    const watched = source instanceof Uint8Array ? source : watch(source, (error) => (sourceError = { error }));
    try {
      await upload(this.client, target, watched, maxBytes);
    } catch (error) {
      // A failure of the source, or a file that is too large, is not a failure of the bucket.
      if (sourceError !== null || error instanceof AudioTooLargeError) throw error;
      throw unavailable(this.place.bucket, error);
    }
    // OpenStack Swift may find nothing for a moment while another writer replaces the object.
    const stored = (await this.stat(key)) ?? (await this.stat(key));
    if (stored === null) throw new Error(`The audio ${key} was deleted while it was stored.`);
    return stored;
  }

  async stat(key: string): Promise<StoredAudio | null> {
    const object = this.objectOf(key);
    try {
      const { ContentLength = 0, ETag = "", LastModified } = await this.client.send(new HeadObjectCommand(object));
      return { sizeBytes: ContentLength, etag: ETag.replace(/^W\/|"/g, ""), modifiedAt: LastModified?.getTime() ?? 0 };
    } catch (error) {
      if (isMissing(error)) return null;
      throw unavailable(this.place.bucket, error);
    }
  }

  async *read(key: string, range?: { readonly start: number; readonly end: number }): AsyncIterable<Uint8Array> {
    const body = await this.get(
      { ...this.objectOf(key), ...(range === undefined ? {} : { Range: `bytes=${range.start}-${range.end}` }) },
      key,
    );
    // The timeout runs only during a pending read: a slow reader does not trigger it.
    let timer: NodeJS.Timeout | undefined;
    const iterator = body[Symbol.asyncIterator]() as AsyncIterableIterator<Uint8Array>;
    try {
      for (;;) {
        timer = setTimeout(
          () => body.destroy(new Error(`nothing came for ${this.timeouts.idleMs} ms`)),
          this.timeouts.idleMs,
        );
        const next = await iterator.next();
        clearTimeout(timer);
        if (next.done === true) return;
        yield next.value;
      }
    } catch (error) {
      throw unavailable(this.place.bucket, error);
    } finally {
      clearTimeout(timer);
      body.destroy();
    }
  }

  async deleteAll(prefix: string): Promise<void> {
    const { Bucket, Key } = this.objectOf(prefix);
    try {
      for (let token: string | undefined; ;) {
        const { Contents = [], NextContinuationToken } = await this.client.send(
          new ListObjectsV2Command({
            Bucket,
            Prefix: `${Key}/`,
            ...(token === undefined ? {} : { ContinuationToken: token }),
          }),
        );
        const left = Contents.map((object) => object.Key as string);
        const deleteLeft = async (): Promise<void> => {
          for (let name = left.pop(); name !== undefined; name = left.pop())
            await this.client.send(new DeleteObjectCommand({ Bucket, Key: name }));
        };
        await Promise.all(Array.from({ length: DELETIONS_MAX }, deleteLeft));
        if (NextContinuationToken === undefined) return;
        token = NextContinuationToken;
      }
    } catch (error) {
      throw unavailable(this.place.bucket, error);
    }
  }

  async delete(key: string): Promise<void> {
    try {
      await this.client.send(new DeleteObjectCommand(this.objectOf(key)));
    } catch (error) {
      throw unavailable(this.place.bucket, error);
    }
  }

  async list(after: string | null, limit: number): Promise<ListedAudio[]> {
    const { bucket: Bucket, prefix } = this.place;
    const before = prefix === "" ? "" : `${prefix}/`;
    const listed: ListedAudio[] = [];
    let start = after;
    try {
      while (listed.length < limit) {
        const { Contents = [], IsTruncated } = await this.client.send(
          new ListObjectsV2Command({
            Bucket,
            Prefix: before,
            MaxKeys: limit - listed.length,
            ...(start === null ? {} : { StartAfter: `${before}${start}` }),
          }),
        );
        for (const { Key = "", Size = 0, LastModified } of Contents) {
          const key = Key.slice(before.length);
          if (isAudioKey(key)) listed.push({ key, sizeBytes: Size, modifiedAt: LastModified?.getTime() ?? 0 });
          start = key;
        }
        if (IsTruncated !== true || Contents.length === 0) break;
      }
      return listed;
    } catch (error) {
      throw unavailable(this.place.bucket, error);
    }
  }

  /** Ends its connections. */
  close(): void {
    this.client.destroy();
  }

  private async sign(key: string, { expiresAt, contentType }: AudioLink): Promise<string> {
    const now = this.clock.now();
    const signedAt = now - (now % LINK_STEP_MS);
    const seconds = Math.min(LINK_SECONDS_MAX, Math.max(1, Math.ceil((expiresAt - signedAt) / 1000)));
    const command = new GetObjectCommand({ ...this.objectOf(key), ResponseContentType: contentType });
    try {
      return await getSignedUrl(this.client, command, { expiresIn: seconds, signingDate: new Date(signedAt) });
    } catch (error) {
      throw unavailable(this.place.bucket, error);
    }
  }

  private async get(input: GetObjectCommandInput, key: string): Promise<Readable> {
    try {
      return (await this.client.send(new GetObjectCommand(input))).Body as Readable;
    } catch (error) {
      if (isMissing(error)) throw new Error(`There is no audio ${key}.`, { cause: error });
      throw unavailable(this.place.bucket, error);
    }
  }

  private objectOf(key: string): { readonly Bucket: string; readonly Key: string } {
    assert(isAudioKey(key), "an audio key is lower-case segments of letters, digits, _, - and .");
    const { bucket, prefix } = this.place;
    return { Bucket: bucket, Key: prefix === "" ? key : `${prefix}/${key}` };
  }
}

async function* watch(
  source: AsyncIterable<Uint8Array>,
  onError: (error: unknown) => void,
): AsyncGenerator<Uint8Array> {
  try {
    yield* source;
  } catch (error) {
    onError(error);
    throw error;
  }
}

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  mp3: "audio/mpeg",
  wav: "audio/wav",
  flac: "audio/flac",
  ogg: "audio/ogg",
  m4a: "audio/mp4",
  png: "image/png",
  jpg: "image/jpeg",
  webp: "image/webp",
};

function contentTypeOf(key: string): string {
  return CONTENT_TYPES[key.slice(key.lastIndexOf(".") + 1)] ?? "application/octet-stream";
}

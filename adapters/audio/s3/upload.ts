import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  type CompletedPart,
  CreateMultipartUploadCommand,
  PutObjectCommand,
  type S3Client,
  UploadPartCommand,
} from "@aws-sdk/client-s3";
import { assert } from "../../../core/assert.js";
import { AudioTooLargeError } from "../../../core/ports/audio-store.js";

/** S3 takes parts from 5 MiB on, and 10,000 of them. Nothing is read while one is sent: two at most are in memory. */
export const PART_BYTES = 8 * 1024 * 1024;

export interface Target {
  readonly Bucket: string;
  readonly Key: string;
  readonly ContentType: string;
}

/**
 * Stores an object, whole or not at all: a small one with one request, a large one in parts that become an object when
 * all are there.
 *
 * @throws {AudioTooLargeError} nothing was stored; nor was it when the source throws
 */
export async function upload(
  client: S3Client,
  target: Target,
  source: Uint8Array | AsyncIterable<Uint8Array>,
  maxBytes: number,
): Promise<void> {
  const parts = partsOf(source instanceof Uint8Array ? [source] : source, maxBytes);
  try {
    let next = await parts.next();
    assert(next.done !== true, "even an empty source has a part");
    if (next.value.length < PART_BYTES)
      return void (await client.send(new PutObjectCommand({ ...target, Body: next.value })));
    const parted = await PartedUpload.begin(client, target);
    try {
      // The only name that a part has: one that was sent must not be kept.
      for (; next.done !== true; next = await parts.next()) await parted.add(next.value);
      await parted.complete();
    } catch (error) {
      await parted.abort();
      throw error;
    }
  } finally {
    await parts.return();
  }
}

class PartedUpload {
  private readonly parts: CompletedPart[] = [];

  private constructor(
    private readonly client: S3Client,
    private readonly upload: { readonly Bucket: string; readonly Key: string; readonly UploadId: string | undefined },
  ) {}

  static async begin(client: S3Client, target: Target): Promise<PartedUpload> {
    const { UploadId } = await client.send(new CreateMultipartUploadCommand(target));
    return new PartedUpload(client, { Bucket: target.Bucket, Key: target.Key, UploadId });
  }

  async add(Body: Buffer): Promise<void> {
    const PartNumber = this.parts.length + 1;
    const { ETag } = await this.client.send(new UploadPartCommand({ ...this.upload, PartNumber, Body }));
    this.parts.push({ PartNumber, ETag });
  }

  async complete(): Promise<void> {
    await this.client.send(
      new CompleteMultipartUploadCommand({ ...this.upload, MultipartUpload: { Parts: this.parts } }),
    );
  }

  /**
   * What cannot be aborted is left to the bucket's own rule for unfinished uploads: the reason of the abort is the
   * error to report.
   */
  async abort(): Promise<void> {
    await this.client.send(new AbortMultipartUploadCommand(this.upload)).catch(() => undefined);
  }
}

/** The source in parts of one size, but for the last; an empty one has one part without bytes. */
async function* partsOf(
  source: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
  maxBytes: number,
): AsyncGenerator<Buffer, void, void> {
  let part = Buffer.allocUnsafeSlow(PART_BYTES);
  let [filled, sizeBytes, count] = [0, 0, 0];
  for await (const chunk of source) {
    sizeBytes += chunk.byteLength;
    if (sizeBytes > maxBytes) throw new AudioTooLargeError(maxBytes);
    for (let at = 0; at < chunk.byteLength;) {
      if (filled === PART_BYTES) {
        yield part;
        count += 1;
        [part, filled] = [Buffer.allocUnsafeSlow(PART_BYTES), 0];
      }
      const slice = chunk.subarray(at, at + PART_BYTES - filled);
      part.set(slice, filled);
      filled += slice.byteLength;
      at += slice.byteLength;
    }
  }
  if (filled > 0 || count === 0) yield part.subarray(0, filled);
}

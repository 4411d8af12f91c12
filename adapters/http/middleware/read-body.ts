import type { Request } from "express";
import { PayloadTooLargeError } from "../../../core/errors.js";
import type { BodyShare } from "../connections/body-budget.js";
import { contextOf } from "../request-context.js";

const FIRST_CAPACITY_BYTES = 1024;

/**
 * The whole body; null when the client went away before its end.
 *
 * @throws {PayloadTooLargeError} it is larger than `limitBytes`
 * @throws {RateLimitedError} {@link ServiceUnavailableError} bodies that still arrive hold too much memory
 *   After each of these, what still comes is read and dropped, so that the client sees the response.
 */
export function readBody(request: Request, limitBytes: number): Promise<Buffer | null> {
  const context = contextOf(request);
  if (hasArrived(request)) return arrivedBody(request, limitBytes);
  const share = context.lifecycle.bodies.open(request.ip);
  const collected = new CollectedBody(share, limitBytes);
  return new Promise<Buffer | null>((resolve, reject) => {
    const announced = Number(request.headers["content-length"] ?? 0);
    let isRefused = false;
    const refuse = (error: Error): void => {
      isRefused = true;
      collected.drop();
      reject(error);
    };
    if (announced > limitBytes) refuse(new PayloadTooLargeError(limitBytes));
    let size = 0;
    request.on("data", (chunk: Buffer) => {
      size += chunk.byteLength;
      if (isRefused) return;
      try {
        collected.add(chunk);
      } catch (error) {
        refuse(error as Error);
      }
    });
    request.on("end", () => {
      context.bytesRead = size;
      resolve(collected.bytes);
    });
    request.on("error", () => resolve(null));
    request.on("close", () => resolve(null));
  }).finally(() => share.release());
}

/** Whether all of the body is in memory, as that of most requests is: it came in the packet of its headers. */
function hasArrived({ complete, destroyed, readableFlowing, readableLength, headers }: Request): boolean {
  if (destroyed || readableFlowing !== null) return false;
  return complete || headers["content-length"] === String(readableLength);
}

async function arrivedBody(request: Request, limitBytes: number): Promise<Buffer> {
  const bytes = (request.read() as Buffer | null) ?? Buffer.alloc(0);
  contextOf(request).bytesRead = bytes.byteLength;
  request.resume(); // to its end
  if (bytes.byteLength > limitBytes) throw new PayloadTooLargeError(limitBytes);
  return bytes;
}

/** Copies chunks together as they come: a body sent byte by byte would hold a hundred bytes of memory for each. */
class CollectedBody {
  private buffer = Buffer.alloc(0);
  private size = 0;

  constructor(
    private readonly share: BodyShare,
    private readonly limitBytes: number,
  ) {}

  /** @throws {PayloadTooLargeError} {@link RateLimitedError} {@link ServiceUnavailableError} it is not added */
  add(chunk: Buffer): void {
    const size = this.size + chunk.byteLength;
    if (size > this.limitBytes) throw new PayloadTooLargeError(this.limitBytes);
    if (size > this.buffer.byteLength) this.grow(size);
    chunk.copy(this.buffer, this.size);
    this.size = size;
  }

  get bytes(): Buffer {
    return this.buffer.subarray(0, this.size);
  }

  /** Gives up what was collected; the rest of the body may take its time. */
  drop(): void {
    this.buffer = Buffer.alloc(0);
    this.size = 0;
  }

  private grow(neededBytes: number): void {
    const doubled = Math.max(FIRST_CAPACITY_BYTES, this.buffer.byteLength * 2);
    const capacity = Math.max(neededBytes, Math.min(this.limitBytes, doubled));
    this.share.grow(capacity - this.buffer.byteLength);
    const larger = Buffer.allocUnsafeSlow(capacity);
    this.buffer.copy(larger, 0, 0, this.size);
    this.buffer = larger;
  }
}

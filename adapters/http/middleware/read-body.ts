import type { Request } from "express";
import { PayloadTooLargeError } from "../../../core/errors.js";
import { exchangeOf } from "../exchange.js";

/**
 * The whole body; null when the client went away before its end.
 *
 * @throws {PayloadTooLargeError} it is larger than `limitBytes`; what still comes is read and dropped, so that the client sees the answer
 */
export function readBody(request: Request, limitBytes: number): Promise<Buffer | null> {
  return new Promise((resolve, reject) => {
    const announced = Number(request.headers["content-length"] ?? 0);
    if (announced > limitBytes) reject(new PayloadTooLargeError(limitBytes));
    const chunks: Buffer[] = [];
    let size = 0;
    request.on("data", (chunk: Buffer) => {
      size += chunk.byteLength;
      if (size <= limitBytes) chunks.push(chunk);
      else reject(new PayloadTooLargeError(limitBytes));
    });
    request.on("end", () => {
      exchangeOf(request).bytesRead = size;
      resolve(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks));
    });
    request.on("error", () => resolve(null));
    request.on("close", () => resolve(null));
  });
}

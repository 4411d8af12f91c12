import type { Request } from "express";
import type { Track } from "../../core/library/track.js";
import type { UploadTrack } from "../../core/library/upload-track.js";
import { openAudioForm } from "./audio-form.js";
import { resetBodyTime } from "./connections/body-time.js";
import { contextOf } from "./request-context.js";

/** What one upload holds of memory while it arrives: chunks on their way, and what decodes the file. */
const HELD_BYTES = 256 * 1024;

/**
 * Stores the file of a form as a track.
 *
 * @param accountId whom it is to belong to
 */
export async function uploadTrack(
  request: Request,
  uploads: Pick<UploadTrack, "execute">,
  accountId: string,
): Promise<Track> {
  const context = contextOf(request);
  const { deps, lifecycle } = context;
  // An app around this router has read the body: it never comes.
  if (request.readableEnded) throw new Error("The body of an upload was read before it came to this router.");
  const share = lifecycle.bodies.open(request.ip);
  let bytesRead = 0;
  const count = (chunk: Buffer): void => void (bytesRead += chunk.byteLength);
  try {
    share.grow(HELD_BYTES);
    resetBodyTime(request, deps.settings.uploads.timeoutMs);
    request.on("data", count);
    const { audio, title } = await openAudioForm(request);
    const contentLength = request.headers["content-length"];
    const sizeBytes = contentLength === undefined ? null : Number(contentLength);
    return await uploads.execute({ accountId, audio, sizeBytes, title });
  } finally {
    context.bytesRead = bytesRead;
    resetBodyTime(request, deps.settings.connections.requestTimeoutMs);
    share.release();
  }
}

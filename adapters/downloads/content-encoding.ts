import { pipeline, Readable, type Transform } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";
import { ProviderFailure } from "../../core/ports/music-provider.js";
import { type DownloadResponse, failure } from "./response.js";

/** What servers send although they were asked for the file as it is. */
const DECODERS: Readonly<Record<string, () => Transform>> = {
  gzip: createGunzip,
  "x-gzip": createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
};

/** `aws-chunked` is how a file was once sent to an object store; it is stored without, and only the word stays. */
const NO_CODING: ReadonlySet<string> = new Set(["", "identity", "aws-chunked"]);

/** The decoded file. @throws {ProviderFailure} `failed`: an unsupported content coding */
export function unpacked(
  bytes: AsyncGenerator<Uint8Array>,
  { headers, url, body }: DownloadResponse,
): AsyncIterable<Uint8Array> {
  const codings = (headers.get("content-encoding") ?? "")
    .toLowerCase()
    .split(",")
    .map((coding) => coding.trim())
    .filter((coding) => !NO_CODING.has(coding));
  const [coding] = codings;
  if (coding === undefined) return bytes;
  // The provider chooses the word: it may be the name of what every object has.
  const decoder = Object.hasOwn(DECODERS, coding) ? DECODERS[coding] : undefined;
  if (decoder !== undefined && codings.length === 1) return decodedBy(decoder(), bytes, url);
  body.destroy();
  throw failure(
    "failed",
    url,
    `it came as ${codings
      .join(", ")
      .replace(/[^\x20-\x7e]/g, "?")
      .slice(0, 60)}`,
  );
}

async function* decodedBy(decoder: Transform, bytes: AsyncIterable<Uint8Array>, url: URL): AsyncGenerator<Uint8Array> {
  // The error of either side comes out where the decoder is read.
  const output = pipeline(Readable.from(bytes, { objectMode: false }), decoder, () => undefined);
  try {
    yield* output as AsyncIterable<Uint8Array>;
  } catch (cause) {
    if (ProviderFailure.is(cause)) throw cause;
    throw failure("failed", url, "it cannot be unpacked", { cause });
  }
}

import { createRequire } from "node:module";
import type { WavFile } from "./wav.js";

const CHANNELS = 2;
const BITS = 16;
/** libFLAC's own default: level 8 takes three times as long and saves 3 % more. */
const COMPRESSION_LEVEL = 5;
const ENCODE_CHUNK = 1 << 16;
/** Where a file has the MD5 of its samples: STREAMINFO is its first block (RFC 9639, sections 8.1 and 8.2). */
const MD5_OFFSET = 26;

/** What is used of libflacjs. */
interface LibFlac {
  isReady(): boolean;
  on(event: "ready", listener: () => void): void;
  create_libflac_encoder(
    sampleRate: number,
    channels: number,
    bits: number,
    level: number,
    totalFrames: number,
    verify: boolean,
  ): number;
  init_encoder_stream(
    encoder: number,
    write: (bytes: Uint8Array) => void,
    end: (metadata: { readonly md5sum: string }) => void,
  ): number;
  FLAC__stream_encoder_process_interleaved(encoder: number, samples: Int32Array, frames: number): boolean | number;
  FLAC__stream_encoder_finish(encoder: number): boolean | number;
  FLAC__stream_encoder_delete(encoder: number): void;
}

let library: Promise<LibFlac> | undefined;

/** Encodes the samples of a WAV file without loss; decoding returns the very same. Equal samples give equal bytes. */
export async function encodeFlac({ samples }: WavFile, sampleRate: number): Promise<Uint8Array<ArrayBuffer>> {
  library ??= loadLibrary();
  const flac = await library;
  const frames = samples.length / CHANNELS;
  const encoder = flac.create_libflac_encoder(sampleRate, CHANNELS, BITS, COMPRESSION_LEVEL, frames, false);
  const parts: Uint8Array[] = [];
  let md5 = "";
  try {
    const status = flac.init_encoder_stream(
      encoder,
      (bytes) => parts.push(bytes),
      ({ md5sum }) => (md5 = md5sum),
    );
    let isDone = encoder !== 0 && status === 0;
    for (let start = 0; isDone && start < frames; start += ENCODE_CHUNK) {
      const count = Math.min(ENCODE_CHUNK, frames - start);
      const chunk = new Int32Array(samples.subarray(CHANNELS * start, CHANNELS * (start + count)));
      isDone = Boolean(flac.FLAC__stream_encoder_process_interleaved(encoder, chunk, count));
    }
    isDone &&= Boolean(flac.FLAC__stream_encoder_finish(encoder));
    if (!isDone) throw new Error(`libFLAC cannot encode ${frames} samples at ${sampleRate} Hz (status ${status})`);
  } finally {
    flac.FLAC__stream_encoder_delete(encoder);
  }
  const file = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let offset = 0;
  for (const part of parts) {
    file.set(part, offset);
    offset += part.length;
  }
  // The encoder writes a stream and cannot go back to its first block.
  file.set(Buffer.from(md5, "hex"), MD5_OFFSET);
  return file;
}

async function loadLibrary(): Promise<LibFlac> {
  const flac = requireLibrary();
  if (!flac.isReady()) await new Promise<void>((resolve) => flac.on("ready", resolve));
  return flac;
}

/** With `instantiateStreaming` the package fetches its WebAssembly file as a URL, which fails; else it reads it. */
function requireLibrary(): LibFlac {
  const { WebAssembly } = globalThis as unknown as { readonly WebAssembly: { instantiateStreaming?: unknown } };
  const { instantiateStreaming } = WebAssembly;
  Reflect.deleteProperty(WebAssembly, "instantiateStreaming");
  try {
    return createRequire(import.meta.url)("libflacjs/dist/libflac.min.wasm.js") as LibFlac;
  } finally {
    Object.assign(WebAssembly, { instantiateStreaming });
  }
}

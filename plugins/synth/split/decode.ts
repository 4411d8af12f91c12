import { ProviderFailure } from "../../sdk/index.js";
import { formatOf } from "./format.js";
import type { AudioFormat } from "./format.js";
import type { Stretch } from "./separator.js";
import { readWavHeader } from "./wav-reader.js";

export interface Decoded extends Stretch {
  readonly sampleRate: number;
}

/**
 * Compressed bytes that a decoder takes at once, and sample frames of a WAV file: a few seconds at most are unpacked at
 * a time.
 */
const CHUNK_BYTES = 1 << 16;
const CHUNK_FRAMES = 1 << 16;
/** The largest valid sample: a file of floating point numbers may hold any value. */
const SAMPLE_MAX = 4;

/** What the decoders of eshaz/wasm-audio-decoders return. */
interface DecodedChunk {
  readonly channelData: readonly Float32Array[];
  readonly samplesDecoded: number;
  readonly sampleRate: number;
}

interface ChunkDecoder {
  readonly ready: Promise<void>;
  decode(bytes: Uint8Array): DecodedChunk | Promise<DecodedChunk>;
  flush?(): Promise<DecodedChunk>;
  free(): void;
}

const ALLOWED = "MP3, WAV, FLAC, Ogg Vorbis, Ogg Opus";

const DECODERS: Readonly<Record<Exclude<AudioFormat, "wav">, () => Promise<ChunkDecoder>>> = {
  mp3: async () => new (await import("mpg123-decoder")).MPEGDecoder(),
  flac: async () => new (await import("@wasm-audio-decoders/flac")).FLACDecoder(),
  vorbis: async () => new (await import("@wasm-audio-decoders/ogg-vorbis")).OggVorbisDecoder(),
  opus: async () => new (await import("ogg-opus-decoder")).OggOpusDecoder(),
};

/**
 * Decodes a file in chunks, as stereo: mono is copied to both channels, of more than two the first two are read (front
 * left and right in every format). Damaged parts are skipped.
 *
 * @throws {ProviderFailure} `invalid_input` where the format is not supported, `failed` where the file cannot be read
 */
export async function* decode(bytes: Uint8Array): AsyncGenerator<Decoded, void> {
  const format = formatOf(bytes);
  if (format === null)
    throw new ProviderFailure("invalid_input", `the file format is not supported; allowed: ${ALLOWED}`);
  if (format === "wav") yield* readWav(bytes);
  else yield* unpack(format, bytes);
}

function* readWav(bytes: Uint8Array): Generator<Decoded, void> {
  const { channels, sampleRate, bytesPerSample, read, offset, frames } = readWavHeader(bytes);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const frameBytes = channels * bytesPerSample;
  const channelOf = (channel: number, start: number, count: number): Float32Array => {
    const samples = new Float32Array(count);
    const first = offset + start * frameBytes + channel * bytesPerSample;
    for (let index = 0; index < count; index += 1) samples[index] = read(view, first + index * frameBytes);
    return samples;
  };
  for (let start = 0; start < frames; start += CHUNK_FRAMES) {
    const count = Math.min(CHUNK_FRAMES, frames - start);
    const left = channelOf(0, start, count);
    yield toStereo([left, ...(channels > 1 ? [channelOf(1, start, count)] : [])], sampleRate);
  }
}

async function* unpack(format: Exclude<AudioFormat, "wav">, bytes: Uint8Array): AsyncGenerator<Decoded, void> {
  const decoder = await DECODERS[format]();
  try {
    await decoder.ready;
    for (let start = 0; start < bytes.length; start += CHUNK_BYTES) {
      const composition = await decoder.decode(bytes.subarray(start, start + CHUNK_BYTES));
      if (hasSound(composition)) yield toStereo(composition.channelData, composition.sampleRate);
    }
    const last = await decoder.flush?.();
    if (last !== undefined && hasSound(last)) yield toStereo(last.channelData, last.sampleRate);
  } catch (cause) {
    if (ProviderFailure.is(cause)) throw cause;
    // Decoders throw errors without a known kind at a broken file.
    throw new ProviderFailure("failed", `the ${format} file cannot be decoded: ${String(cause)}`, { cause });
  } finally {
    decoder.free();
  }
}

function hasSound({ channelData, samplesDecoded }: DecodedChunk): boolean {
  return samplesDecoded > 0 && channelData.length > 0;
}

function toStereo(channels: readonly Float32Array[], sampleRate: number): Decoded {
  const [left, right = left] = channels;
  if (left === undefined || right === undefined) throw new ProviderFailure("failed", "the file has no channels");
  tame(left);
  tame(right);
  return { left, right, sampleRate };
}

/** Replaces values that are not valid samples, in place. */
function tame(samples: Float32Array): void {
  for (let index = 0; index < samples.length; index += 1) {
    const value = samples[index] as number;
    if (value >= -SAMPLE_MAX && value <= SAMPLE_MAX) continue;
    samples[index] = Number.isFinite(value) ? Math.sign(value) * SAMPLE_MAX : 0;
  }
}

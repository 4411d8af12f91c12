import type { SampleBudget } from "./sample-budget.js";
import { BrokenAudioError, type Decoder, type Sound } from "./sound.js";

const PCM = 1;
const FLOAT = 3;
const EXTENSIBLE = 0xfffe;
/** What may come before the samples: cover pictures and the like. */
const HEADER_MAX_BYTES = 16 * 1024 * 1024;
/** More than any program writes; a file of nothing but empty chunks would be read chunk by chunk. */
const CHUNKS_MAX = 1_000;
const FORMAT_MAX_BYTES = 4_096;
const RIFF_HEADER_BYTES = 12;
const CHUNK_HEADER_BYTES = 8;

interface WavFormat {
  readonly channels: number;
  readonly sampleRate: number;
  readonly bytesPerSample: number;
  read(view: DataView, offset: number): number;
}

/**
 * Reads WAV and RF64 files of 8 to 32 bits or floating point. A length in the header that was never filled in is no
 * hindrance.
 */
export class WavDecoder implements Decoder {
  private format: WavFormat | null = null;
  private rest = new Uint8Array(0);
  private isInData = false;
  /** Bytes of samples that are still to come. */
  private left = 0;
  /** Bytes of the header that are passed over. */
  private toSkip = RIFF_HEADER_BYTES;
  private chunks = 0;
  private headerBytes = 0;

  constructor(private readonly budget: SampleBudget) {}

  *decode(bytes: Uint8Array): Generator<Sound, void> {
    this.rest = concat(this.rest, bytes);
    if (!this.isInData) this.rest = this.rest.slice(this.readHeader());
    if (this.isInData && this.format !== null) yield this.takeSamples(this.format);
  }

  *flush(): Generator<Sound, void> {
    // Every whole sample was decoded with its bytes.
  }

  close(): void {
    this.rest = new Uint8Array(0);
  }

  /** Reads the available part of the header, each byte once. @returns how many bytes of the rest are done with */
  private readHeader(): number {
    const { rest } = this;
    const view = viewOf(rest);
    let offset = 0;
    for (;;) {
      const skipped = Math.min(this.toSkip, rest.length - offset);
      offset += skipped;
      this.toSkip -= skipped;
      if (this.toSkip > 0 || offset + CHUNK_HEADER_BYTES > rest.length) return offset;
      const name = String.fromCharCode(...rest.subarray(offset, offset + 4));
      const size = view.getUint32(offset + 4, true);
      const start = offset + CHUNK_HEADER_BYTES;
      if (name === "data") {
        this.beginData(size);
        return start;
      }
      if (name === "fmt ") {
        if (size > FORMAT_MAX_BYTES) throw new BrokenAudioError("its format is too long");
        if (start + size > rest.length) return offset;
        this.format = readFormat(new DataView(rest.buffer, rest.byteOffset + start, size));
      }
      this.countChunk(size);
      offset = start;
      this.toSkip = size + (size % 2);
    }
  }

  private countChunk(size: number): void {
    this.chunks += 1;
    this.headerBytes += CHUNK_HEADER_BYTES + size;
    if (this.chunks > CHUNKS_MAX || this.headerBytes > HEADER_MAX_BYTES)
      throw new BrokenAudioError("its header does not end");
  }

  /**
   * The length is not checked here: programs that write into a pipe put some large number, and samples are counted as
   * they come.
   */
  private beginData(size: number): void {
    if (this.format === null) throw new BrokenAudioError("its samples come before their format");
    this.budget.checkLength(0, this.format);
    this.isInData = true;
    this.left = size === 0 || size === 0xffffffff ? Infinity : size;
  }

  private takeSamples({ channels, sampleRate, bytesPerSample, read }: WavFormat): Sound {
    const frameBytes = channels * bytesPerSample;
    const samples = Math.floor(Math.min(this.left, this.rest.length) / frameBytes);
    const view = viewOf(this.rest);
    const sound = Array.from({ length: channels }, () => new Float32Array(samples));
    for (let index = 0; index < samples; index++) {
      for (let channel = 0; channel < channels; channel++) {
        const value = read(view, index * frameBytes + channel * bytesPerSample);
        (sound[channel] as Float32Array)[index] = value;
      }
    }
    this.left -= samples * frameBytes;
    this.rest = this.left < frameBytes ? new Uint8Array(0) : this.rest.slice(samples * frameBytes);
    return { channels: sound, samples, sampleRate };
  }
}

function readFormat(chunk: DataView): WavFormat {
  if (chunk.byteLength < 16) throw new BrokenAudioError("its format is cut off");
  const given = chunk.getUint16(0, true);
  // An extensible format says behind the usual fields what it is.
  const kind = given === EXTENSIBLE && chunk.byteLength >= 26 ? chunk.getUint16(24, true) : given;
  const [channels, sampleRate, bits] = [chunk.getUint16(2, true), chunk.getUint32(4, true), chunk.getUint16(14, true)];
  const read = READERS[`${kind}/${bits}`];
  if (read === undefined)
    throw new BrokenAudioError(`its samples are of a kind that is not known (format ${kind}, ${bits} bits)`);
  if (channels === 0) throw new BrokenAudioError("it has no channels");
  return { channels, sampleRate, bytesPerSample: bits / 8, read };
}

/** By kind and bits. */
const READERS: Readonly<Record<string, WavFormat["read"]>> = {
  [`${PCM}/8`]: (view, offset) => (view.getUint8(offset) - 128) / 128,
  [`${PCM}/16`]: (view, offset) => view.getInt16(offset, true) / 32_768,
  [`${PCM}/24`]: (view, offset) => (view.getUint16(offset, true) + view.getInt8(offset + 2) * 65_536) / 8_388_608,
  [`${PCM}/32`]: (view, offset) => view.getInt32(offset, true) / 2_147_483_648,
  [`${FLOAT}/32`]: (view, offset) => view.getFloat32(offset, true),
  [`${FLOAT}/64`]: (view, offset) => view.getFloat64(offset, true),
};

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function concat(first: Uint8Array, second: Uint8Array): Uint8Array<ArrayBuffer> {
  const both = new Uint8Array(first.length + second.length);
  both.set(first);
  both.set(second, first.length);
  return both;
}

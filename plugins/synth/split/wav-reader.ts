import { ProviderFailure } from "../../sdk/index.js";

const PCM = 1;
const FLOAT = 3;
const EXTENSIBLE = 0xfffe;
const CHUNK_HEADER_BYTES = 8;

interface WavFormat {
  readonly channels: number;
  readonly sampleRate: number;
  readonly bytesPerSample: number;
  read(view: DataView, offset: number): number;
}

/** The position of the samples in a file. */
export interface WavSamples extends WavFormat {
  readonly offset: number;
  /** Whole ones, of all channels together. */
  readonly frames: number;
}

/**
 * Reads the header of a WAV or RF64 file of 8 to 32 bits or floating point. A length of the samples that was never
 * filled in, or that is longer than the file, is accepted.
 *
 * @throws {ProviderFailure} `failed` where the header is invalid
 */
export function readWavHeader(bytes: Uint8Array): WavSamples {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let format: WavFormat | null = null;
  for (let at = 12; at + CHUNK_HEADER_BYTES <= bytes.length;) {
    const name = String.fromCharCode(...bytes.subarray(at, at + 4));
    const size = view.getUint32(at + 4, true);
    const offset = at + CHUNK_HEADER_BYTES;
    const left = bytes.length - offset;
    if (name === "data") {
      if (format === null) throw broken("its samples come before their format");
      const isOpen = size === 0 || size === 0xffffffff;
      return {
        ...format,
        offset,
        frames: Math.floor((isOpen ? left : Math.min(size, left)) / (format.channels * format.bytesPerSample)),
      };
    }
    if (size > left) break;
    if (name === "fmt ") format = readFormat(new DataView(bytes.buffer, bytes.byteOffset + offset, size));
    at = offset + size + (size % 2);
  }
  throw broken("its header does not end");
}

function readFormat(chunk: DataView): WavFormat {
  if (chunk.byteLength < 16) throw broken("its format is cut off");
  const given = chunk.getUint16(0, true);
  // An extensible format names its real format behind the usual fields.
  const kind = given === EXTENSIBLE && chunk.byteLength >= 26 ? chunk.getUint16(24, true) : given;
  const [channels, sampleRate, bits] = [chunk.getUint16(2, true), chunk.getUint32(4, true), chunk.getUint16(14, true)];
  const read = READERS[`${kind}/${bits}`];
  if (read === undefined) throw broken(`its samples are of a kind that is not known (format ${kind}, ${bits} bits)`);
  if (channels === 0) throw broken("it has no channels");
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

function broken(why: string): ProviderFailure {
  return new ProviderFailure("failed", `the WAV file cannot be read: ${why}`);
}

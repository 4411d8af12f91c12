import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

/** Audio of a test, values from -1 to 1. */
export interface TestSound {
  readonly channels: readonly Float32Array[];
  readonly sampleRate: number;
}

/** A chord whose level follows `levelAt`, from 0 to 1; the channels differ a little. */
export function aChord(
  seconds: number,
  levelAt: (second: number) => number,
  { sampleRate = 44_100, channelCount = 2 } = {},
): TestSound {
  const channels = Array.from({ length: channelCount }, (_, channel) =>
    Float32Array.from({ length: Math.round(seconds * sampleRate) }, (_, index) => {
      const second = index / sampleRate;
      const wave = Math.sin(2 * Math.PI * 440 * second) + Math.sin(2 * Math.PI * (660 + 3 * channel) * second);
      return 0.45 * levelAt(second) * wave;
    }),
  );
  return { channels, sampleRate };
}

type SampleKind = "pcm8" | "pcm16" | "pcm24" | "pcm32" | "float32" | "float64";

const WRITERS: Readonly<
  Record<SampleKind, { readonly bytes: number; write(view: DataView, offset: number, value: number): void }>
> = {
  pcm8: { bytes: 1, write: (view, offset, value) => view.setUint8(offset, Math.round(value * 127 + 128)) },
  pcm16: { bytes: 2, write: (view, offset, value) => view.setInt16(offset, Math.round(value * 32_767), true) },
  pcm24: {
    bytes: 3,
    write(view, offset, value) {
      const whole = Math.round(value * 8_388_607);
      view.setUint16(offset, whole & 0xffff, true);
      view.setInt8(offset + 2, whole >> 16);
    },
  },
  pcm32: { bytes: 4, write: (view, offset, value) => view.setInt32(offset, Math.round(value * 2_147_483_647), true) },
  float32: { bytes: 4, write: (view, offset, value) => view.setFloat32(offset, value, true) },
  float64: { bytes: 8, write: (view, offset, value) => view.setFloat64(offset, value, true) },
};

export interface WavOptions {
  readonly kind?: SampleKind;
  /** Declares its format as newer programs do, after an unknown chunk. */
  readonly extensible?: boolean;
  /** The sample length in the header; the true one by default. */
  readonly dataBytes?: number;
}

export function wavFile(
  { channels, sampleRate }: TestSound,
  { kind = "pcm16", extensible = false, dataBytes }: WavOptions = {},
): Uint8Array {
  const { bytes, write } = WRITERS[kind];
  const [count, samples] = [channels.length, channels[0]?.length ?? 0];
  const code = kind.startsWith("float") ? 3 : 1;
  const format = Buffer.alloc(extensible ? 40 : 16);
  format.writeUInt16LE(extensible ? 0xfffe : code, 0);
  format.writeUInt16LE(count, 2);
  format.writeUInt32LE(sampleRate, 4);
  format.writeUInt32LE(sampleRate * count * bytes, 8);
  format.writeUInt16LE(count * bytes, 12);
  format.writeUInt16LE(bytes * 8, 14);
  if (extensible) format.writeUInt16LE(code, 24);
  const data = new DataView(new ArrayBuffer(samples * count * bytes));
  for (let index = 0; index < samples; index++) {
    for (const [at, channel] of channels.entries()) write(data, (index * count + at) * bytes, channel[index] as number);
  }
  const body = [
    ...(extensible ? [chunk("junk", Buffer.from("odd"))] : []),
    chunk("fmt ", format),
    chunk("data", new Uint8Array(data.buffer), dataBytes),
  ];
  return Buffer.concat([Buffer.from("RIFF"), uint32(0xffff), Buffer.from("WAVE"), ...body]);
}

function chunk(name: string, content: Uint8Array, statedBytes = content.length): Buffer {
  return Buffer.concat([Buffer.from(name), uint32(statedBytes), content, Buffer.alloc(content.length % 2)]);
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value >>> 0);
  return bytes;
}

export function mp3File(sound: TestSound): Promise<Uint8Array> {
  return encode("audio/mpeg", "mp3.wasm", { bitrate: 128 }, sound);
}

export function vorbisFile(sound: TestSound): Promise<Uint8Array> {
  return encode("audio/ogg", "ogg.wasm", { vbrQuality: 3 }, sound);
}

async function encode(
  type: "audio/mpeg" | "audio/ogg",
  wasm: string,
  options: object,
  { channels, sampleRate }: TestSound,
): Promise<Uint8Array> {
  // Contract suites load this file in installations without it too.
  const { createEncoder } = await import("wasm-media-encoders");
  const entry = createRequire(import.meta.url).resolve("wasm-media-encoders");
  const encoder = await createEncoder(type, await readFile(join(dirname(entry), "..", "wasm", wasm)));
  encoder.configure({ channels: channels.length as 1 | 2, sampleRate, ...options });
  const parts: Uint8Array[] = [];
  for (let start = 0; start < (channels[0]?.length ?? 0); start += 1 << 15) {
    parts.push(encoder.encode(channels.map((channel) => channel.subarray(start, start + (1 << 15)))).slice());
  }
  parts.push(encoder.finalize().slice());
  return Buffer.concat(parts);
}

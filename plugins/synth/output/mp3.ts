import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { createEncoder } from "wasm-media-encoders";

const FRAME_SAMPLES = 1_152;
/** The delay of LAME before the first sample, and the delay that every decoder adds. */
const ENCODER_DELAY = 576;
const DECODER_DELAY = 529;
const CODEC_DELAY = ENCODER_DELAY + DECODER_DELAY;
const ENCODE_CHUNK = 1 << 16;

type Encoder = Awaited<ReturnType<typeof createEncoder<"audio/mpeg">>>;
export type Mp3Bitrate = 96 | 192;

let encoder: Promise<Encoder> | undefined;

/**
 * Encodes one (mono) or two channels, values from -1 to 1, at a constant bit rate, with an Info frame that gives
 * decoders the exact length: those that honour it play each sample and no other. Without it the file seems 25 to 51 ms
 * longer, and 26 ms more where the Info frame is played as a frame of silence.
 */
export async function encodeMp3(
  channels: readonly Float32Array[],
  sampleRate: number,
  bitrate: Mp3Bitrate,
): Promise<Uint8Array<ArrayBuffer>> {
  encoder ??= loadEncoder();
  const lame = await encoder;
  const length = channels[0]?.length ?? 0;
  lame.configure({ channels: channels.length === 1 ? 1 : 2, sampleRate, bitrate });
  const parts: Uint8Array[] = [];
  for (let start = 0; start < length; start += ENCODE_CHUNK) {
    const end = Math.min(length, start + ENCODE_CHUNK);
    parts.push(lame.encode(channels.map((channel) => channel.subarray(start, end))).slice());
  }
  parts.push(lame.finalize().slice());
  return withInfoFrame(parts, length);
}

async function loadEncoder(): Promise<Encoder> {
  const entry = createRequire(import.meta.url).resolve("wasm-media-encoders");
  return createEncoder("audio/mpeg", await readFile(join(dirname(entry), "..", "wasm", "mp3.wasm")));
}

/** Puts an Info frame before the frames of so many samples and drops the rest, which holds only the encoder's flush. */
function withInfoFrame(parts: readonly Uint8Array[], samples: number): Uint8Array<ArrayBuffer> {
  const stream = concat(parts);
  const frameCount = Math.ceil((samples + CODEC_DELAY) / FRAME_SAMPLES);
  const padding = frameCount * FRAME_SAMPLES - ENCODER_DELAY - samples;
  const offsets = [0];
  for (let frame = 0; frame < frameCount; frame += 1) {
    const offset = offsets[frame] ?? 0;
    offsets.push(offset + frameBytes(stream, offset));
  }
  const audioBytes = Math.min(stream.length, offsets[frameCount] ?? stream.length);
  const info = infoFrame(stream.subarray(0, 4), { frameCount, audioBytes, padding });
  const file = new Uint8Array(info.length + audioBytes);
  file.set(info);
  file.set(stream.subarray(0, audioBytes), info.length);
  return file;
}

function concat(parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let offset = 0;
  for (const part of parts) {
    whole.set(part, offset);
    offset += part.length;
  }
  return whole;
}

const KBPS = [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320];
const RATES = [44_100, 48_000, 32_000];

/** Length of the MPEG-1 layer III frame whose header is at `offset`. */
function frameBytes(stream: Uint8Array, offset: number): number {
  const flags = stream[offset + 2] ?? 0;
  const kbps = KBPS[flags >> 4];
  const rate = RATES[(flags >> 2) & 3];
  if (stream[offset] !== 0xff || kbps === undefined || rate === undefined)
    throw new Error(`the encoder wrote no MP3 frame at byte ${offset}`);
  return Math.floor((144_000 * kbps) / rate) + ((flags >> 1) & 1);
}

interface StreamLength {
  readonly frameCount: number;
  readonly audioBytes: number;
  /** Samples after the sound, the decoder's own delay included. */
  readonly padding: number;
}

/**
 * A silent frame that carries the "Info" header with LAME's extension. Positions of the fields: LAME tag, revision 1.
 */
function infoFrame(header: Uint8Array, { frameCount, audioBytes, padding }: StreamLength): Uint8Array {
  const isMono = (header[3] ?? 0) >> 6 === 3;
  const first = Uint8Array.from(header);
  first[1] = (first[1] ?? 0) | 1; // without checksum
  first[2] = (first[2] ?? 0) & 0xfd; // without padding
  const frame = new Uint8Array(frameBytes(first, 0));
  const view = new DataView(frame.buffer);
  const text = (offset: number, value: string): void => frame.set(Buffer.from(value, "latin1"), offset);
  const tag = 4 + (isMono ? 17 : 32);
  frame.set(first);
  text(tag, "Info");
  view.setUint32(tag + 4, 0b1111); // frames, bytes, seek table and quality follow
  view.setUint32(tag + 8, frameCount);
  view.setUint32(tag + 12, audioBytes + frame.length);
  for (let percent = 0; percent < 100; percent += 1) frame[tag + 16 + percent] = Math.floor((percent * 256) / 100);
  view.setUint32(tag + 116, 57);
  text(tag + 120, "LAME3.100");
  frame[tag + 129] = 1; // revision 0, constant bit rate
  frame[tag + 130] = 200; // low-pass, in 100 Hz
  const bitrateIndex = (first[2] ?? 0) >> 4;
  frame[tag + 140] = KBPS[bitrateIndex] ?? 0;
  // Delay before and padding after, 12 bits each.
  frame[tag + 141] = ENCODER_DELAY >> 4;
  frame[tag + 142] = ((ENCODER_DELAY & 15) << 4) | (padding >> 8);
  frame[tag + 143] = padding & 255;
  view.setUint32(tag + 148, audioBytes + frame.length);
  view.setUint16(tag + 154, crc16(frame.subarray(0, tag + 154)));
  return frame;
}

/** CRC-16/ARC, as the LAME tag uses it. */
function crc16(bytes: Uint8Array): number {
  let crc = 0;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit += 1) crc = (crc & 1) === 1 ? (crc >>> 1) ^ 0xa001 : crc >>> 1;
  }
  return crc;
}

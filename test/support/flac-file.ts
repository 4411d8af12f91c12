import type { TestSound } from "./audio-files.js";

const BLOCK_SAMPLES = 4_096;
/** Codes of RFC 9639, section 9.1. */
const BLOCK_OF_16_BITS = 0b0111;
const RATE_44100 = 0b1001;
const BITS_16 = 0b100;

/** A FLAC file of 44.1 kHz and 16 bits, without compression: every subframe is verbatim (RFC 9639). */
export function flacFile({ channels, sampleRate }: TestSound): Uint8Array {
  if (sampleRate !== 44_100) throw new Error("the frame headers say 44.1 kHz");
  const samples = channels[0]?.length ?? 0;
  const frames: Buffer[] = [];
  for (let start = 0; start < samples; start += BLOCK_SAMPLES) {
    frames.push(
      frame(
        channels.map((channel) => channel.subarray(start, start + BLOCK_SAMPLES)),
        frames.length,
      ),
    );
  }
  return Buffer.concat([Buffer.from("fLaC"), streamInfo(channels.length, samples), ...frames]);
}

function streamInfo(channelCount: number, samples: number): Buffer {
  const block = Buffer.alloc(4 + 34);
  block[0] = 0x80; // the last block before the frames
  block.writeUIntBE(34, 1, 3);
  block.writeUInt16BE(BLOCK_SAMPLES, 4);
  block.writeUInt16BE(BLOCK_SAMPLES, 6);
  block.writeBigUInt64BE((44_100n << 44n) | (BigInt(channelCount - 1) << 41n) | (15n << 36n) | BigInt(samples), 14);
  return block;
}

function frame(channels: readonly Float32Array[], number: number): Buffer {
  const samples = channels[0]?.length ?? 0;
  const header = Buffer.from([
    0xff,
    0xf8,
    (BLOCK_OF_16_BITS << 4) | RATE_44100,
    ((channels.length - 1) << 4) | (BITS_16 << 1),
    ...codedNumber(number),
    (samples - 1) >> 8,
    (samples - 1) & 255,
  ]);
  const subframes = channels.map((channel) => {
    const bytes = Buffer.alloc(1 + 2 * samples);
    bytes[0] = 0b10; // verbatim
    for (const [index, value] of channel.entries()) bytes.writeInt16BE(Math.round(value * 32_767), 1 + 2 * index);
    return bytes;
  });
  const checked = Buffer.concat([header, Buffer.from([crc(header, 8, 0x07)]), ...subframes]);
  const footer = Buffer.alloc(2);
  footer.writeUInt16BE(crc(checked, 16, 0x8005));
  return Buffer.concat([checked, footer]);
}

/** As UTF-8 writes a character: enough for 2,048 frames. */
export function codedNumber(number: number): number[] {
  return number < 128 ? [number] : [0xc0 | (number >> 6), 0x80 | (number & 63)];
}

export function crc(bytes: Uint8Array, width: 8 | 16, polynomial: number): number {
  const [top, mask] = [1 << (width - 1), (1 << width) - 1];
  let value = 0;
  for (const byte of bytes) {
    value ^= byte << (width - 8);
    for (let bit = 0; bit < 8; bit++) value = ((value & top) !== 0 ? (value << 1) ^ polynomial : value << 1) & mask;
  }
  return value;
}

/** Small files that declare a very long duration, for tests of decoders. */
import { aChord, vorbisFile } from "./audio-files.js";
import { codedNumber, crc } from "./flac-file.js";

/** A FLAC block with as many samples and channels as its header can declare. */
const BLOCK_SAMPLES = 65_535;
const BLOCK_CHANNELS = 8;
/** Codes of RFC 9639, section 9.1. */
const BLOCK_OF_16_BITS = 0b0111;
const RATE_44100 = 0b1001;
const BITS_16 = 0b100;

/** Frames of 35 bytes, each of which decodes to 2 MB: every subframe is one constant. */
export function flacBomb(frames: number, { declaredSamples = 0 } = {}): Uint8Array {
  const info = Buffer.alloc(4 + 34);
  info[0] = 0x80;
  info.writeUIntBE(34, 1, 3);
  info.writeUInt16BE(BLOCK_SAMPLES, 4);
  info.writeUInt16BE(BLOCK_SAMPLES, 6);
  info.writeBigUInt64BE(
    (44_100n << 44n) | (BigInt(BLOCK_CHANNELS - 1) << 41n) | (15n << 36n) | BigInt(declaredSamples),
    14,
  );
  return Buffer.concat([
    Buffer.from("fLaC"),
    info,
    ...Array.from({ length: frames }, (_, number) => constantFrame(number)),
  ]);
}

function constantFrame(number: number): Buffer {
  const shape = [(BLOCK_OF_16_BITS << 4) | RATE_44100, ((BLOCK_CHANNELS - 1) << 4) | (BITS_16 << 1)];
  const header = Buffer.from([
    0xff,
    0xf8,
    ...shape,
    ...codedNumber(number),
    (BLOCK_SAMPLES - 1) >> 8,
    (BLOCK_SAMPLES - 1) & 255,
  ]);
  const checked = Buffer.concat([header, Buffer.from([crc(header, 8, 0x07)]), Buffer.alloc(BLOCK_CHANNELS * 3)]);
  const footer = Buffer.alloc(2);
  footer.writeUInt16BE(crc(checked, 16, 0x8005));
  return Buffer.concat([checked, footer]);
}

/** Packets of two bytes, each of which decodes to 120 ms: six empty frames (RFC 6716, section 3.2.5). */
export function opusBomb(packets: number, { channels = 2 } = {}): Uint8Array {
  // Mapping family by the number of channels (RFC 7845, section 5.1.1).
  const family = channels <= 2 ? 0 : channels <= 8 ? 1 : 255;
  const head = Buffer.concat([
    Buffer.from("OpusHead\x01"),
    Buffer.from([channels, 0, 0, 0x80, 0xbb, 0, 0, 0, 0, family]),
  ]);
  const mapping = Buffer.from([channels, 0, ...Array.from({ length: channels }, (_, channel) => channel)]);
  const tags = Buffer.concat([Buffer.from("OpusTags"), Buffer.alloc(8)]);
  const sound = Buffer.from([0xff, 0x06]);
  return oggFile([[channels > 2 ? Buffer.concat([head, mapping]) : head], [tags]], sound, packets);
}

/** The headers of a real file, then packets of one byte, each of which decodes to a long block of silence. */
export async function vorbisBomb(packets: number): Promise<Uint8Array> {
  const real = Buffer.from(await vorbisFile(aChord(0.1, () => 0.5)));
  // The position of the third page: two pages have the three headers.
  const starts = [...real.toString("latin1").matchAll(/OggS/g)].map(({ index }) => index);
  const bomb = Buffer.from(oggFile([], Buffer.from([0x02]), packets, real.readUInt32LE(14)));
  return Buffer.concat([real.subarray(0, starts[2]), bomb]);
}

function oggFile(
  headers: readonly (readonly Uint8Array[])[],
  packet: Uint8Array,
  packets: number,
  serial = 7,
): Uint8Array {
  const pages = [...headers];
  for (let left = packets; left > 0; left -= 255) pages.push(Array.from({ length: Math.min(255, left) }, () => packet));
  const first = headers.length === 0 ? 2 : 0;
  return Buffer.concat(pages.map((page, index) => oggPage(page, first + index, serial)));
}

function oggPage(packets: readonly Uint8Array[], number: number, serial: number): Buffer {
  const header = Buffer.alloc(27 + packets.length);
  header.write("OggS");
  header[5] = number === 0 ? 2 : 0;
  header.writeBigInt64LE(BigInt(number < 2 ? 0 : number * 1_000), 6);
  header.writeUInt32LE(serial, 14);
  header.writeUInt32LE(number, 18);
  header[26] = packets.length;
  for (const [index, packet] of packets.entries()) header[27 + index] = packet.length;
  const page = Buffer.concat([header, ...packets]);
  page.writeUInt32LE(oggChecksum(page), 22);
  return page;
}

function oggChecksum(page: Uint8Array): number {
  let value = 0;
  for (const byte of page) {
    value ^= byte << 24;
    for (let bit = 0; bit < 8; bit++) value = value & 0x80000000 ? (value << 1) ^ 0x04c11db7 : value << 1;
  }
  return value >>> 0;
}

/**
 * Frames of 24 bytes, the smallest there are (MPEG-2 layer III, 8 kbit/s, 24 kHz): each decodes to 24 ms of silence.
 */
export function mp3Bomb(frames: number): Uint8Array {
  const frame = Buffer.alloc(24);
  frame.set([0xff, 0xf3, 0x14, 0xc0]);
  return Buffer.concat(Array.from({ length: frames }, () => frame));
}

/** Only empty chunks. */
export function wavOfEmptyChunks(chunks: number): Uint8Array {
  const chunk = Buffer.from("junk\0\0\0\0");
  return Buffer.concat([
    Buffer.from("RIFF\xff\xff\xff\x7fWAVE", "latin1"),
    ...Array.from({ length: chunks }, () => chunk),
  ]);
}

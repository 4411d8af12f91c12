import { crc32, deflateRawSync } from "node:zlib";

/**
 * A WAV file of a quiet tone: 16 bits, mono, 8 kHz. Files of different `pitch` differ.
 *
 * @example
 * const [low, high] = [tinyWav(220), tinyWav(880)];
 */
export function tinyWav(pitch = 440, seconds = 0.1): Uint8Array {
  const rate = 8_000;
  const samples = Math.round(rate * seconds);
  const wav = Buffer.alloc(44 + samples * 2);
  wav.write("RIFF", 0);
  wav.writeUInt32LE(wav.length - 8, 4);
  wav.write("WAVEfmt ", 8);
  wav.writeUInt32LE(16, 16);
  wav.writeUInt16LE(1, 20);
  wav.writeUInt16LE(1, 22);
  wav.writeUInt32LE(rate, 24);
  wav.writeUInt32LE(rate * 2, 28);
  wav.writeUInt16LE(2, 32);
  wav.writeUInt16LE(16, 34);
  wav.write("data", 36);
  wav.writeUInt32LE(samples * 2, 40);
  for (let at = 0; at < samples; at += 1)
    wav.writeInt16LE(Math.round(1_000 * Math.sin((2 * Math.PI * pitch * at) / rate)), 44 + at * 2);
  return new Uint8Array(wav);
}

/** MPEG-1 Layer III, 32 kbit/s, 44.1 kHz, mono. */
const MP3_HEADER = [0xff, 0xfb, 0x10, 0xc4];
const MP3_FRAME_BYTES = 104;
const MP3_SIDE_INFO_BYTES = 17;
const MP3_FRAMES_PER_SECOND = 44_100 / 1_152;

/**
 * An MP3 file of silence that players play; files of different `mark` differ in bytes that no decoder looks at.
 *
 * @example
 * const [first, second] = [tinyMp3("first"), tinyMp3("second", 2)];
 */
export function tinyMp3(mark = "", seconds = 0.5): Uint8Array {
  const frames = Math.max(2, Math.ceil(seconds * MP3_FRAMES_PER_SECOND));
  const mp3 = Buffer.alloc(frames * MP3_FRAME_BYTES);
  for (let frame = 0; frame < frames; frame += 1) mp3.set(MP3_HEADER, frame * MP3_FRAME_BYTES);
  // An empty granule ends before its frame does. Not in the first frame: decoders look for notes of the encoder there.
  mp3.write(
    mark.slice(0, MP3_FRAME_BYTES - 4 - MP3_SIDE_INFO_BYTES),
    MP3_FRAME_BYTES + 4 + MP3_SIDE_INFO_BYTES,
    "latin1",
  );
  return new Uint8Array(mp3);
}

/**
 * A PNG file of one dark pixel.
 *
 * @example
 * const fake = await FakeApi.open();
 * const cover = fake.file(tinyPng(), "image/png", "cover.png");
 */
export function tinyPng(): Uint8Array {
  const base64 = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==";
  return new Uint8Array(Buffer.from(base64, "base64"));
}

/**
 * A ZIP archive of these files.
 *
 * @example
 * const stems = tinyZip({ "vocals.mp3": tinyMp3("vocals"), "drums.mp3": tinyMp3("drums") });
 */
export function tinyZip(files: { readonly [name: string]: Uint8Array }): Uint8Array {
  const locals: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const [name, content] of Object.entries(files)) {
    const [path, packed] = [Buffer.from(name), deflateRawSync(content)];
    const fields = zipFields(path, packed, content);
    const local = Buffer.concat([Buffer.from("PK\x03\x04", "latin1"), fields, path, packed]);
    const entry = Buffer.alloc(46);
    entry.write("PK\x01\x02\x14\x00", "latin1");
    fields.copy(entry, 6);
    entry.writeUInt32LE(offset, 42);
    locals.push(local);
    directory.push(entry, path);
    offset += local.length;
  }
  const size = directory.reduce((sum, { length }) => sum + length, 0);
  const end = Buffer.alloc(22);
  end.write("PK\x05\x06", "latin1");
  for (const at of [8, 10]) end.writeUInt16LE(locals.length, at);
  end.writeUInt32LE(size, 12);
  end.writeUInt32LE(offset, 16);
  return new Uint8Array(Buffer.concat([...locals, ...directory, end]));
}

/** What a file's local header and its entry in the directory have in common: deflated, its name in UTF-8. */
function zipFields(path: Uint8Array, packed: Uint8Array, content: Uint8Array): Buffer {
  const fields = Buffer.alloc(26);
  fields.writeUInt16LE(20, 0);
  fields.writeUInt16LE(0x0800, 2);
  fields.writeUInt16LE(8, 4);
  fields.writeUInt16LE(0x21, 8); // 1 January 1980, the first day of this format
  fields.writeUInt32LE(crc32(content), 10);
  fields.writeUInt32LE(packed.length, 14);
  fields.writeUInt32LE(content.length, 18);
  fields.writeUInt16LE(path.length, 22);
  return fields;
}

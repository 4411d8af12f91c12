import { promisify } from "node:util";
import { crc32, deflate as deflateWithCallback, type InputType, type ZlibOptions } from "node:zlib";

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
const deflate = promisify<InputType, ZlibOptions, Buffer>(deflateWithCallback);

/** Each row is written as its difference from the one above: gradients become almost nothing. */
const FILTER_UP = 2;

/** A PNG of RGB pixels, three bytes each, row by row. Compressed away from the event loop. */
export async function encodePng(pixels: Uint8Array, width: number): Promise<Uint8Array> {
  const rowBytes = width * 3;
  const height = pixels.length / rowBytes;
  const rows = new Uint8Array((rowBytes + 1) * height);
  for (let y = 0; y < height; y++) {
    const start = y * (rowBytes + 1);
    rows[start] = FILTER_UP;
    for (let x = 0; x < rowBytes; x++) {
      const at = y * rowBytes + x;
      rows[start + 1 + x] = (pixels[at] as number) - (y === 0 ? 0 : (pixels[at - rowBytes] as number));
    }
  }
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 2], 8); // 8 bits per channel, RGB
  const data = await deflate(rows, { level: 6 });
  return new Uint8Array(
    Buffer.concat([SIGNATURE, chunk("IHDR", header), chunk("IDAT", data), chunk("IEND", Buffer.alloc(0))]),
  );
}

function chunk(name: string, content: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(name, "latin1"), content]);
  const [length, checksum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(content.length);
  checksum.writeUInt32BE(crc32(named));
  return Buffer.concat([length, named, checksum]);
}

import fc from "fast-check";

/** A change of a file. */
export interface ByteChange {
  readonly kind: "set" | "flip" | "remove" | "repeat" | "insert" | "cut" | "zero" | "number";
  readonly place: number;
  readonly length: number;
  readonly value: number;
}

/** Headers are at the start: half of the changes are there. */
const places = fc.oneof(fc.nat(120), fc.nat(100_000));

export const byteChanges: fc.Arbitrary<ByteChange[]> = fc.array(
  fc.record({
    kind: fc.constantFrom<ByteChange["kind"]>(
      "set",
      "set",
      "flip",
      "remove",
      "repeat",
      "insert",
      "cut",
      "zero",
      "number",
    ),
    place: places,
    length: fc.integer({ min: 1, max: 600 }),
    value: fc.oneof(fc.constantFrom(0, 1, 0x7f, 0x80, 0xff, 0x7fff_ffff, 0xffff_ffff, 0xffff), fc.nat(255)),
  }),
  { minLength: 1, maxLength: 6 },
);

/** Bytes with changes, one after the other. */
export function changedBytes(bytes: Uint8Array, changes: readonly ByteChange[]): Uint8Array {
  return changes.reduce<Buffer>(applied, Buffer.from(bytes));
}

function applied(bytes: Buffer, { kind, place, length, value }: ByteChange): Buffer {
  if (bytes.length < 8) return bytes;
  const at = place % (bytes.length - 4);
  const [before, chunk, after] = [bytes.subarray(0, at), bytes.subarray(at, at + length), bytes.subarray(at + length)];
  switch (kind) {
    case "set":
      bytes.writeUInt8(value & 0xff, at);
      return bytes;
    case "number":
      bytes.writeUInt32LE(value >>> 0, at);
      return bytes;
    case "flip":
      bytes.writeUInt8(bytes.readUInt8(at) ^ (1 << (value % 8)), at);
      return bytes;
    case "zero":
      chunk.fill(value & 0xff);
      return bytes;
    case "remove":
      return Buffer.concat([before, after]);
    case "repeat":
      return Buffer.concat([before, chunk, chunk, after]);
    case "insert":
      return Buffer.concat([before, Buffer.alloc(length, value & 0xff), chunk, after]);
    case "cut":
      return Buffer.from(before);
  }
}

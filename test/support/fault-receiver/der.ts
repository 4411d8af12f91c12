/** As much of DER (X.690) as a certificate needs. */

const TAG = {
  boolean: 0x01,
  integer: 0x02,
  bits: 0x03,
  octets: 0x04,
  oid: 0x06,
  text: 0x0c,
  sequence: 0x30,
  set: 0x31,
  time: 0x17,
} as const;

export function tagged(tag: number, ...contents: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(contents);
  return Buffer.concat([Buffer.from([tag, ...lengthOf(content.length)]), content]);
}

export const sequence = (...parts: readonly Uint8Array[]): Buffer => tagged(TAG.sequence, ...parts);
export const set = (...parts: readonly Uint8Array[]): Buffer => tagged(TAG.set, ...parts);
export const boolean = (value: boolean): Buffer => tagged(TAG.boolean, Buffer.from([value ? 0xff : 0]));
export const text = (value: string): Buffer => tagged(TAG.text, Buffer.from(value, "utf8"));
export const octets = (value: Uint8Array): Buffer => tagged(TAG.octets, value);
export const bits = (value: Uint8Array, unused = 0): Buffer => tagged(TAG.bits, Buffer.from([unused]), value);

/** A positive integer. */
export function integer(value: Uint8Array | number): Buffer {
  const bytes = typeof value === "number" ? Buffer.from([value]) : Buffer.from(value);
  return tagged(TAG.integer, (bytes[0] as number) >= 0x80 ? Buffer.from([0]) : Buffer.alloc(0), bytes);
}

export function oid(dotted: string): Buffer {
  const [first = 0, second = 0, ...others] = dotted.split(".").map(Number);
  return tagged(TAG.oid, Buffer.from([first * 40 + second, ...others.flatMap(base128)]));
}

/** The form for years before 2050. */
export function time(at: Date): Buffer {
  return tagged(
    TAG.time,
    Buffer.from(
      at
        .toISOString()
        .slice(2)
        .replace(/[-:T]|\.\d+/g, ""),
    ),
  );
}

/** A context-specific tag around whole elements. */
export const explicit = (number: number, ...parts: readonly Uint8Array[]): Buffer => tagged(0xa0 + number, ...parts);

/** A context-specific tag in place of the element's own. */
export const implicit = (number: number, content: Uint8Array): Buffer => tagged(0x80 + number, content);

function lengthOf(length: number): number[] {
  if (length < 0x80) return [length];
  return length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
}

function base128(value: number): number[] {
  const digits = [value & 0x7f];
  for (let rest = value >> 7; rest > 0; rest >>= 7) digits.unshift((rest & 0x7f) | 0x80);
  return digits;
}

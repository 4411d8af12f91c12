import fc from "fast-check";

/**
 * Texts of any code points, halves of surrogate pairs among them. The strings of fast-check that have them all take a
 * second of each process to be ready.
 */
export function anyText(maxLength = 60): fc.Arbitrary<string> {
  const points = fc.oneof(fc.integer({ min: 0, max: 0x7f }), fc.integer({ min: 0, max: 0x10ffff }));
  return fc.array(points, { maxLength }).map((all) => String.fromCodePoint(...all));
}

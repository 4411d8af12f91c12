import type { SqlValue } from "../session.js";

/** Values of one statement, or of one row. */
type Values = readonly SqlValue[];

/** The texts of a packet; escaped and in UTF-8 it stays below `max_allowed_packet`. */
export const PACKET_CHARACTERS = 1_000_000;

/**
 * Splits lists of values into what travels in one packet: at most `countMax` of them, and fewer where their texts are
 * long. A list that is too long by itself is alone.
 */
export function* packetsOf(lists: readonly Values[], countMax: number): Generator<readonly Values[]> {
  let packet: Values[] = [];
  let characters = 0;
  for (const values of lists) {
    const length = lengthOf(values);
    if (packet.length === countMax || (packet.length > 0 && characters + length > PACKET_CHARACTERS)) {
      yield packet;
      packet = [];
      characters = 0;
    }
    packet.push(values);
    characters += length;
  }
  if (packet.length > 0) yield packet;
}

/** Of texts and bytes; numbers are short. */
export function lengthOf(values: Values): number {
  let length = 0;
  for (const value of values) if (typeof value === "string" || Buffer.isBuffer(value)) length += value.length;
  return length;
}

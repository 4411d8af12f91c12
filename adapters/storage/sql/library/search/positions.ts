import { PLACES } from "./rows.js";

/** Positions in a segment: as many items as it can hold. */
export const SEGMENT_ITEMS = 4_096;

const BITS = 32;
const WORDS = SEGMENT_ITEMS / BITS;
const BITMAP_BYTES = SEGMENT_ITEMS / 8;
/** A list of more is longer than the bitmap. */
const LISTED_MAX = BITMAP_BYTES / 2;
const COUNT_BYTES = 2;

/** A position and its segment as one number above 0; segments are numbered from 1. */
export function slotOf(segment: number, position: number): number {
  return segment * SEGMENT_ITEMS + position;
}

export function segmentOf(slot: number): number {
  return Math.floor(slot / SEGMENT_ITEMS);
}

export function positionOf(slot: number): number {
  return slot % SEGMENT_ITEMS;
}

/** A set of positions. */
export class Positions {
  private readonly words = new Uint32Array(WORDS);

  static of(positions: Iterable<number>): Positions {
    const set = new Positions();
    for (const position of positions) set.add(position);
    return set;
  }

  static fromBitmap(bitmap: Buffer | null): Positions {
    const set = new Positions();
    if (bitmap !== null) set.addBitmap(bitmap, 0);
    return set;
  }

  /** The intersection of the sets, of which there is at least one. */
  static common([first = new Positions(), ...others]: readonly Positions[]): Positions {
    const set = new Positions();
    set.words.set(first.words);
    for (const other of others) for (let index = 0; index < WORDS; index++) set.words[index]! &= other.words[index]!;
    return set;
  }

  add(position: number): void {
    this.words[position >>> 5]! |= 1 << (position & 31);
  }

  addAll(other: Positions): void {
    for (let index = 0; index < WORDS; index++) this.words[index]! |= other.words[index]!;
  }

  without(other: Positions): this {
    for (let index = 0; index < WORDS; index++) this.words[index]! &= ~other.words[index]!;
    return this;
  }

  addBitmap(bytes: Buffer, start: number): void {
    for (let index = 0; index < WORDS; index++) this.words[index]! |= bytes.readUInt32LE(start + 4 * index);
  }

  toBitmap(): Buffer {
    const bytes = Buffer.alloc(BITMAP_BYTES);
    for (const [index, word] of this.words.entries()) bytes.writeUInt32LE(word, 4 * index);
    return bytes;
  }

  /** From the last on. */
  *descending(): Generator<number> {
    for (let index = WORDS - 1; index >= 0; index--) {
      for (let word = this.words[index]!; word !== 0;) {
        const bit = 31 - Math.clz32(word);
        yield index * BITS + bit;
        word &= ~(1 << bit);
      }
    }
  }
}

/**
 * Positions in each of the places of an item: how many in each (16 bits, little endian), then for each the positions
 * (16 bits) in ascending order, or all of the segment as bits where that is shorter.
 *
 * @param places as {@link PLACES}; ascending
 */
export function encodePlaces(places: readonly (readonly number[])[]): Buffer {
  const counts = Buffer.alloc(COUNT_BYTES * PLACES.length);
  const lists = PLACES.map((_, place) => {
    const positions = places[place] ?? [];
    counts.writeUInt16LE(positions.length, COUNT_BYTES * place);
    if (positions.length > LISTED_MAX) return Positions.of(positions).toBitmap();
    const list = Buffer.alloc(2 * positions.length);
    for (const [index, position] of positions.entries()) list.writeUInt16LE(position, 2 * index);
    return list;
  });
  return Buffer.concat([counts, ...lists]);
}

/** Adds the items at some of the places to a set. */
export function addPlaces(set: Positions, encoded: Buffer, wanted: readonly number[]): void {
  let start = COUNT_BYTES * PLACES.length;
  for (let place = 0; place < PLACES.length; place++) {
    const count = encoded.readUInt16LE(COUNT_BYTES * place);
    const isListed = count <= LISTED_MAX;
    if (count > 0 && wanted.includes(place)) {
      if (!isListed) set.addBitmap(encoded, start);
      else for (let index = 0; index < count; index++) set.add(encoded.readUInt16LE(start + 2 * index));
    }
    start += isListed ? 2 * count : BITMAP_BYTES;
  }
}

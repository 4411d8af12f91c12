import { expect } from "chai";
import fc from "fast-check";
import {
  addPlaces,
  encodePlaces,
  positionOf,
  Positions,
  SEGMENT_ITEMS,
  segmentOf,
  slotOf,
} from "../../../adapters/storage/sql/library/search/positions.js";

const position = fc.nat(SEGMENT_ITEMS - 1);
/** From a few to all of a segment. */
const aList = fc.oneof(
  fc.uniqueArray(position, { maxLength: 20 }),
  fc
    .tuple(fc.uniqueArray(position, { maxLength: 3 }), fc.nat(SEGMENT_ITEMS))
    .map(([some, to]) => [...new Set([...some, ...upTo(to)])]),
  fc.integer({ min: 254, max: 258 }).map(upTo),
);

function upTo(end: number): number[] {
  return Array.from({ length: end }, (_, index) => index);
}

const sorted = (positions: Iterable<number>): number[] => [...positions].sort((a, b) => a - b);
const descending = (positions: Iterable<number>): number[] => sorted(positions).reverse();

describe("Positions in a segment", () => {
  it("are those that were put in, from the last on", () => {
    fc.assert(
      fc.property(aList, (list) => {
        expect([...Positions.of(list).descending()]).to.deep.equal(descending(list));
      }),
    );
  });

  it("are joined, narrowed and left out as sets are", () => {
    fc.assert(
      fc.property(aList, aList, (a, b) => {
        const joined = Positions.of(a);
        joined.addAll(Positions.of(b));
        expect([...joined.descending()]).to.deep.equal(descending(new Set([...a, ...b])));
        const common = Positions.common([Positions.of(a), Positions.of(b)]);
        expect([...common.descending()]).to.deep.equal(descending(a.filter((one) => b.includes(one))));
        expect([...Positions.of(a).without(Positions.of(b)).descending()]).to.deep.equal(
          descending(a.filter((one) => !b.includes(one))),
        );
      }),
    );
  });

  it("are the same after they were written as a bitmap", () => {
    fc.assert(
      fc.property(aList, (list) => {
        expect([...Positions.fromBitmap(Positions.of(list).toBitmap()).descending()]).to.deep.equal(descending(list));
      }),
    );
    expect([...Positions.fromBitmap(null).descending()]).to.deep.equal([]);
  });

  it("are read back from each place that is asked for, and from no other", () => {
    fc.assert(
      fc.property(fc.tuple(aList, aList, aList), fc.subarray([0, 1, 2]), (lists, wanted) => {
        const encoded = encodePlaces(lists.map(sorted));
        expect(encoded.length).to.be.at.most(1_600);
        const found = new Positions();
        addPlaces(found, encoded, wanted);
        expect([...found.descending()]).to.deep.equal(
          descending(new Set(wanted.flatMap((place) => lists[place] ?? []))),
        );
      }),
    );
  });

  it("make one number with their segment, and come out of it again", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 1_000_000 }), position, (segment, at) => {
        const slot = slotOf(segment, at);
        expect(slot).to.be.above(0);
        expect([segmentOf(slot), positionOf(slot)]).to.deep.equal([segment, at]);
      }),
    );
  });
});

import { expect } from "chai";
import { joined, packetsOf, rowPacketsOf } from "../../../adapters/storage/sql/mysql/packets.js";
import type { SqlValue } from "../../../adapters/storage/sql/session.js";

const sizesOf = (lists: readonly (readonly SqlValue[])[], countMax: number): number[] =>
  [...packetsOf(lists, countMax)].map((packet) => packet.length);

describe("packetsOf", () => {
  it("fills packets with as many lists as they may hold, in their order", () => {
    const lists = Array.from({ length: 7 }, (_, index) => [index, "text", null]);
    expect([...packetsOf(lists, 3)].flat()).to.deep.equal(lists);
    expect(sizesOf(lists, 3)).to.deep.equal([3, 3, 1]);
    expect(sizesOf([], 3)).to.deep.equal([]);
  });

  it("begins another packet where texts are long, and sends one that is too long alone", () => {
    const text = (length: number): SqlValue[] => [1, "x".repeat(length)];
    expect(sizesOf([text(400_000), text(400_000), text(400_000)], 100)).to.deep.equal([2, 1]);
    expect(sizesOf([text(10), text(5_000_000), text(10), text(10)], 100)).to.deep.equal([1, 1, 2]);
    expect(sizesOf([[Buffer.alloc(600_000)], [Buffer.alloc(600_000)]], 100)).to.deep.equal([1, 1]);
  });
});

describe("rowPacketsOf", () => {
  const rows = (...texts: readonly string[]) => texts.map((text, id) => ({ id, text, note: null, more: true }));

  it("has the values of the columns alone, in their order, of as many rows as a packet may hold", () => {
    const columns = ["text", "note", "id"] as const;
    expect([...rowPacketsOf(columns, rows("a", "b", "c"), 2)]).to.deep.equal([
      { count: 2, values: ["a", null, 0, "b", null, 1] },
      { count: 1, values: ["c", null, 2] },
    ]);
    expect([...rowPacketsOf(columns, [], 2)]).to.deep.equal([]);
  });

  it("begins another packet where texts are long, and sends one that is too long alone", () => {
    const sizes = (...lengths: readonly number[]): number[] =>
      [...rowPacketsOf(["id", "text"], rows(...lengths.map((length) => "x".repeat(length))), 100)].map(
        ({ count }) => count,
      );
    expect(sizes(400_000, 400_000, 400_000)).to.deep.equal([2, 1]);
    expect(sizes(10, 5_000_000, 10, 10)).to.deep.equal([1, 1, 2]);
  });
});

describe("joined", () => {
  it("is one list of all values, which is the only one where there is one", () => {
    const one = [1, "a", null];
    expect(joined([one])).to.equal(one);
    expect(joined([one, [], [2]])).to.deep.equal([1, "a", null, 2]);
    expect(joined([])).to.deep.equal([]);
  });
});

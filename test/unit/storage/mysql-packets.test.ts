import { expect } from "chai";
import { packetsOf } from "../../../adapters/storage/sql/mysql/packets.js";
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

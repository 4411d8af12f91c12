import { setImmediate as nextTurn } from "node:timers/promises";
import { expect } from "chai";
import { allIn } from "../../adapters/storage/sql/lists.js";
import type { Session, SqlValue } from "../../adapters/storage/sql/session.js";

describe("A query of a long list of values", () => {
  it("yields to other queries between its chunks", async () => {
    const asked: (readonly SqlValue[])[] = [];
    // Returns its result synchronously, as SQLite does.
    const all = (_text: string, values: readonly SqlValue[] = []): Promise<never[]> => {
      asked.push(values);
      return Promise.resolve([]);
    };
    const session = { all } as unknown as Session;
    const askedBefore: number[] = [];
    const watching = (async () => {
      for (let turn = 0; turn < 3; turn++) {
        await nextTurn();
        askedBefore.push(asked.length);
      }
    })();
    await allIn(
      session,
      (marks) => `SELECT ${marks}`,
      Array.from({ length: 1_200 }, (_, index) => index),
    );
    await watching;
    expect(asked.map(({ length }) => length)).to.deep.equal([500, 500, 200]);
    expect(askedBefore).to.deep.equal([1, 2, 3]);
  });
});

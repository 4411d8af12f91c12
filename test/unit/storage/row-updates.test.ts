import { expect } from "chai";
import { updateStatements } from "../../../adapters/storage/sql/mysql/row-updates.js";
import type { RowUpdate } from "../../../adapters/storage/sql/session.js";

const BY = ["id", "fence"];
const of = (
  ...updates: readonly RowUpdate[]
): readonly { readonly text: string; readonly values: readonly unknown[] }[] => [
  ...updateStatements("rows", BY, updates),
];
const textOf = (set: string, ids: number): string =>
  `UPDATE {rows} FORCE INDEX (PRIMARY) SET ${set} WHERE id IN (${"?, ".repeat(ids).slice(0, -2)}) AND fence = ?`;

describe("Updates of many rows in one statement", () => {
  it("name a value that all have once, and others by the row", () => {
    const columns = ["phase", "due_at"];
    expect(
      of(
        { key: ["a", 1], columns, values: ["ended", null] },
        { key: ["b", 1], columns, values: ["ended", 5] },
        { key: ["c", 1], columns, values: ["ended", null] },
      ),
    ).to.deep.equal([
      {
        text: textOf("phase = ?, due_at = CASE id WHEN ? THEN ? WHEN ? THEN ? WHEN ? THEN ? END", 3),
        values: ["ended", "a", null, "b", 5, "c", null, "a", "b", "c", 1],
      },
    ]);
  });

  it("are apart where other columns change, or another fence holds", () => {
    const statements = of(
      { key: ["a", 1], columns: ["phase"], values: ["ended"] },
      { key: ["b", 2], columns: ["phase"], values: ["ended"] },
      { key: ["c", 1], columns: ["due_at"], values: [5] },
    );
    expect(statements.map(({ values }) => values)).to.deep.equal([
      ["ended", "a", 1],
      ["ended", "b", 2],
      [5, "c", 1],
    ]);
  });

  it("change a row that is named twice in its order", () => {
    const statements = of(
      { key: ["a", 1], columns: ["fence"], values: [2] },
      { key: ["b", 1], columns: ["phase"], values: ["ended"] },
      { key: ["a", 2], columns: ["phase"], values: ["ended"] },
      { key: ["c", 1], columns: ["phase"], values: ["ended"] },
    );
    expect(statements.map(({ values }) => values)).to.deep.equal([
      [2, "a", 1],
      ["ended", "b", 1],
      ["ended", "a", 2],
      ["ended", "c", 1],
    ]);
  });

  it("are several statements where there are many rows, or long texts", () => {
    const short = Array.from({ length: 120 }, (_, row) => ({ key: [row, 1], columns: ["due_at"], values: [row] }));
    const counts = of(...short).map(({ values }) => (values.length - 1) / 3);
    expect(counts).to.deep.equal([50, 50, 20]);
    const long = ["a", "b", "c"].map((id) => ({ key: [id, 1], columns: ["error"], values: ["x".repeat(600_000)] }));
    expect(of(...long)).to.have.length(3);
  });
});

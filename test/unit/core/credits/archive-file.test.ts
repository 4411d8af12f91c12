import { expect } from "chai";
import { monthsBefore, parseArchive, partsByAccount } from "../../../../core/credits/archive-file.js";
import { anEntry } from "../../../support/builders.js";

describe("A file of entries", () => {
  const line = (value: object): string => `${JSON.stringify(value)}\n`;

  it("is read up to its last complete line", () => {
    const parse = (text: string) => parseArchive(Buffer.from(text));
    expect(parse("")).to.deep.equal({ header: null, entries: [], end: null, bytes: 0 });
    expect(parse('{"type":')).to.deep.equal({ header: null, entries: [], end: null, bytes: 0 });
    const header = { type: "ledger-archive", number: 1 };
    const [entry, end] = [anEntry(), { type: "end", entries: 1, sha256: "x" }];
    const text = line(header) + line(entry);
    expect(parse(`${text}{"half`)).to.deep.equal({ header, entries: [entry], end: null, bytes: text.length });
    expect(parse(text + line(end))).to.deep.include({ header, entries: [entry], end });
    expect(() => parse("nonsense\n")).to.throw(SyntaxError);
  });

  it("is taken in parts of one account that are not long", () => {
    const [a, b] = [anEntry(), anEntry()];
    expect(partsByAccount([a, a, a, b, a], 2)).to.deep.equal([[a, a], [a], [b], [a]]);
    expect(partsByAccount([], 2)).to.deep.equal([]);
  });
});

describe("So many months before", () => {
  const before = (date: string, months: number): string =>
    new Date(monthsBefore(Date.parse(date), months)).toISOString();

  it("is the same day and time of an earlier month, or the month's last day", () => {
    expect(before("2026-11-21T06:30:00.123Z", 3)).to.equal("2026-08-21T06:30:00.123Z");
    expect(before("2026-03-31T23:59:59.999Z", 1)).to.equal("2026-02-28T23:59:59.999Z");
    expect(before("2028-03-30T00:00:00.000Z", 1)).to.equal("2028-02-29T00:00:00.000Z");
    expect(before("2026-01-01T00:00:00.000Z", 1)).to.equal("2025-12-01T00:00:00.000Z");
    expect(before("2026-02-10T01:00:00.000Z", 24)).to.equal("2024-02-10T01:00:00.000Z");
  });
});

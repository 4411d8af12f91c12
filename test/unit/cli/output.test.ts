import { Writable } from "node:stream";
import { expect } from "chai";
import type { CliHost } from "../../../adapters/cli/host.js";
import { iso, table, withProgress } from "../../../adapters/cli/output.js";

describe("Output of the command line", () => {
  it("puts cells into columns without blanks at the ends of lines", () => {
    expect(table([["id", "acct_1", ""], ["name", "alice", "x"]])).to.deep.equal(["id    acct_1", "name  alice   x"]);
    expect(table([])).to.deep.equal([]);
  });

  it("writes times in UTC with milliseconds", () => {
    expect(iso(Date.UTC(2026, 10, 21, 6, 30))).to.equal("2026-11-21T06:30:00.000Z");
    expect(iso(null)).to.equal(null);
  });

  it("shows progress on a terminal alone", async () => {
    expect(await progressOn({ isTTY: false })).to.equal("");
    expect(await progressOn({ isTTY: true, columns: 80, cursorTo: () => true, clearLine: () => true, moveCursor: () => true })).to.include("Counting");
  });
});

async function progressOn(terminal: object): Promise<string> {
  let written = "";
  const stream = new Writable({ write: (chunk: Buffer, _encoding, done) => ((written += chunk.toString()), done()) });
  const stderr = Object.assign(stream, terminal);
  expect(await withProgress({ stderr } as unknown as CliHost, "Counting", () => Promise.resolve(3))).to.equal(3);
  return written;
}

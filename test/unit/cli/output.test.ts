import { Writable } from "node:stream";
import { expect } from "chai";
import type { CliHost } from "../../../adapters/cli/host.js";
import { iso, print, table, withProgress } from "../../../adapters/cli/output.js";

describe("Output of the command line", () => {
  it("puts cells into columns without blanks at the ends of lines", () => {
    expect(
      table([
        ["id", "acct_1", ""],
        ["name", "alice", "x"],
      ]),
    ).to.deep.equal(["id    acct_1", "name  alice   x"]);
    expect(table([])).to.deep.equal([]);
  });

  it("keeps a row in its line and in its columns, whatever its cells hold", () => {
    const rows = table([
      ["a\u001b[2J\nforged", "x"],
      ["b", "\u202ey"],
    ]);
    expect(rows).to.deep.equal(["a\\u001b[2J\\u000aforged  x", `b${" ".repeat(21)}  \\u202ey`]);
  });

  it("prints nothing that steers a terminal, as lines or as JSON", () => {
    const hostile = "a\u001b]0;owned\u0007\u009b31m\u202e\u200b";
    const shown = "a\\u001b]0;owned\\u0007\\u009b31m\\u202e\\u200b";
    let written = "";
    const stdout = new Writable({ write: (chunk: Buffer, _encoding, done) => ((written += chunk.toString()), done()) });
    const host = { stdout } as unknown as CliHost;
    print(host, {}, {}, [hostile, "second"]);
    expect(written).to.equal(`${shown}\nsecond\n`);
    written = "";
    print(host, { json: true }, { title: hostile }, []);
    expect(written).to.equal(`{\n  "title": "${shown}"\n}\n`);
    expect(JSON.parse(written)).to.deep.equal({ title: hostile });
  });

  it("writes times in UTC with milliseconds", () => {
    expect(iso(Date.UTC(2026, 10, 21, 6, 30))).to.equal("2026-11-21T06:30:00.000Z");
    expect(iso(null)).to.equal(null);
  });

  it("shows progress on a terminal alone", async () => {
    expect(await progressOn({ isTTY: false })).to.equal("");
    expect(
      await progressOn({
        isTTY: true,
        columns: 80,
        cursorTo: () => true,
        clearLine: () => true,
        moveCursor: () => true,
      }),
    ).to.include("Counting");
  });
});

async function progressOn(terminal: object): Promise<string> {
  let written = "";
  const stream = new Writable({ write: (chunk: Buffer, _encoding, done) => ((written += chunk.toString()), done()) });
  const stderr = Object.assign(stream, terminal);
  expect(await withProgress({ stderr } as unknown as CliHost, "Counting", () => Promise.resolve(3))).to.equal(3);
  return written;
}

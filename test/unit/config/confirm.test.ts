import { PassThrough } from "node:stream";
import { expect } from "chai";
import { confirmOn } from "../../../config/confirm.js";

type Terminal = Parameters<typeof confirmOn>[0];

/** Streams that count as a terminal, or not. */
function streams(stdinIsTTY: boolean, stderrIsTTY: boolean): { readonly given: Terminal; readonly input: PassThrough } {
  const input = new PassThrough();
  const stdin = Object.assign(input, { isTTY: stdinIsTTY });
  const stderr = Object.assign(new PassThrough(), { isTTY: stderrIsTTY });
  return { given: { stdin, stderr } as unknown as Terminal, input };
}

describe("A question to the operator", () => {
  for (const [typed, isWanted] of [
    ["y", true],
    ["YES ", true],
    ["", false],
    ["n", false],
    ["yesterday", false],
  ] as const) {
    it(`takes ${JSON.stringify(typed)} for a ${isWanted ? "yes" : "no"}`, async () => {
      const { given, input } = streams(true, true);
      const response = confirmOn(given)?.("Revoke all keys?");
      input.write(`${typed}\n`);
      expect(await response).to.equal(isWanted);
    });
  }

  it("declines at Ctrl-C", async () => {
    const { given, input } = streams(true, true);
    const response = confirmOn(given)?.("Revoke all keys?");
    input.write("ye\u0003");
    expect(await response).to.equal(false);
  });

  it("declines at the end of the input, also of a terminal that was closed before", async () => {
    const { given, input } = streams(true, true);
    const response = confirmOn(given)?.("Revoke all keys?");
    input.end();
    expect(await response).to.equal(false);
    expect(await confirmOn(given)?.("Revoke all keys?")).to.equal(false);
  });

  it("declines when reading from the terminal fails", async () => {
    const { given, input } = streams(true, true);
    const response = confirmOn(given)?.("Revoke all keys?");
    input.destroy(new Error("read EIO"));
    expect(await response).to.equal(false);
  });

  it("is not asked where input or output is no terminal", () => {
    expect([confirmOn(streams(false, true).given), confirmOn(streams(true, false).given)]).to.deep.equal([null, null]);
  });
});

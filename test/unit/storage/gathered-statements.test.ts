import { expect } from "chai";
import { GatheredStatements } from "../../../adapters/storage/sql/mysql/gathered-statements.js";
import type { SqlValue } from "../../../adapters/storage/sql/session.js";

const LIMITS = { statements: 4, characters: 100 };

/** Statements on their way to a server whose results are their texts. A packet with "bad" fails. */
function open(): { readonly packets: string[]; readonly gathered: GatheredStatements<string> } {
  const packets: string[] = [];
  const send = (texts: readonly string[], values: readonly SqlValue[]): Promise<readonly string[]> => {
    packets.push([...texts, ...values].join(" "));
    return texts.includes("bad") ? Promise.reject(new Error("refused")) : Promise.resolve(texts);
  };
  return { packets, gathered: new GatheredStatements(send, LIMITS) };
}

const messageOf = (error: unknown): string => (error as Error).message;

describe("Gathered statements", () => {
  it("that return nothing travel with the next one that returns something, in their order", async () => {
    const { packets, gathered } = open();
    await gathered.later("begin", []);
    await gathered.later("insert", [1]);
    expect(packets).to.deep.equal([]);
    expect(await gathered.resultOf("select", [2])).to.equal("select");
    expect(await gathered.resultOf("commit", [])).to.equal("commit");
    expect(packets).to.deep.equal(["begin insert select 1 2", "commit"]);
  });

  it("that are given in one tick travel together, each with its own result", async () => {
    const { packets, gathered } = open();
    const results = Promise.all([gathered.resultOf("a", ["x"]), gathered.resultOf("b", ["y"])]);
    expect(await results).to.deep.equal(["a", "b"]);
    expect(packets).to.deep.equal(["a b x y"]);
  });

  it("are sent earlier where they are too many, or too long", async () => {
    const { packets, gathered } = open();
    for (const text of ["1", "2", "3", "4", "5"]) await gathered.later(text, []);
    expect(packets).to.deep.equal(["1 2 3 4"]);
    await gathered.later("6", ["x".repeat(99)]);
    await gathered.later("7", ["yy"]);
    await gathered.resultOf("8", []);
    expect(packets.slice(1)).to.deep.equal([`5 6 ${"x".repeat(99)}`, "7 8 yy"]);
  });

  it("are not sent after one that failed, and have its error", async () => {
    const { packets, gathered } = open();
    await gathered.later("bad", []);
    const failures = [gathered.resultOf("select", []), gathered.resultOf("other", [])];
    expect(await Promise.all(failures.map((failure) => failure.catch(messageOf)))).to.deep.equal([
      "refused",
      "refused",
    ]);
    expect(await gathered.resultOf("commit", []).catch(messageOf)).to.equal("refused");
    expect(packets).to.deep.equal(["bad select other"]);
  });

  it("have the error of those that were sent earlier because they were too many", async () => {
    const { packets, gathered } = open();
    for (const text of ["bad", "2", "3", "4"]) await gathered.later(text, []);
    expect(await gathered.later("5", []).catch(messageOf)).to.equal("refused");
    expect(await gathered.resultOf("commit", []).catch(messageOf)).to.equal("refused");
    expect(packets).to.deep.equal(["bad 2 3 4"]);
  });

  it("are not sent once their transaction has ended", async () => {
    const { packets, gathered } = open();
    const late = gathered.resultOf("select", []).catch(messageOf);
    gathered.end();
    expect(await late).to.include("a transaction is used only while its work runs");
    expect(packets).to.deep.equal([]);
  });
});

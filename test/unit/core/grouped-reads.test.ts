import { expect } from "chai";
import { GroupedReads } from "../../../core/grouped-reads.js";
import { ManualClock } from "../../support/doubles/manual-clock.js";

/** Reads that end when the test says so. */
class SteppedReads {
  readonly groups: (readonly string[])[] = [];
  private readonly ends: ((error: Error | null) => void)[] = [];

  readonly read = (keys: readonly string[]): Promise<ReadonlyMap<string, string>> => {
    this.groups.push(keys);
    return new Promise((resolve, reject) => {
      const found = new Map(keys.filter((key) => key !== "missing").map((key) => [key, `value of ${key}`]));
      this.ends.push((error) => (error === null ? resolve(found) : reject(error)));
    });
  };

  end(group: number, error: Error | null = null): void {
    this.ends[group]?.(error);
  }
}

function setUp() {
  const stepped = new SteppedReads();
  const clock = new ManualClock();
  return { stepped, clock, reads: new GroupedReads<string, string>(clock, stepped.read) };
}

describe("GroupedReads", () => {
  it("reads at once while fewer than two reads are under way", async () => {
    const { stepped, reads } = setUp();
    const [one, two] = [reads.get("a"), reads.get("b")];
    expect(stepped.groups).to.deep.equal([["a"], ["b"]]);
    stepped.end(1);
    stepped.end(0);
    expect([await one, await two]).to.deep.equal(["value of a", "value of b"]);
  });

  it("reads together what was asked for meanwhile, each key once, and says which have no value", async () => {
    const { stepped, reads } = setUp();
    const first = [reads.get("a"), reads.get("b")];
    const later = ["c", "missing", "c"].map((key) => reads.get(key));
    expect(stepped.groups).to.have.lengthOf(2);
    stepped.end(0);
    await first[0];
    expect(stepped.groups[2]).to.deep.equal(["c", "missing"]);
    stepped.end(2);
    expect(await Promise.all(later)).to.deep.equal(["value of c", undefined, "value of c"]);
  });

  it("reads a key again for a caller that asks while it is being read", async () => {
    const { stepped, reads } = setUp();
    const before = reads.get("a");
    const after = reads.get("a");
    expect(stepped.groups).to.deep.equal([["a"], ["a"]]);
    stepped.end(0);
    stepped.end(1);
    expect(await Promise.all([before, after])).to.deep.equal(["value of a", "value of a"]);
  });

  it("reads all keys of a caller together, with those of others", async () => {
    const { stepped, reads } = setUp();
    const first = [reads.get("a"), reads.get("b")];
    const later = [reads.getAll(["c", "missing"]), reads.get("c"), reads.getAll(["d"])] as const;
    stepped.end(0);
    await first[0];
    expect(stepped.groups[2]).to.deep.equal(["c", "missing", "d"]);
    stepped.end(2);
    const found = await later[0];
    expect(["c", "missing"].map((key) => found.get(key))).to.deep.equal(["value of c", undefined]);
    expect(await later[1]).to.equal("value of c");
    expect((await later[2]).get("d")).to.equal("value of d");
  });

  it("reads more than 100 keys of one caller at once, and those of the next afterwards", async () => {
    const { stepped, reads } = setUp();
    const many = Array.from({ length: 150 }, (_, index) => `key ${index}`);
    const first = reads.getAll(["a"]);
    void reads.getAll(["b"]);
    void reads.getAll(many);
    void reads.getAll(many.slice(0, 2));
    stepped.end(0);
    await first;
    expect(stepped.groups.map((group) => group.length)).to.deep.equal([1, 1, 150]);
    stepped.end(1);
    stepped.end(2);
  });

  it("splits more than 100 keys", async () => {
    const { stepped, reads } = setUp();
    const first = reads.get("a");
    void reads.get("b");
    const many = Array.from({ length: 150 }, (_, index) => reads.get(`key ${index}`));
    stepped.end(0);
    await first;
    stepped.end(1);
    stepped.end(2);
    await many[99];
    expect(stepped.groups.map((group) => group.length)).to.deep.equal([1, 1, 100, 50]);
    stepped.end(3);
    expect(await many[149]).to.equal("value of key 149");
  });

  it("fails for the callers of a group alone, and goes on with the next", async () => {
    const { stepped, reads } = setUp();
    const [one, two, three] = [reads.get("a"), reads.get("b"), reads.get("c")];
    const failed = one.catch((error: unknown) => (error as Error).message);
    stepped.end(0, new Error("the storage is gone"));
    expect(await failed).to.equal("the storage is gone");
    stepped.end(1);
    stepped.end(2);
    expect([await two, await three]).to.deep.equal(["value of b", "value of c"]);
  });

  it("does not wait for reads that hang", async () => {
    const { stepped, clock, reads } = setUp();
    void reads.get("a");
    void reads.get("b");
    void reads.get("c");
    expect(stepped.groups).to.have.lengthOf(2);
    await clock.advance(901);
    const late = reads.get("d");
    expect(stepped.groups[2]).to.deep.equal(["c", "d"]);
    stepped.end(2);
    expect(await late).to.equal("value of d");
  });
});

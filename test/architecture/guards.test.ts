import { expect } from "chai";
import { existsSync, readdirSync } from "node:fs";
import { dirname } from "node:path";
import { declaredMutants, mutantsOfAll } from "../support/guards/all.js";
import { type Mutant, mutantOf } from "../support/guards/guard.js";
import { repositoryPath } from "../support/repository.js";

const GUARD = { name: "a lock", file: "core/door.ts", replace: "", tests: [] };

describe("The guards of npm run test:guards", () => {
  let all: readonly Mutant[];
  before(() => {
    all = mutantsOfAll();
  });

  it("occur in the code, each declared text exactly once, under a name of its own", () => {
    const names = declaredMutants().map(({ name }) => name);
    expect(names.length).to.be.at.least(150);
    expect(new Set(names).size).to.equal(names.length);
  });

  it("are found by their shape in every place that is named", () => {
    const found = new Map<string, number>();
    for (const { name } of all.slice(declaredMutants().length)) {
      const [shape = ""] = name.split(" ");
      found.set(shape, (found.get(shape) ?? 0) + 1);
    }
    expect([...found.keys()]).to.have.members(["condition", "unique", "scope", "refusal"]);
    for (const [shape, count] of found) expect(count, shape).to.be.at.least(8);
  });

  it("name tests that exist", () => {
    for (const file of new Set(all.flatMap(({ tests }) => tests))) {
      const isThere = file.endsWith("/*.test.ts")
        ? readdirSync(repositoryPath(dirname(file))).some((name) => name.endsWith(".test.ts"))
        : existsSync(repositoryPath(file));
      expect(isThere, file).to.equal(true);
    }
  });

  it("are refused when their text does not occur, or occurs twice", () => {
    const guard = { ...GUARD, find: "locked()" };
    expect(() => mutantOf(guard, "open()")).to.throw("does not occur");
    expect(() => mutantOf(guard, "locked() && locked()")).to.throw("more than once");
    expect(mutantOf(guard, "if (locked())")).to.deep.include({ start: 4, end: 12 });
  });
});

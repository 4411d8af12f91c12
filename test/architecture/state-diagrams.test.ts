import { readFileSync, writeFileSync } from "node:fs";
import { expect } from "chai";
import { ATTEMPT_MOVES } from "../../core/attempts/attempt-states.js";
import { JOB_MOVES } from "../../core/jobs/job.js";
import { repositoryPath } from "../support/repository.js";
import { stateDiagrams, withDiagrams } from "../support/state-diagrams.js";

const PATH = repositoryPath("core/README.md");
/** If set, the diagrams are written instead of compared. */
const isRewriting = process.env["FERMATA_TEST_REWRITE_DIAGRAMS"] !== undefined;

describe("The README of the core", () => {
  it("draws the states of the transition tables; npm run docs:diagrams redraws them", () => {
    const readme = readFileSync(PATH, "utf8");
    const redrawn = withDiagrams(readme, stateDiagrams());
    if (isRewriting) writeFileSync(PATH, redrawn);
    else expect(readme).to.equal(redrawn);
  });

  it("explains each status of a job and each state of an attempt", () => {
    const explained = [...readFileSync(PATH, "utf8").matchAll(/^\| `([a-z]+)` \|/gm)].map(([, name]) => name);
    expect(explained).to.include.members([...Object.keys(JOB_MOVES), ...Object.keys(ATTEMPT_MOVES)]);
  });
});

describe("The diagrams of the core's README", () => {
  it("show each transition of the tables once", () => {
    const lines = Object.values(stateDiagrams()).join("").split("\n");
    const drawn = lines.filter((line) => /^ {4}[a-z]+ --> [a-z]+$/.test(line));
    const moves = [JOB_MOVES, ATTEMPT_MOVES].flatMap((table) => Object.entries<readonly string[]>(table));
    const expected = moves.flatMap(([from, to]) => to.map((state) => `    ${from} --> ${state}`));
    expect(drawn.sort()).to.deep.equal(expected.sort());
  });

  it("replace their blocks, and nothing else", () => {
    const text = "before\n<!-- diagram: x -->\nold\n<!-- end -->\nafter";
    expect(withDiagrams(text, { x: "new\n" })).to.equal("before\n<!-- diagram: x -->\nnew\n<!-- end -->\nafter");
    expect(() => withDiagrams(text, { y: "new\n" })).to.throw('no block for the diagram "y"');
  });
});

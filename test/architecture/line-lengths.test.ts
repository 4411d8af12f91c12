import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { proseAndCode } from "../support/plain-words.js";
import { REPOSITORY } from "../support/repository.js";

const COLUMNS = 120;
/** At the end of a line: it cannot be broken. */
const REGULAR_EXPRESSION = /[(= ]\/[^/ ].*\/[dgimsuvy]*[,;)]*$/;

describe("Lines of code", () => {
  it(`have at most ${COLUMNS} columns, also in comments and strings, which the formatter does not break`, () => {
    expect(
      proseAndCode(REPOSITORY)
        .filter((file) => !file.endsWith(".md"))
        .flatMap(longLinesOf),
    ).to.deep.equal([]);
  });
});

function longLinesOf(file: string): string[] {
  const lines = readFileSync(join(REPOSITORY, file), "utf8").split("\n");
  return lines.flatMap((line, index) =>
    line.length > COLUMNS && !REGULAR_EXPRESSION.test(line) ? [`${file}:${index + 1}`] : [],
  );
}

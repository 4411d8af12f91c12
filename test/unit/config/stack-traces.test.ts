import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect } from "chai";
import { traceOf } from "../../../config/stack-traces.js";

describe("Stack traces", () => {
  const { prepareStackTrace } = Error;
  let directory: string;
  before(async () => {
    directory = await mkdtemp(join(tmpdir(), "fermata-traces-"));
  });
  after(() => rm(directory, { recursive: true }));
  afterEach(() => {
    Error.prepareStackTrace = prepareStackTrace;
  });

  /** Of an error that a module throws. */
  async function traceOfModule(name: string, map: string | null): Promise<string> {
    const path = join(directory, name);
    await writeFile(path, "export function fail() {\n  throw new TypeError('It is broken.');\n}\n");
    if (map !== null) await writeFile(`${path}.map`, map);
    const { fail } = (await import(pathToFileURL(path).href)) as { fail(): never };
    Error.prepareStackTrace = traceOf;
    try {
      return fail();
    } catch (error) {
      return (error as Error).stack ?? "";
    }
  }

  it("name the lines of the sources where there is a map, and else those of the module", async () => {
    // The second line and its third column are the third line and seventh column of the source.
    const map = JSON.stringify({ version: 3, sources: ["../src/fail.ts"], names: [], mappings: ";EAEM" });
    const source = pathToFileURL(join(directory, "..", "src", "fail.ts")).href;
    const [head, first] = (await traceOfModule("mapped.mjs", map)).split("\n");
    expect([head, first]).to.deep.equal(["TypeError: It is broken.", `    at fail (${source}:3:7)`]);
    for (const [name, given] of [
      ["plain.mjs", null],
      ["spoilt.mjs", "{"],
    ] as const) {
      const place = `${pathToFileURL(join(directory, name)).href}:2:9`;
      expect((await traceOfModule(name, given)).split("\n")[1]).to.equal(`    at fail (${place})`);
    }
  });
});

import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { expect } from "chai";
import { apiReports, REPORTED } from "../../support/api-reports.js";
import { repositoryPath } from "../../support/repository.js";

/** If set, the reports are written instead of compared. */
const isRewriting = process.env["FERMATA_TEST_REWRITE_API"] !== undefined;

describe("The API report in .api", function () {
  this.timeout(120_000);
  let reports: ReadonlyMap<string, string>;
  before(() => {
    reports = apiReports();
  });

  it("is what the entries declare; npm run api:report writes it again, for a change that is meant", () => {
    for (const [file, report] of reports) {
      const path = repositoryPath(".api", file);
      if (isRewriting) writeFileSync(path, report);
      else expect(changesOf(readFileSync(path, "utf8"), report), file).to.deep.equal([]);
    }
    expect(readdirSync(repositoryPath(".api"))).to.have.members([...reports.keys()]);
  });

  it("has every entry of the package, with what it exports", () => {
    const { exports } = JSON.parse(readFileSync(repositoryPath("package.json"), "utf8")) as {
      readonly exports: Readonly<Record<string, { readonly types: string }>>;
    };
    expect(REPORTED).to.have.members(Object.values(exports).map(({ types }) => types.replace("./", "")));
    expect(reports.get("fermata-music.api.md")).to.include("export function compose(");
    expect(reports.get("provider.api.md")).to.include("export class ProviderFailure ");
  });
});

/** Lines that only one of two reports has; all of the second where they differ in the order of lines alone. */
function changesOf(before: string, after: string): string[] {
  if (before === after) return [];
  const [old, now] = [before.split("\n"), after.split("\n")];
  const [removed, added] = [old.filter((line) => !now.includes(line)), now.filter((line) => !old.includes(line))];
  const changes = [...removed.map((line) => `- ${line}`), ...added.map((line) => `+ ${line}`)];
  return changes.length > 0 ? changes : now;
}

import { readdirSync } from "node:fs";
import { expect } from "chai";
import { repositoryPath } from "../support/repository.js";
import { runsOf } from "../support/runs.js";

describe("The runs of npm test", () => {
  const sources = readdirSync(repositoryPath("test"), { recursive: true, encoding: "utf8" });
  const tests = sources.filter((name) => name.endsWith(".test.ts")).map((name) => name.replace(/\.ts$/, ".js"));
  const runs = runsOf(tests);
  const isOnServers = (env: Readonly<Record<string, string>>): boolean => "FERMATA_TEST_STACK" in env;

  it("have every test file once", () => {
    const files = runs.filter(({ env }) => !isOnServers(env)).flatMap((run) => run.files);
    expect(tests.length).to.be.greaterThan(400);
    expect(files.sort()).to.deep.equal(tests.sort());
  });

  it("have those of the API once more, on MySQL and RabbitMQ", () => {
    const [again, ...others] = runs.filter(({ env }) => isOnServers(env));
    expect(others).to.deep.equal([]);
    expect(again?.files.length).to.be.greaterThan(50);
    expect(again?.files.filter((file) => !file.startsWith("api/"))).to.deep.equal([]);
  });

  it("have something each", () => {
    for (const { title, files } of runs) expect(files.length, title).to.be.greaterThan(0);
  });
});

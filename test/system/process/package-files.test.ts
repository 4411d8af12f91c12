import { readFileSync } from "node:fs";
import { expect } from "chai";
import { COPIED, UNWRITTEN } from "../../../adapters/cli/scaffold.js";
import { loadedFrom, packedFiles } from "../../support/package-files.js";
import { repositoryPath } from "../../support/repository.js";

const TESTING = ["dist/test/index", "dist/test/contracts"];

/** Whether a file belongs to a module: compiled, or its declarations. */
const moduleOf = (path: string): string => path.replace(/(\.d\.ts|\.js)$/, "");

describe("The files of the package", function () {
  this.timeout(60_000);
  let files: readonly string[];
  before(async () => {
    files = await packedFiles();
  });

  it("contain of the tests exactly what the entries testing and testing/contracts load", () => {
    const loaded = loadedFrom(TESTING.flatMap((entry) => [`${entry}.js`, `${entry}.d.ts`]));
    const needed = new Set([...loaded].filter((path) => path.startsWith("dist/test/")).map(moduleOf));
    expect(needed.size).to.be.greaterThan(50);
    const packed = files.filter((path) => path.startsWith("dist/test/"));
    expect(new Set(packed.map(moduleOf))).to.deep.equal(needed);
    expect(packed.filter((path) => !/(\.d\.ts|\.js)$/.test(path))).to.deep.equal([]);
  });

  it("contain every module and every declaration that an entry loads", () => {
    const { exports } = JSON.parse(readFileSync(repositoryPath("package.json"), "utf8")) as {
      readonly exports: Readonly<Record<string, { readonly types: string; readonly default: string }>>;
    };
    const entries = Object.values(exports).flatMap((entry) => [entry.types, entry.default]);
    const loaded = loadedFrom([...entries.map((path) => path.replace("./", "")), "dist/config/main.js"]);
    expect(loaded.size).to.be.greaterThan(1_000);
    expect([...loaded].filter((path) => !files.includes(path))).to.deep.equal([]);
  });

  it("contain what a new plugin is copied from", () => {
    expect(files).to.include.members([...Object.values(COPIED), UNWRITTEN]);
  });

  it("contain the container's files together, the chart, those of Prometheus and Grafana, and the licences", () => {
    expect(files).to.include.members([
      ...["config/Dockerfile", "config/Dockerfile.dockerignore", "config/compose.yaml", "config/mysql-rabbitmq.yaml"],
      ...["Chart.yaml", "values.yaml", "values.schema.json", "templates/_helpers.tpl", "templates/NOTES.txt"].map(
        (name) => `config/helm/${name}`,
      ),
      ...["config/observability/alerts.yaml", "config/observability/grafana-dashboard.json"],
      ...["LICENSE", ".github/THIRD-PARTY-NOTICES.md", "dist/adapters/http/generated/web/licences.txt"],
    ]);
  });

  it("contain nothing of the build, no benches and no source maps, whose sources are not there", () => {
    const others = files.filter((path) =>
      /\.tsbuildinfo$|\.map$|\/bench\/|^(core|adapters|config)\/.*\.ts$/.test(path),
    );
    expect(others).to.deep.equal([]);
  });
});

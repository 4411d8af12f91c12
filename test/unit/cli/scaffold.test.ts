import { readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { expect } from "chai";
import { DEVELOPMENT_TOOLS, scaffold } from "../../../adapters/cli/scaffold.js";
import { OperationRefusedError } from "../../../core/errors.js";
import { REPOSITORY, repositoryPath } from "../../support/repository.js";
import { librariesOf, TESTING_ENTRIES } from "../../support/testing-entries.js";

const { exports: EXPORTS, peerDependencies: PEERS } = JSON.parse(
  readFileSync(repositoryPath("package.json"), "utf8"),
) as {
  readonly exports: Readonly<Record<string, unknown>>;
  readonly peerDependencies: Readonly<Record<string, string>>;
};

describe("The package that `plugins new` writes", () => {
  it("imports Fermata by names that its package exports, and files of its own", async () => {
    const files = await scaffold("night-owl", REPOSITORY);
    const exported = Object.keys(EXPORTS).map((path) => `fermata-music${path.slice(1)}`);
    const imported = new Set<string>();
    for (const [path, text] of files) {
      const specifiers = [...text.matchAll(/ from "([^"]+)"/g)].map(([, specifier = ""]) => specifier);
      for (const name of specifiers.filter((name) => exported.includes(name))) imported.add(name);
      const foreign = specifiers.filter((name) => !exported.includes(name));
      const own = foreign.map((name) => new URL(name.replace(/\.js$/, ".ts"), `file:///${path}`).pathname.slice(1));
      expect(
        own.filter((file) => !files.has(file)),
        path,
      ).to.deep.equal([]);
      expect(text, path).to.not.match(/template/i);
    }
    expect([...imported]).to.have.members([
      "fermata-music/provider",
      "fermata-music/testing",
      "fermata-music/testing/contracts",
    ]);
  });

  it("has every peer of Fermata that its conformance suite loads", () => {
    const { loaded } = librariesOf(TESTING_ENTRIES["fermata-music/testing/contracts"]);
    const needed = Object.keys(PEERS).filter((name) => name === "mocha" || loaded.has(name));
    expect(needed).to.have.members(["chai", "fast-check", "fflate", "mocha"]);
    expect(Object.keys(DEVELOPMENT_TOOLS)).to.include.members(needed);
  });

  it("has the provider's id, label and class, and one function left to write", async () => {
    const files = await scaffold("2-night-owl", REPOSITORY);
    expect(files.get("src/index.ts")).to.include('id: "2-night-owl"').and.include('label: "2 Night Owl"');
    expect(files.get("src/provider.ts")).to.include("export class The2NightOwlProvider implements");
    expect(files.get("src/map.ts"))
      .to.include("toTracks in src/map.ts is not written yet")
      .and.not.include("durationSeconds: seconds");
    expect(files.get("test/provider.test.ts")).to.include('musicProviderContract("2-night-owl", harness);');
  });

  it("shows how to switch the plugin on: it is off by default", async () => {
    const readme = (await scaffold("night-owl", REPOSITORY)).get("README.md");
    expect(readme).to.match(/^ {2}night-owl:\n {4}enabled: true\n {4}use: "fermata-night-owl"$/m);
  });

  it("is refused, with a reason, by an installation without the template", async () => {
    const thrown: unknown = await scaffold("night-owl", tmpdir()).catch((error: unknown) => error);
    expect(thrown).to.be.instanceOf(OperationRefusedError);
    expect((thrown as Error).message).to.equal(
      "The template of a plugin package is not in this installation; run this command in a checkout, " +
        "or from the npm package.",
    );
  });
});

import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { promisify } from "node:util";
import { expect } from "chai";
import { FakeApi, json } from "../../support/provider-kit/index.js";
import { repositoryPath } from "../../support/repository.js";
import { sbom } from "../../support/sbom.js";

interface Component {
  readonly name: string;
  readonly version?: string;
  readonly purl?: string;
  readonly licenses?: readonly { readonly license?: { readonly id?: string }; readonly expression?: string }[];
}

interface Lock {
  readonly packages: Readonly<
    Record<string, { readonly version: string; readonly dev?: boolean; readonly name?: string }>
  >;
}

const manifest = JSON.parse(readFileSync(repositoryPath("package.json"), "utf8")) as {
  readonly name: string;
  readonly version: string;
  readonly publishConfig?: object;
};

describe("The bill of materials", function () {
  this.timeout(120_000);

  it("names the package and all that it is installed with, each with its licence, the same each time", async () => {
    const text = await sbom();
    const { bomFormat, specVersion, metadata, components } = JSON.parse(text) as {
      readonly bomFormat: string;
      readonly specVersion: string;
      readonly metadata: { readonly component: Component };
      readonly components: readonly Component[];
    };
    expect([bomFormat, specVersion]).to.deep.equal(["CycloneDX", "1.5"]);
    expect(metadata.component).to.include({ name: manifest.name, version: manifest.version });
    const { packages } = JSON.parse(readFileSync(repositoryPath("package-lock.json"), "utf8")) as Lock;
    const installed = Object.entries(packages)
      .filter(([path, { dev }]) => path !== "" && dev !== true)
      .map(([path, { name = path.split("node_modules/").at(-1), version }]) => `pkg:npm/${name}@${version}`);
    const listed = components.map(({ purl }) => decodeURIComponent(purl ?? ""));
    expect(installed.filter((one) => !listed.includes(one))).to.deep.equal([]);
    expect(listed.filter((one) => /npm\/(?:mocha|eslint|typescript)@/.test(one))).to.deep.equal([]);
    for (const name of ["LAME", "libmpg123", "libFLAC"])
      expect(
        components.some((one) => one.name === name),
        name,
      ).to.equal(true);
    const bare = components.filter(({ licenses }) => (licenses ?? []).length === 0);
    expect(bare.map(({ name }) => name)).to.deep.equal([]);
    expect(await sbom()).to.equal(text);
  });
});

describe("The audit of dependencies", function () {
  this.timeout(120_000);
  let registry: FakeApi;
  beforeEach(async () => {
    registry = await FakeApi.open();
  });
  afterEach(() => registry.close());

  async function audit(): Promise<{ readonly code: number; readonly stdout: string }> {
    const env = { ...process.env, npm_config_registry: registry.url, npm_config_fetch_retries: "0" };
    return promisify(execFile)(repositoryPath(".ci/audit"), { env }).then(
      ({ stdout }) => ({ code: 0, stdout }),
      (error: { readonly code: number; readonly stdout: string }) => error,
    );
  }

  const ULID = { name: "ulid", version: "3.0.2" };
  const ADVISORIES = "/-/npm/v1/security/advisories/bulk";

  it("fails with the name of a package that has a known vulnerability", async () => {
    const advisory = {
      ...{ id: 1, url: "https://example.com/1", title: "Ids can be guessed", severity: "high" },
      ...{ vulnerable_versions: "<99", cwe: [], cvss: { score: 8, vectorString: null } },
    };
    registry.on("POST", ADVISORIES, json({ ulid: [advisory] }));
    registry.on("GET", "/ulid", json({ name: "ulid", "dist-tags": {}, versions: { "3.0.2": ULID } }));
    const { code, stdout } = await audit();
    expect(code).to.equal(1);
    expect(stdout).to.include("high: ulid *: Ids can be guessed\n");
  });

  it("passes where nothing is known, and says where a registry cannot be asked", async () => {
    registry.on("POST", ADVISORIES, json({}));
    expect(await audit()).to.include({ stdout: "0 known vulnerabilities in what is installed for production\n" });
    registry.on("POST", ADVISORIES, json({ error: "no" }, { status: 405 }));
    const { code, stdout } = await audit();
    expect([code, stdout]).to.deep.equal([0, "not audited: 405 Method Not Allowed\n"]);
  });
});

describe("The published package", () => {
  it("says by whom and from which sources it was built: with provenance, for everyone", () => {
    expect(manifest.publishConfig).to.deep.equal({ access: "public", provenance: true });
  });
});

import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readFile, realpath, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { expect } from "chai";
import { ApiClient } from "../../support/api-client.js";
import { FermataProcess } from "../../support/process.js";
import { repositoryPath } from "../../support/repository.js";

const run = promisify(execFile);

/** Packed as `npm pack` does from the build, with only the dependencies of its manifest. */
describe("The package, installed by another app", function () {
  this.timeout(120_000);
  let folder: string;
  let installed: string;
  let dependencies: readonly string[];
  let running: FermataProcess | undefined;

  before(async () => {
    folder = await realpath(await mkdtemp(join(tmpdir(), "fermata-package-")));
    const options = { cwd: repositoryPath(), env: { ...process.env, npm_config_cache: join(folder, "cache") } };
    const { stdout } = await run("npm", ["pack", "--ignore-scripts", "--json", "--pack-destination", folder], options);
    const [{ filename }] = JSON.parse(stdout) as [{ readonly filename: string }];
    installed = join(folder, "node_modules", "fermata");
    await mkdir(installed, { recursive: true });
    await run("tar", ["-xzf", join(folder, filename), "-C", installed, "--strip-components=1"]);
    const manifest = JSON.parse(await readFile(join(installed, "package.json"), "utf8")) as {
      readonly dependencies: Readonly<Record<string, string>>;
    };
    dependencies = Object.keys(manifest.dependencies);
    for (const name of dependencies) {
      await mkdir(dirname(join(folder, "node_modules", name)), { recursive: true });
      await symlink(repositoryPath("node_modules", name), join(folder, "node_modules", name));
    }
  });
  after(async () => {
    await running?.kill();
    await rm(folder, { recursive: true, force: true });
  });

  it("serves the API description without the package that generated it or its telemetry", async () => {
    expect(dependencies).to.not.include("swagger-ui-dist");
    const env = { FERMATA_DATA_DIR: join(folder, "data"), FERMATA_HTTP__PORT: "0" };
    running = new FermataProcess(["start"], env, folder, join(installed, "dist", "config", "main.js"));
    const api = new ApiClient(await running.listening(), null);
    const page = await api.get("/docs");
    const files = [...page.text.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, link]) => link as string);
    expect(files).to.include("docs/swagger-ui-bundle.js").and.include("docs/swagger-ui.css");
    for (const file of files) expect((await api.get(`/${file}`)).status, file).to.equal(200);
  });

  it("contains the licences of everything in it", async () => {
    for (const file of ["LICENSE", "NOTICE", "swagger-ui-bundle.js.LICENSE.txt"]) {
      const copied = await readFile(join(installed, "dist/adapters/http/generated/swagger-ui", file), "utf8");
      expect(copied, file).to.equal(await readFile(repositoryPath("node_modules", "swagger-ui-dist", file), "utf8"));
    }
    const notices = await readFile(join(installed, ".github", "THIRD-PARTY-NOTICES.md"), "utf8");
    expect(notices)
      .to.match(/^\| swagger-ui-dist \| /m)
      .and.include("Copyright (c) 2018 Jed Watson");
  });
});

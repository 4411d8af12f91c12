import { execFile } from "node:child_process";
import { appendFile, mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect } from "chai";
import { PROVIDER_PORT_VERSION } from "../../../core/ports/music-provider.js";
import { type CommandResult, type Environment, useSandbox } from "../../support/process.js";
import { REPOSITORY } from "../../support/repository.js";

describe("A refused start", function () {
  this.timeout(90_000);
  const sandbox = useSandbox();

  /** Runs `start` until it exits by itself. */
  async function refused(dataDir: string, env: Environment = {}): Promise<CommandResult> {
    const result = await sandbox.command(["start"], dataDir, env);
    expect(result.stdout).to.equal("");
    return result;
  }

  it("exits with 2 and a line for every wrong setting, secrets masked", async () => {
    const started = sandbox.spawn(["start"], await sandbox.dataDir(), {
      FERMATA_HTTP__PORT: "eighty",
      FERMATA_JOBS__LEASE_SECONDS: "0",
      FERMATA_HTPP__HOST: "127.0.0.1",
      FERMATA_SECRETS__KEY: "tooShortASecret",
    });
    expect(await started.exited).to.deep.equal({ code: 2, signal: null });
    const [title, ...lines] = started.stderr.trim().split("\n");
    expect(title).to.equal("4 settings are wrong:");
    expect(lines).to.have.length(4);
    expect(lines.find((line) => line.startsWith("http.port"))).to.match(
      /"eighty" is not allowed; allowed: an integer from 0 to 65535$/,
    );
    expect(lines.find((line) => line.startsWith("jobs.leaseSeconds"))).to.match(
      /\(FERMATA_JOBS__LEASE_SECONDS\): .*allowed: /,
    );
    expect(lines.find((line) => line.startsWith("FERMATA_HTPP__HOST"))).to.include("unknown setting");
    expect(lines.find((line) => line.startsWith("secrets.key"))).to.include("at least 32 characters");
    expect(started.stderr).to.not.include("tooShortASecret");
    expect(started.stdout).to.equal("");
  });

  it("names the address in use, exits with 1, and leaves the first process running", async () => {
    const dataDir = await sandbox.dataDir();
    const first = sandbox.call(["start"], dataDir);
    const url = await first.listening();
    const { port } = new URL(url);
    const { code, stderr } = await refused(await sandbox.dataDir(), { FERMATA_HTTP__PORT: port });
    expect(code).to.equal(1);
    expect(stderr).to.include(`Cannot listen on 127.0.0.1:${port} (http.host, http.port): the port is in use.`);
    expect((await fetch(`${url}/readyz`)).status).to.equal(200);
    expect(await first.stop()).to.equal(0);
  });

  it("keeps the demo key for the next start when the address is in use", async () => {
    const first = sandbox.call(["start"], await sandbox.dataDir());
    const { port } = new URL(await first.listening());
    const dataDir = await sandbox.dataDir();
    expect((await refused(dataDir, { FERMATA_HTTP__PORT: port })).code).to.equal(1);
    const second = sandbox.call(["start"], dataDir);
    await second.listening();
    await second.stop();
    expect(second.stdout).to.include("The account `demo` was created");
  });

  it("refuses a storage that was opened with another secrets.key", async () => {
    const dataDir = await sandbox.dataDir();
    await sandbox.json(["migrate"], dataDir);
    const key = "the first key, thirty-two characters";
    await sandbox.command(["jobs", "list"], dataDir, { FERMATA_SECRETS__KEY: key });
    const { code, stderr } = await refused(dataDir, { FERMATA_SECRETS__KEY: `${key}!` });
    expect(code).to.equal(1);
    expect(stderr).to.include("secrets.key is not the key this storage was first opened with");
    expect(stderr).to.not.include(key);
    expect((await sandbox.command(["jobs", "list"], dataDir, { FERMATA_SECRETS__KEY: key })).code).to.equal(0);
  });

  it("refuses a damaged secret.key instead of creating another", async () => {
    const dataDir = await sandbox.dataDir();
    await sandbox.json(["migrate"], dataDir);
    await writeFile(join(dataDir, "secret.key"), "cut o");
    const { code, stderr } = await refused(dataDir);
    expect(code).to.equal(1);
    expect(stderr).to.include(`The secret key ${join(dataDir, "secret.key")} cannot be used`);
  });

  it("names a file that is not a database", async () => {
    const dataDir = await sandbox.dataDir();
    await appendFile(join(dataDir, "fermata.sqlite"), "This is a shopping list, not a database. ".repeat(100));
    const { code, stderr } = await refused(dataDir);
    expect(code).to.equal(1);
    expect(stderr).to.include(
      `The SQLite file ${join(dataDir, "fermata.sqlite")} cannot be opened: file is not a database`,
    );
  });

  it("names a database that cannot be opened", async () => {
    const dataDir = await sandbox.dataDir();
    await mkdir(join(dataDir, "fermata.sqlite"));
    const { code, stderr } = await refused(dataDir);
    expect(code).to.equal(1);
    expect(stderr).to.include(`The SQLite file ${join(dataDir, "fermata.sqlite")} cannot be opened`);
  });

  it("creates a missing database only with start: serve and work require a migration", async () => {
    const dataDir = await sandbox.dataDir();
    await sandbox.json(["migrate"], dataDir);
    await rm(join(dataDir, "fermata.sqlite"));
    for (const mode of ["serve", "work"]) {
      const { code, stderr } = await sandbox.command([mode], dataDir);
      expect(code, mode).to.equal(1);
      expect(stderr, mode).to.include("`npm run -s fermata -- migrate`");
    }
  });

  it("names a command that works when it is pasted", async () => {
    const dataDir = await sandbox.dataDir();
    const { stderr } = await sandbox.command(["jobs", "list"], dataDir);
    const [, command = ""] = /^The storage lacks .* Run `(.+)` first\.$/m.exec(stderr) ?? [];
    const env = { ...process.env, FERMATA_DATA_DIR: dataDir };
    const { stdout } = await promisify(execFile)("sh", ["-c", command], { cwd: REPOSITORY, env });
    expect(stdout).to.match(/^Applied 0001-accounts\.$/m);
    expect((await sandbox.command(["jobs", "list"], dataDir)).code).to.equal(0);
  });

  it("names a data directory that is not writable", async () => {
    const file = join(await sandbox.dataDir(), "file");
    await writeFile(file, "");
    const { code, stderr } = await refused(join(file, "data"));
    expect(code).to.equal(1);
    expect(stderr).to.include(`The data directory ${join(file, "data")} (dataDir) cannot be written: ENOTDIR`);
  });

  it("says why a plugin does not load: its port version and the supported one", async () => {
    const dataDir = await sandbox.dataDir();
    const plugin = join(dataDir, "old-plugin.mjs");
    await writeFile(
      plugin,
      'export default { id: "nightingale", portVersion: 99, settings: {}, models: [], create() {} };',
    );
    const { code, stderr } = await refused(dataDir, {
      FERMATA_PLUGINS__NIGHTINGALE__ENABLED: "true",
      FERMATA_PLUGINS__NIGHTINGALE__USE: plugin,
    });
    expect(code).to.equal(2);
    expect(stderr).to.include(
      `plugins.nightingale (${plugin}): it speaks port version 99; this Fermata speaks ${PROVIDER_PORT_VERSION}\n`,
    );
  });

  it("names a missing plugin package", async () => {
    const { code, stderr } = await refused(await sandbox.dataDir(), {
      FERMATA_PLUGINS__NIGHTINGALE__ENABLED: "true",
      FERMATA_PLUGINS__NIGHTINGALE__USE: "fermata-nightingale-missing",
    });
    expect(code).to.equal(2);
    expect(stderr).to.match(
      /^A setting is wrong: plugins\.nightingale \(fermata-nightingale-missing\): fermata-nightingale-missing cannot be loaded: there is no such package in /m,
    );
  });
});

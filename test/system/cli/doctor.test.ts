import { chmod, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import type { CheckResult } from "../../../core/ports/self-check.js";
import { ApiClient, dataOf } from "../../support/api-client.js";
import { mysqlStorage } from "../../support/mysql.js";
import { type Environment, useSandbox } from "../../support/process.js";
import { openQueueSpace } from "../../support/rabbitmq.js";

interface Diagnosis {
  readonly ok: boolean;
  readonly checks: readonly CheckResult[];
}

describe("fermata doctor", () => {
  const sandbox = useSandbox();

  async function migrated(): Promise<string> {
    const dataDir = await sandbox.dataDir();
    await sandbox.json(["migrate"], dataDir);
    return dataDir;
  }

  /** What it finds that is not as it should be, and its exit code. */
  async function wrong(
    dataDir: string,
    env?: Environment,
  ): Promise<{ readonly code: number; readonly checks: readonly CheckResult[] }> {
    const { code, json } = await sandbox.command(["doctor", "--json"], dataDir, env);
    const { ok, checks } = json<Diagnosis>();
    expect(ok).to.equal(code === 0);
    return { code, checks: checks.filter(({ result }) => result !== "ok") };
  }

  it("finds a migrated installation well", async () => {
    const dataDir = await migrated();
    const { ok, checks } = await sandbox.json<Diagnosis>(["doctor"], dataDir);
    expect(ok, JSON.stringify(checks)).to.equal(true);
    for (const check of checks) expect(Object.keys(check)).to.deep.equal(["name", "result", "message", "fix", "mend"]);
    const secrets = ["secret key", "secret key rotation"];
    const names = ["node", "plugins", "data directory", ...secrets, "sqlite writes", "schema", "queue"];
    expect(checks.map(({ name }) => name)).to.include.members(names);
    const { stdout } = await sandbox.command(["doctor"], dataDir);
    expect(stdout).to.match(/^ok +node +Node \d/);
    expect(stdout).to.match(/^\d+ ok, \d warnings?, 0 failed$/m);
  });

  it("exits with 1 where nothing is yet, says what to run, and makes nothing", async () => {
    const dataDir = await sandbox.dataDir();
    const { code, checks } = await wrong(dataDir);
    expect(code).to.equal(1);
    expect(checks.filter(({ result }) => result === "failed").map(({ name, fix }) => [name, fix])).to.deep.equal([
      ["sqlite file", "Run `npm run -s fermata -- migrate`, or `npm run -s fermata -- start`."],
    ]);
    expect(await readdir(dataDir)).to.deep.equal([]);
  });

  it("names active webhook endpoints that may not be reached any more", async () => {
    const dataDir = await migrated();
    const { id } = await sandbox.json<{ id: string }>(
      ["accounts", "create", "alice", "--tier", "pro", "--accept-terms"],
      dataDir,
    );
    const { key } = await sandbox.json<{ key: string }>(["keys", "issue", id], dataDir);
    const server = sandbox.call(["start"], dataDir, {
      FERMATA_WEBHOOKS__ALLOW_NETWORKS: "127.0.0.0/8",
      FERMATA_DEMO__ENABLED: "false",
    });
    const api = new ApiClient(await server.listening(), key);
    const body = { url: "https://127.0.0.1:9000/hook" };
    const endpoint = dataOf<{ id: string }>(
      await api.send("POST", "/api/v1/webhook-endpoints", { headers: { "Content-Type": "application/json" }, body }),
    );
    await server.stop();
    const found = (await wrong(dataDir)).checks.find(({ name }) => name === "webhook endpoints");
    expect(found).to.include({ result: "warning" });
    expect(found?.message).to.include(`${endpoint.id} (127.0.0.1:9000, 127.0.0.1)`);
    const allowed = await wrong(dataDir, { FERMATA_WEBHOOKS__ALLOW_NETWORKS: "127.0.0.0/8" });
    expect(allowed.checks.map(({ name }) => name)).not.to.include("webhook endpoints");
  });

  it("exits with 1 and names a data directory that cannot be written", async () => {
    const file = join(await sandbox.dataDir(), "file");
    await writeFile(file, "");
    const { code, stdout } = await sandbox.command(["doctor"], join(file, "data"));
    expect(code).to.equal(1);
    expect(stdout).to.match(
      /^failed +data directory +\S+ \(dataDir\) cannot be written: ENOTDIR.*\n +Give it to the user/m,
    );
  });

  it("exits with 2 when the settings are wrong", async () => {
    const { code, stderr } = await sandbox.command(["doctor"], await sandbox.dataDir(), { FERMATA_HTTP__PORT: "x" });
    expect(code).to.equal(2);
    expect(stderr).to.include("http.port");
  });

  it("exits with 0 when all it has are warnings, and says how to fix them", async () => {
    const dataDir = await migrated();
    const { code, stdout } = await sandbox.command(["doctor"], dataDir, { FERMATA_HTTP__TRUST_PROXY: "uniquelocal" });
    expect(code).to.equal(0);
    expect(stdout).to.match(/^warning +trusted proxies +.*\n +Name the proxy's own address.*$/m);
    expect(stdout).to.match(/^\d+ ok, [1-9] warnings?, 0 failed$/m);
  });

  it("finds a secret key that others may read, and one that is not the storage's", async () => {
    const dataDir = await migrated();
    await sandbox.json(["jobs", "list"], dataDir);
    await chmod(join(dataDir, "secret.key"), 0o644);
    expect((await wrong(dataDir)).checks.map(({ name, fix }) => [name, fix])).to.deep.include([
      "secret key",
      `\`chmod 600 ${join(dataDir, "secret.key")}\``,
    ]);
    const other = await wrong(dataDir, { FERMATA_SECRETS__KEY: "x".repeat(40) });
    expect(other.code).to.equal(1);
    expect(other.checks.find(({ name }) => name === "secret key")?.message).to.include(
      "not the one this storage was first opened with",
    );
  });

  it("finds that links would lead nowhere, and that there is no plugin", async () => {
    const dataDir = await migrated();
    const { code, checks } = await wrong(dataDir, {
      FERMATA_HTTP__HOST: "0.0.0.0",
      FERMATA_PLUGINS__SYNTH__ENABLED: "false",
    });
    expect(code).to.equal(1);
    expect(checks.filter(({ result }) => result === "failed").map(({ name, fix }) => [name, fix])).to.deep.equal([
      ["plugins", "Set plugins.ID.enabled to true."],
      ["public address", "Set http.publicUrl to what callers use."],
    ]);
  });

  it("looks at MySQL and RabbitMQ too, and finds them well", async () => {
    const storage = await mysqlStorage.open();
    const space = await openQueueSpace();
    const env = {
      FERMATA_STORAGE__URL: storage.url,
      FERMATA_QUEUE__URL: space.url,
      FERMATA_SECRETS__KEY: "s".repeat(40),
      FERMATA_HTTP__HOST: "0.0.0.0",
      FERMATA_HTTP__PUBLIC_URL: "https://music.example.com",
    };
    try {
      const { checks } = await sandbox.json<Diagnosis>(["doctor"], await sandbox.dataDir(), env);
      expect(checks.filter(({ result }) => result === "failed")).to.deep.equal([]);
      const mysql = ["mysql version", "mysql privileges", "mysql binary log"];
      const names = [...mysql, "clock", "schema", "rabbitmq version", `rabbitmq queue ${space.queueOf("synth")}`];
      expect(checks.map(({ name }) => name)).to.include.members(names);
    } finally {
      await space.clear("synth");
      await storage.close();
    }
  });

  it("shows no password, whatever it is refused", async () => {
    const [storagePassword, queuePassword] = ["open-sesame", "p%40ssw0rd"];
    const env = {
      FERMATA_STORAGE__URL: `mysql://fermata:${storagePassword}@127.0.0.1:1/fermata`,
      FERMATA_QUEUE__URL: `amqp://fermata:${queuePassword}@127.0.0.1:1`,
      FERMATA_LOGS__LEVEL: "debug",
    };
    for (const args of [["doctor"], ["doctor", "--json"]]) {
      const { code, stdout, stderr } = await sandbox.command(args, await sandbox.dataDir(), env);
      expect(code).to.equal(1);
      expect(stdout).to.include("mysql connection").and.include("rabbitmq connection").and.include("ECONNREFUSED");
      for (const secret of [storagePassword, queuePassword, decodeURIComponent(queuePassword)]) {
        expect(stdout + stderr).to.not.include(secret);
      }
    }
  });
});

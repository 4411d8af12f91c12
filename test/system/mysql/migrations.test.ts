import { expect } from "chai";
import { MIGRATIONS } from "../../../adapters/storage/sql/migrations/index.js";
import { createMysqlDatabase } from "../../support/mysql.js";
import { query } from "../../support/mysql-server.js";
import { useSandbox } from "../../support/process.js";

const NAMES = MIGRATIONS.map(({ name }) => name);
const SECRET = {
  FERMATA_SECRETS__KEY: "a secret of sufficient length for every process",
  FERMATA_DEMO__ENABLED: "false",
};

describe("Processes on one MySQL database", function () {
  this.timeout(120_000);

  const sandbox = useSandbox();
  let url: string;
  let drop: () => Promise<void>;
  let env: Record<string, string>;
  beforeEach(async () => {
    ({ url, drop } = await createMysqlDatabase());
    env = { ...SECRET, FERMATA_STORAGE__URL: url };
  });
  afterEach(async () => {
    await sandbox.clear();
    await drop();
  });

  const applied = async (): Promise<string[]> =>
    (await query<{ name: string }>(url, "SELECT name FROM fermata_migrations ORDER BY id")).map(({ name }) => name);

  it("migrate it once when ten start together", async () => {
    const apart = { ...env, FERMATA_PLUGINS__SYNTH__ENABLED: "false" };
    const migrating = Array.from({ length: 8 }, () => sandbox.spawn(["migrate"], "/nonexistent", apart));
    const starting = [await sandbox.dataDir(), await sandbox.dataDir()].map((dataDir) =>
      sandbox.spawn(["start"], dataDir, apart),
    );
    const exits = await Promise.all(migrating.map(({ exited }) => exited));
    expect(
      exits.map(({ code }) => code),
      migrating.map(({ stderr }) => stderr).join(""),
    ).to.deep.equal(Array(8).fill(0));
    await Promise.all(starting.map((started) => started.listening()));
    expect(await applied()).to.deep.equal(NAMES);
    expect(await Promise.all(starting.map((started) => started.stop()))).to.deep.equal([0, 0]);
  });

  const future = async (needs: string): Promise<void> => {
    await query(url, "INSERT INTO fermata_migrations (name, batch) VALUES ('9999-from-the-future', 2)");
    await query(url, `UPDATE fermata_installation SET value = '${needs}' WHERE name = 'schema_needs'`);
  };

  it("refuse to start on a schema of a newer version that needs it, log it, and do not change it", async () => {
    expect((await sandbox.command(["migrate"], "/nonexistent", env)).code).to.equal(0);
    await future("9999-from-the-future");
    for (const command of ["start", "serve", "work", "migrate"]) {
      const { code, stdout, stderr } = await sandbox.command([command], await sandbox.dataDir(), env);
      expect([code, stdout], command).to.deep.equal([1, ""]);
      expect(stderr, command).to.include("9999-from-the-future").and.include("newer");
    }
    expect(await applied()).to.deep.equal([...NAMES, "9999-from-the-future"]);
  });

  it("serve and work on what a newer version added to the schema, until it takes away what they need", async () => {
    expect((await sandbox.command(["migrate"], "/nonexistent", env)).code).to.equal(0);
    await future(NAMES.at(-1) ?? "");
    const serving = sandbox.spawn(["serve"], await sandbox.dataDir(), env);
    const address = await serving.listening();
    const ready = async (): Promise<number> => (await fetch(`${address}/readyz`)).status;
    expect(await ready()).to.equal(200);
    await query(url, "UPDATE fermata_installation SET value = '9999-from-the-future' WHERE name = 'schema_needs'");
    expect(await ready()).to.equal(503);
    expect(await serving.stop()).to.equal(0);
  });

  it("refuse to serve or work on an older schema, and name the command that fixes it", async () => {
    for (const command of ["serve", "work"]) {
      const { code, stderr } = await sandbox.command([command], await sandbox.dataDir(), env);
      expect(code, command).to.equal(1);
      expect(stderr, command).to.include("`npm run -s fermata -- migrate`");
    }
  });
});

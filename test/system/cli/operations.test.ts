import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import BetterSqlite3 from "better-sqlite3";
import { expect } from "chai";
import { MIGRATIONS } from "../../../adapters/storage/sql/migrations/index.js";
import { useSandbox } from "../../support/process.js";

const NAMES = MIGRATIONS.map(({ name }) => name);

describe("fermata migrate", () => {
  const sandbox = useSandbox();

  it("says what it applied, and that the second time there was nothing", async () => {
    const dataDir = await sandbox.dataDir();
    expect(await sandbox.json(["migrate"], dataDir)).to.deep.equal({ applied: NAMES });
    expect(await sandbox.json(["migrate"], dataDir)).to.deep.equal({ applied: [] });
    expect((await sandbox.command(["migrate"], dataDir)).stdout).to.equal("The schema is up to date.\n");
    const other = await sandbox.command(["migrate"], await sandbox.dataDir());
    expect(other.stdout).to.equal(NAMES.map((name) => `Applied ${name}.\n`).join(""));
  });

  it("is what serve, work and every other command ask for when the schema is old", async () => {
    const dataDir = await sandbox.dataDir();
    await sandbox.json(["migrate"], dataDir);
    const missing = NAMES.slice(NAMES.indexOf("0029-track-lyrics"));
    change(dataDir, `DELETE FROM fermata_migrations WHERE name IN (${missing.map((name) => `'${name}'`).join()})`);
    change(dataDir, "DROP TABLE fermata_track_lyrics");
    change(dataDir, "DROP TABLE fermata_admin_tokens");
    change(dataDir, "DROP TABLE fermata_account_deletions");
    change(dataDir, "DROP TABLE fermata_file_deletions");
    change(dataDir, "DROP TABLE fermata_job_sources");
    change(dataDir, "DROP TABLE fermata_ledger_checkpoints");
    change(dataDir, "DROP TABLE fermata_ledger_openings");
    change(dataDir, "DROP TABLE fermata_ledger_archives");
    for (const args of [["serve"], ["work"], ["jobs", "list"], ["ledger", "verify"]]) {
      const { code, stdout, stderr } = await sandbox.command(args, dataDir);
      expect([code, stdout], args.join(" ")).to.deep.equal([1, ""]);
      expect(stderr, args.join(" ")).to.equal(
        `The storage lacks ${missing.join(", ")}. Run \`npm run -s fermata -- migrate\` first.\n`,
      );
    }
    expect(await sandbox.json(["migrate"], dataDir)).to.deep.equal({ applied: missing });
    const served = sandbox.call(["serve"], dataDir);
    await served.listening();
    expect(await served.stop()).to.equal(0);
  });

  it("leaves a schema of a newer version alone, and start does too", async () => {
    const dataDir = await sandbox.dataDir();
    await sandbox.json(["migrate"], dataDir);
    change(
      dataDir,
      "INSERT INTO fermata_migrations (name, batch, migration_time) VALUES ('9999-tomorrow', 2, '2030-01-01')",
    );
    for (const command of ["migrate", "start", "serve"]) {
      const { code, stderr } = await sandbox.command([command], dataDir);
      expect(code, command).to.equal(1);
      expect(stderr, command).to.include("newer").and.to.include("9999-tomorrow");
    }
  });
});

interface Listed {
  readonly options: readonly { readonly name: string }[];
  readonly references: readonly { readonly mode: string }[];
}

describe("fermata models and plugins", () => {
  const sandbox = useSandbox();

  it("lists the models of the enabled plugin as the API shows them", async () => {
    const dataDir = await sandbox.dataDir();
    await sandbox.json(["migrate"], dataDir);
    const { models } = await sandbox.json<{ models: readonly Listed[] }>(["models", "list"], dataDir);
    const [{ options, references, ...model }] = models as [Listed];
    expect(model).to.deep.equal({
      id: "synth/instrumental",
      name: "Synth Instrumental",
      provider_label: "Fermata Synth",
      supports_lyrics: false,
      supports_instrumental: true,
      credit_cost: 10,
      credit_bounds: { minimum: 10, maximum: 10 },
      status: "available",
      duration: { minimum: 5, maximum: 240 },
      prompt_max_length: 3_000,
      lyrics_max_length: 0,
      requires_lyrics: false,
    });
    expect(options.map(({ name }) => name)).to.deep.equal(["seed", "bpm", "key"]);
    expect(references.map(({ mode }) => mode)).to.deep.equal(["extend"]);
    expect(models).to.have.length(2);
    expect((await sandbox.command(["models", "list"], dataDir)).stdout).to.match(
      /^synth\/instrumental +10 credits +available\nsynth\/song +15 credits +available\n$/,
    );
    const { plugins } = await sandbox.json<{ plugins: object[] }>(["plugins", "list"], dataDir);
    expect(plugins).to.deep.equal([
      {
        id: "synth",
        label: "Fermata Synth",
        enabled: true,
        source: "built-in",
        port_version: 2,
        models: ["synth/instrumental", "synth/song"],
      },
    ]);
  });

  it("loads a plugin from a path and shows its models", async () => {
    const dataDir = await sandbox.dataDir();
    await sandbox.json(["migrate"], dataDir);
    const path = join(dataDir, "nightingale.mjs");
    await writeFile(path, A_PLUGIN);
    const env = { FERMATA_PLUGINS__NIGHTINGALE__ENABLED: "true", FERMATA_PLUGINS__NIGHTINGALE__USE: path };
    const { plugins } = await sandbox.json<{ plugins: { id: string }[] }>(["plugins", "list"], dataDir, env);
    expect(plugins.find(({ id }) => id === "nightingale")).to.deep.equal({
      id: "nightingale",
      label: "Nightingale",
      enabled: true,
      source: path,
      port_version: 2,
      models: ["nightingale/v1"],
    });
    const { models } = await sandbox.json<{ models: { id: string; status: string }[] }>(
      ["models", "list"],
      dataDir,
      env,
    );
    expect(models.find(({ id }) => id === "nightingale/v1")).to.include({ status: "available", credit_cost: 4 });
  });

  it("shows a plugin that is off, its models unavailable", async () => {
    const dataDir = await sandbox.dataDir();
    await sandbox.json(["migrate"], dataDir);
    const env = { FERMATA_PLUGINS__SYNTH__ENABLED: "false" };
    const { models } = await sandbox.json<{ models: { status: string }[] }>(["models", "list"], dataDir, env);
    expect(models.map(({ status }) => status)).to.deep.equal(["unavailable", "unavailable"]);
    expect((await sandbox.command(["plugins", "list"], dataDir, env)).stdout).to.match(
      /^synth +off +built-in +synth\/instrumental, synth\/song\n$/,
    );
  });
});

const A_PLUGIN = `
export default {
  id: "nightingale",
  label: "Nightingale",
  portVersion: 2,
  concurrency: 1,
  settings: {},
  models: [
    {
      id: "nightingale/v1", name: "v1", creditCost: 4, supportsLyrics: false, supportsInstrumental: true,
      duration: null,
    },
  ],
  capabilities: { idempotentSubmit: false, lookup: false, cancel: false },
  create: () => ({ submit: async () => { throw new Error("not today"); } }),
};
`;

function change(dataDir: string, sql: string): void {
  const database = new BetterSqlite3(join(dataDir, "fermata.sqlite"));
  database.exec(sql);
  database.close();
}

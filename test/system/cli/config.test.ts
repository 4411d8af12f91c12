import { readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { describeSettings } from "../../../config/settings.js";
import { type Environment, useSandbox } from "../../support/process.js";

interface Shown {
  readonly path: string;
  readonly value: unknown;
  readonly origin: string;
  readonly source: string | null;
}

/** A database that does not respond: neither command asks it. */
const STORAGE = "mysql://fermata:letmein@127.0.0.1:1/fermata";

const ADAPTER = `
export default {
  port: "queue", portVersion: 1,
  schemes: { pigeon: { form: "pigeon:PATH", rest: "path" } },
  settings: {
    pin: { type: "string", secret: true, description: "Opens the loft" },
    wings: { type: "integer", default: 2, description: "How many" },
  },
  open: async () => { throw new Error("never opened"); },
};
`;

describe("fermata config", () => {
  const sandbox = useSandbox();

  async function settings(dataDir: string, env: Environment): Promise<ReadonlyMap<string, Omit<Shown, "path">>> {
    const { settings: list } = await sandbox.json<{ settings: readonly Shown[] }>(["config", "print"], dataDir, env);
    return new Map(list.map(({ path, ...shown }) => [path, shown]));
  }

  it("print shows each setting in force with where it comes from, and masks secrets; without a database", async () => {
    const dataDir = await sandbox.dataDir();
    const config = join(await sandbox.dataDir(), "fermata.yaml");
    await writeFile(
      config,
      "http: { port: 9000, host: 0.0.0.0 }\nplugins: { elevenlabs: { enabled: true, apiKey: opensesame } }\n",
    );
    const env = {
      FERMATA_CONFIG: config,
      FERMATA_STORAGE__URL: STORAGE,
      FERMATA_HTTP__PORT: "9001",
      FERMATA_SECRETS__KEY: "a key that has thirty-two characters",
    };
    const shown = await settings(dataDir, env);
    expect(shown.get("http.host")).to.deep.equal({ value: "0.0.0.0", origin: "file", source: "fermata.yaml" });
    expect(shown.get("http.port")).to.deep.equal({
      value: 9001,
      origin: "environment",
      source: "FERMATA_HTTP__PORT",
    });
    expect(shown.get("jobs.leaseSeconds")).to.deep.equal({ value: 30, origin: "default", source: null });
    expect(shown.get("tiers.pro.maxConcurrent")).to.deep.equal({ value: 10, origin: "default", source: null });
    expect(shown.get("secrets.key")).to.deep.equal({
      value: "[redacted]",
      origin: "environment",
      source: "FERMATA_SECRETS__KEY",
    });
    expect(shown.get("secrets.previousKey")).to.deep.equal({ value: null, origin: "default", source: null });
    expect(shown.get("storage.url")?.value).to.equal("mysql://[redacted]@127.0.0.1:1/fermata");
    expect(shown.get("plugins.elevenlabs.apiKey")).to.deep.equal({
      value: "[redacted]",
      origin: "file",
      source: "fermata.yaml",
    });
    expect(shown.get("plugins.synth.testHooks")).to.deep.equal({
      value: true,
      origin: "environment",
      source: "FERMATA_PLUGINS__SYNTH__TEST_HOOKS",
    });
    const known = describeSettings().map(({ path }) => path);
    const plain = known.filter((path) => !/\b(NAME|ID)\b/.test(path));
    expect([...shown.keys()]).to.include.members(plain);

    const { stdout, stderr } = await sandbox.command(["config", "print"], dataDir, env);
    expect(stderr).to.equal("");
    expect(stdout).to.match(/^http\.port +9001 +FERMATA_HTTP__PORT$/m);
    expect(stdout).to.match(/^jobs\.leaseSeconds +30 +default$/m);
    for (const secret of ["letmein", "opensesame", "thirty-two"]) expect(stdout).to.not.include(secret);
    expect(await readdir(dataDir)).to.deep.equal([]);
  });

  it("print shows what an adapter from elsewhere declares, and masks what it calls secret", async () => {
    const folder = await sandbox.dataDir();
    const use = join(folder, "queue.mjs");
    await writeFile(use, ADAPTER);
    const env = {
      FERMATA_QUEUE__USE: use,
      FERMATA_QUEUE__URL: "pigeon:loft",
      FERMATA_QUEUE__OPTIONS__PIN: "1234",
    };
    const shown = await settings(await sandbox.dataDir(), env);
    expect(shown.get("queue.options.pin")).to.deep.equal({
      value: "[redacted]",
      origin: "environment",
      source: "FERMATA_QUEUE__OPTIONS__PIN",
    });
    expect(shown.get("queue.options.wings")).to.deep.equal({ value: 2, origin: "default", source: null });
  });

  it("check says that settings are valid, and what has an older name; without a database", async () => {
    const dataDir = await sandbox.dataDir();
    expect(await sandbox.json(["config", "check"], dataDir, { FERMATA_STORAGE__URL: STORAGE })).to.deep.equal({
      ok: true,
      issues: [],
      notes: [],
    });
    const older = { FERMATA_ROUTING__STAND_INS: "synth/song > synth/instrumental" };
    expect(await sandbox.command(["config", "check"], dataDir, older)).to.include({
      code: 0,
      stdout:
        "note   routing.standIns (FERMATA_ROUTING__STAND_INS): older name of routing.fallbacks\n" +
        "The settings are valid.\n",
    });
    expect(await readdir(dataDir)).to.deep.equal([]);
  });

  it("check names each issue of settings, and ends with 2", async () => {
    const dataDir = await sandbox.dataDir();
    const env = { FERMATA_HTTP__PORT: "eighty", FERMATA_HTPP__HOST: "127.0.0.1", FERMATA_SECRETS__KEY: "tooShort" };
    const { code, stdout, stderr } = await sandbox.command(["config", "check"], dataDir, env);
    expect([code, stderr]).to.deep.equal([2, ""]);
    expect(stdout.split("\n")).to.include.members([
      'issue  http.port (FERMATA_HTTP__PORT): "eighty" is not allowed; allowed: an integer from 0 to 65535',
      "issue  FERMATA_HTPP__HOST: unknown setting; did you mean FERMATA_HTTP__HOST?",
      "3 issues.",
    ]);
    expect(stdout).to.not.include("tooShort");
  });

  it("check names the issues of plugins and adapters together, and ends with 2", async () => {
    const env = {
      FERMATA_PLUGINS__ELEVENLABS__ENABLED: "true",
      FERMATA_PLUGINS__MUREKA__ENABLED: "true",
      FERMATA_QUEUE__USE: "./nowhere.mjs",
      FERMATA_QUEUE__URL: "pigeon:loft",
    };
    const { code, json } = await sandbox.command(["config", "check", "--json"], await sandbox.dataDir(), env);
    const { ok, issues } = json<{ ok: boolean; issues: readonly string[] }>();
    expect([code, ok, issues.length]).to.deep.equal([2, false, 3]);
    expect(issues[0]).to.include(
      "plugins.elevenlabs.apiKey: missing; set it, or FERMATA_PLUGINS__ELEVENLABS__API_KEY;",
    );
    expect(issues[1]).to.include("plugins.mureka.apiKey: missing; set it, or FERMATA_PLUGINS__MUREKA__API_KEY;");
    expect(issues[2]).to.include("queue.use: ./nowhere.mjs cannot be loaded");
  });
});

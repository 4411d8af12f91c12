import { execFile } from "node:child_process";
import { copyFile, mkdir, mkdtemp, readdir, readFile, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { expect } from "chai";
import { DEVELOPMENT_TOOLS } from "../../../adapters/cli/scaffold.js";
import { SILENCE_WAV } from "../../support/library-fixture.js";
import { repositoryPath } from "../../support/repository.js";

const run = promisify(execFile);

const MIB = 1024 * 1024;
/** What `npm install --omit=optional` of the package may take on disk, as `du` counts it. */
const MINIMAL_MAX_BYTES = 60 * MIB;

interface Manifest {
  readonly optionalDependencies: Readonly<Record<string, string>>;
  readonly peerDependencies: Readonly<Record<string, string>>;
}

/** What an author writes in the one place that is left to be written. */
const WRITTEN = `export function toTracks(task: Task): readonly ProviderTrack[] {
  return (task.files ?? []).map(({ url, title, seconds }) => ({
    title: title ?? null,
    bpm: null,
    tags: { mood: [], activity: [], genre: [], other: [] },
    assets: [
      {
        role: "mix",
        label: "full",
        contentType: null,
        durationSeconds: seconds ?? null,
        source: { kind: "url", url },
      },
    ],
  }));
}
`;

/** The app of a team: one generation, and what became of it. */
const HOST = `
import { compose, loadSettings } from "fermata-music";

const [,, baseUrl, dataDir] = process.argv;
const overrides = {
  dataDir,
  logs: { level: "error" },
  audio: { analyser: "none" },
  metrics: { enabled: false },
  plugins: {
    synth: { enabled: false },
    "night-owl": { enabled: true, use: "fermata-night-owl", apiKey: "secret", baseUrl, pollMs: 500 },
  },
};
const app = await compose(loadSettings({ env: {}, cwd: process.cwd(), overrides }), { actor: "team" });
await app.work();
const account = await app.accounts.create({ name: "alice", tier: "pro", acceptTerms: true });
await app.credits.grant(account.id, 100, { bucket: "pack", reference: "order 17" });
const { id } = await app.generations.create(account.id, { modelId: "night-owl/v1", prompt: "slow" }, { key: "17" });
const { status, tracks } = await app.generations.wait(id);
console.log(JSON.stringify({ status, titles: tracks.map(({ title }) => title) }));
await app.stop();
`;

/** With npm itself, from packed tarballs, in a folder that has nothing of this repository. */
describe("Fermata and a plugin, installed by npm from their tarballs", function () {
  this.timeout(120_000);
  let folder: string;
  let host: string;
  let manifest: Manifest;
  let server: Server;
  let baseUrl: string;

  before(async () => {
    folder = await realpath(await mkdtemp(join(tmpdir(), "fermata-install-")));
    host = join(folder, "host");
    await mkdir(host);
    const [fermata, plugin] = [await pack(repositoryPath()), await packedPlugin()];
    await writeFile(join(host, "package.json"), JSON.stringify({ private: true, type: "module" }));
    await install("--omit=optional", fermata, plugin);
    const installed = await readFile(join(host, "node_modules", "fermata-music", "package.json"), "utf8");
    manifest = JSON.parse(installed) as Manifest;
    await writeFile(join(host, "host.js"), HOST);
    baseUrl = await listen();
  });
  after(async () => {
    server?.close();
    await rm(folder, { recursive: true, force: true });
  });

  async function pack(cwd: string): Promise<string> {
    const args = ["pack", "--ignore-scripts", "--json", "--pack-destination", folder];
    const { stdout } = await run("npm", args, { cwd });
    const [{ filename }] = JSON.parse(stdout) as [{ readonly filename: string }];
    return join(folder, filename);
  }

  /** Written by `plugins new`, and completed as its README says. */
  async function packedPlugin(): Promise<string> {
    const directory = join(folder, "fermata-night-owl");
    await run(process.execPath, [
      ...[repositoryPath("dist/config/main.js"), "plugins", "new", "night-owl", "--dir", directory],
    ]);
    const map = await readFile(join(directory, "src/map.ts"), "utf8");
    await writeFile(join(directory, "src/map.ts"), map.slice(0, map.indexOf("export function toTracks")) + WRITTEN);
    for (const name of ["fermata-music", ...Object.keys(DEVELOPMENT_TOOLS)]) {
      const link = join(directory, "node_modules", name);
      await mkdir(dirname(link), { recursive: true });
      await symlink(name === "fermata-music" ? repositoryPath() : repositoryPath("node_modules", name), link);
    }
    await run(process.execPath, [createRequire(import.meta.url).resolve("typescript/bin/tsc")], { cwd: directory });
    return pack(directory);
  }

  /** Their scripts would compile better-sqlite3 for minutes where there is no binary of it to download. */
  async function install(...args: readonly string[]): Promise<void> {
    const options = ["--prefer-offline", "--no-audit", "--no-fund", "--ignore-scripts"];
    await run("npm", ["install", ...options, ...args], { cwd: host, maxBuffer: 16 * MIB });
  }

  /** The provider's service: every task is done at once. */
  async function listen(): Promise<string> {
    server = createServer((request, response) => {
      const json = (body: object): void => {
        response.setHeader("content-type", "application/json").end(JSON.stringify(body));
      };
      if (request.url === "/v1/music") json({ id: "task-1" });
      else if (request.url === "/v1/tasks/task-1")
        json({ status: "succeeded", files: [{ url: `${baseUrl}/song.wav`, title: "Owl", seconds: 0.5 }] });
      else response.setHeader("content-type", "audio/wav").end(Buffer.from(SILENCE_WAV));
    }).listen(0, "127.0.0.1");
    await new Promise((resolve) => server.once("listening", resolve));
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  async function ended(...args: readonly string[]): Promise<{ readonly code: number; readonly output: string }> {
    const options = { cwd: host, env: { ...process.env, NODE_OPTIONS: "" } };
    return new Promise((resolve) => {
      execFile(process.execPath, args, options, (error, stdout, stderr) => {
        resolve({ code: typeof error?.code === "number" ? error.code : 0, output: stdout + stderr });
      });
    });
  }

  it("brings no project called fermata, no peer and, where they are left out, nothing optional", async () => {
    const lock = JSON.parse(await readFile(join(host, "package-lock.json"), "utf8")) as {
      readonly packages: Readonly<Record<string, { readonly name?: string }>>;
    };
    const names = (await readdir(join(host, "node_modules"), { recursive: true }))
      .map((path) => path.split("node_modules/").at(-1) ?? "")
      .filter((path) => path.split("/").length <= 2);
    const unwanted = ["fermata", ...Object.keys(manifest.peerDependencies)];
    const optional = Object.keys(manifest.optionalDependencies);
    expect(optional).to.include.members(["@aws-sdk/client-s3", "better-sqlite3"]);
    expect(names).to.include.members(["fermata-music", "fermata-night-owl"]);
    expect(names.filter((name) => [...unwanted, ...optional].includes(name))).to.deep.equal([]);
    expect(Object.keys(lock.packages)).to.not.include("node_modules/fermata");
  });

  it("takes at most 60 MB without what is optional", async () => {
    const { stdout } = await run("du", ["-s", "-k", "node_modules"], { cwd: host });
    expect(Number.parseInt(stdout, 10) * 1024).to.be.within(1, MINIMAL_MAX_BYTES);
  });

  it("says which packages its settings need, and which setting needs none", async () => {
    const { code, output } = await ended("host.js", baseUrl, join(folder, "data"));
    const version = manifest.optionalDependencies["better-sqlite3"];
    expect(output).to.include(
      "A setting is wrong: storage.url: sqlite: needs packages that are not installed; " +
        `npm install better-sqlite3@${version}, or set another storage.url`,
    );
    expect(code).to.equal(1);
    const started = await ended(join(host, "node_modules", "fermata-music", "dist", "config", "main.js"), "start");
    expect(started.code).to.equal(2);
    expect(started.output)
      .to.match(/^audio\.analyser: builtin needs packages .*mpg123-decoder@.* or set audio\.analyser to none$/m)
      .and.match(/^metrics\.enabled: true needs packages .* or set metrics\.enabled to false$/m)
      .and.match(/^plugins\.synth\.enabled: true needs packages .* or set it to false$/m);
  });

  it("says so in doctor as well", async () => {
    const { code, output } = await ended(
      ...[join(host, "node_modules", "fermata-music", "dist", "config", "main.js"), "doctor", "--json"],
    );
    const { checks } = JSON.parse(output) as { checks: { name: string; result: string; fix: string | null }[] };
    const failing = checks.filter(({ result }) => result === "failed");
    expect(failing.map(({ name }) => name)).to.deep.equal([
      "packages for storage.url: sqlite:",
      "packages for audio.analyser: builtin",
      "packages for metrics.enabled: true",
      "packages for plugins.synth.enabled: true",
    ]);
    expect(failing[0]?.fix).to.match(/^Run npm install better-sqlite3@\S+, or set another storage\.url\.$/);
    expect(code).to.equal(1);
  });

  describe("with a database of its own", () => {
    before(async () => {
      await install("--omit=optional", `better-sqlite3@${manifest.optionalDependencies["better-sqlite3"]}`);
      const binary = "node_modules/better-sqlite3/build/Release/better_sqlite3.node";
      await mkdir(dirname(join(host, binary)), { recursive: true });
      await copyFile(repositoryPath(binary), join(host, binary));
    });

    it("creates a generation with the plugin inside the app", async () => {
      const { code, output } = await ended("host.js", baseUrl, join(folder, "data"));
      expect([code, output]).to.deep.equal([0, `${JSON.stringify({ status: "completed", titles: ["Owl"] })}\n`]);
    });
  });
});

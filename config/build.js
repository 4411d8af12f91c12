/**
 * Builds into dist/ what is stale, and says what it does: `npm run build`, and before each `npm start`.
 *
 * What is stale is found by content, so that neither a `git checkout` nor a copied folder misleads it. A build that is
 * complete leaves its hashes in dist/.build.json; one that does not compile leaves those of what it generated.
 */
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { clearInterval, setInterval } from "node:timers";
import { fileURLToPath } from "node:url";

/** Of tsconfig.json; an image is built without test/. */
const FOLDERS = ["core", "adapters", "plugins", "config", "test"];
const GENERATED = "adapters/http/generated";
const PAGES = "adapters/web";
const TYPES_OF_PAGES = `${PAGES}/generated`;
/** The guides of the documentation, which its page contains. */
const GUIDES = "adapters/http/guides";
const CLIENT = "adapters/client";
/** Its types of the API and its bundle. */
const OF_CLIENT = `${CLIENT}/generated`;
const BUNDLES = ["client.js", "licences.txt"].map((name) => `${OF_CLIENT}/${name}`);
const MCP = "adapters/mcp";
/** Copied as they are: the bundled pages and client. The bundled SDK of MCP replaces a compiled module. */
const COPIED = [`dist/${GENERATED}/web/`, ...BUNDLES.map((path) => `dist/${path}`), `dist/${MCP}/licences.txt`];
const BUNDLED = [`${MCP}/build.js`, `${MCP}/shims.js`, `${CLIENT}/bundling.js`];
/** What else changes the output: settings, tools and their versions. */
const TOOLS = ["package.json", "package-lock.json", "tsconfig.json", "config/build.js", "config/bundle.js"];
/** The bundled command, which the compiled one is replaced with. */
const COMMAND = "dist/command/command.js";
const ROUTES = ["adapters/http/tsoa.json", "adapters/http/admin/tsoa.json"];
const TEMPLATE = "adapters/http/routes.hbs";
/** Of the APIs, which the pages call. */
const DESCRIPTIONS = [`${GENERATED}/openapi.json`, `${GENERATED}/admin/openapi.json`];
const STATE = "dist/.build.json";

process.chdir(dirname(dirname(fileURLToPath(import.meta.url))));
const { resolve } = createRequire(import.meta.url);

try {
  provideExec();
  await build();
} catch (error) {
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
}

async function build() {
  warnOfOtherPackages();
  const kept = readState();
  const written = filesUnder(FOLDERS).filter(
    (path) => path.endsWith(".ts") && ![GENERATED, OF_CLIENT, PAGES].some((folder) => path.startsWith(`${folder}/`)),
  );
  const ofRoutes = written.filter((path) => path.startsWith("core/") || path.startsWith("adapters/http/"));
  const routes = hashOf([...ofRoutes, ...TOOLS, ...ROUTES, TEMPLATE]);
  if (kept.routes !== routes || kept.generated !== hashOf(filesUnder([GENERATED]))) {
    rmSync(STATE, { force: true });
    await step("types and routes", async () => {
      const tsoa = toolOf("@tsoa/cli", "tsoa");
      await Promise.all(ROUTES.map((config) => run(tsoa, ["-c", config, "spec-and-routes"])));
    });
  }
  const ofPages = filesUnder([PAGES, CLIENT, GUIDES]).filter(
    (path) => ![TYPES_OF_PAGES, OF_CLIENT].some((folder) => path.startsWith(`${folder}/`)),
  );
  const pages = hashOf([...ofPages, ...TOOLS, ...DESCRIPTIONS]);
  const arePages = [`${GENERATED}/web`, TYPES_OF_PAGES, `${OF_CLIENT}/api.ts`, ...BUNDLES].every(existsSync);
  if (kept.pages !== pages || !arePages) {
    rmSync(STATE, { force: true });
    await step("client and pages", async () => {
      await run(`${CLIENT}/build.js`, []);
      await run(`${PAGES}/build.js`, [`${GENERATED}/web`]);
      await run(toolOf("typescript-native", "tsc"), ["-p", PAGES, "--pretty", String(process.stderr.isTTY === true)]);
    });
  }
  const generated = filesUnder([GENERATED]);
  const ofClient = filesUnder([OF_CLIENT]);
  const sources = [...written, ...[...generated, ...ofClient].filter((path) => path.endsWith(".ts"))];
  const outputs = sources.filter((path) => !path.endsWith(".d.ts")).flatMap(outputsOf);
  const isComplete = outputs.every((path) => existsSync(path)) && [...COPIED, COMMAND].every(existsSync);
  const state = {
    routes,
    pages,
    generated: hashOf(generated),
    all: hashOf([...written, ...generated, ...ofClient, ...BUNDLED, ...TOOLS]),
  };
  if (kept.all === state.all && isComplete && existsSync(STATE)) return;
  // What is generated stays as it is, whether it compiles or not.
  writeState({ ...state, all: undefined });
  // The compiler writes only what changed since then, and does not look whether the rest is still there.
  if (!isComplete) rmSync("dist/.tsbuildinfo", { force: true });
  await step("TypeScript", async () => {
    await run(toolOf("typescript-native", "tsc"), ["--pretty", String(process.stderr.isTTY === true)]);
    for (const file of DESCRIPTIONS)
      writeFileSync(`dist/${file}`, JSON.stringify(JSON.parse(readFileSync(file, "utf8"))));
    cpSync(`${GENERATED}/web`, `dist/${GENERATED}/web`, { recursive: true });
    for (const file of BUNDLES) cpSync(file, `dist/${file}`);
    await run(`${MCP}/build.js`, [`dist/${MCP}`]);
  });
  removeOthers(new Set(outputs));
  await step("command", () => run("config/bundle.js", ["dist"]));
  writeState(state);
}

/**
 * The scripts of npm begin with `exec`: the shell between npm and the server dies of a signal, or keeps it, without
 * passing it on. Windows has no such word in its shell, so a command of this name runs what it is given.
 */
function provideExec() {
  if (process.platform === "win32") writeFileSync("node_modules/.bin/exec.cmd", "@%*\r\n");
}

function writeState(state) {
  mkdirSync(dirname(STATE), { recursive: true });
  writeFileSync(STATE, `${JSON.stringify(state, null, 2)}\n`);
}

/** Where a source was removed or renamed, its output stays: it would still be loaded, tested and packed. */
function removeOthers(outputs) {
  const compiled = filesUnder(FOLDERS.map((folder) => `dist/${folder}`)).filter(
    (path) => /\.(js|js\.map|d\.ts)$/.test(path) && !COPIED.some((folder) => path.startsWith(folder)),
  );
  for (const path of compiled) if (!outputs.has(path)) rmSync(path);
}

function outputsOf(source) {
  const base = `dist/${source.slice(0, -".ts".length)}`;
  return [`${base}.js`, `${base}.js.map`, `${base}.d.ts`];
}

/** The types of other versions would fail in ways that do not name the cause. */
function warnOfOtherPackages() {
  const installed = packagesOf("node_modules/.package-lock.json");
  const wanted = Object.entries(packagesOf("package-lock.json"));
  // Those that an installation may be without are not missed; the tools of the build, where they are needed.
  const isOther = ([path, { version, optional, devOptional, dev, peer, link }]) =>
    path !== "" &&
    !link &&
    (path in installed ? installed[path].version !== version : !(optional || devOptional || dev || peer));
  const others = wanted.filter(isOther).map(([path]) => path.replace(/^.*node_modules\//, ""));
  if (others.length === 0) return;
  const more = others.length > 3 ? ` and ${others.length - 3} more` : "";
  process.stderr.write(
    `node_modules is not what package-lock.json names (${others.slice(0, 3).join(", ")}${more}): run npm ci\n`,
  );
}

function packagesOf(path) {
  return existsSync(path) ? JSON.parse(readFileSync(path, "utf8")).packages : {};
}

function readState() {
  return existsSync(STATE) ? JSON.parse(readFileSync(STATE, "utf8")) : {};
}

function hashOf(paths) {
  const hash = createHash("sha256");
  for (const path of [...paths].sort()) {
    const content = existsSync(path) ? readFileSync(path) : "";
    hash.update(`${path}\0${content.length}\0`).update(content);
  }
  return hash.digest("hex");
}

function filesUnder(folders) {
  return folders.filter(existsSync).flatMap((folder) =>
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name)),
  );
}

/** The program of a package. */
function toolOf(name, program) {
  try {
    const manifest = resolve(`${name}/package.json`);
    return join(dirname(manifest), JSON.parse(readFileSync(manifest, "utf8")).bin[program]);
  } catch (cause) {
    throw new Error(`${name} is not installed: run npm ci`, { cause });
  }
}

/** Says what is built and, once it is, how long it took; on a terminal also how long it has taken so far. */
async function step(name, work) {
  const startedAt = Date.now();
  const line = () => `building: ${name} ... ${Math.round((Date.now() - startedAt) / 1000)} s`;
  const ticking = process.stderr.isTTY ? setInterval(() => process.stderr.write(`\r${line()}`), 1_000) : null;
  process.stderr.write(`building: ${name} ...`);
  try {
    await work();
    process.stderr.write(ticking === null ? line().slice(`building: ${name} ...`.length) : `\r${line()}`);
  } finally {
    if (ticking !== null) clearInterval(ticking);
    process.stderr.write("\n");
  }
}

/** Runs a program of Node. @throws {Error} what it wrote, where it fails */
async function run(program, words) {
  const child = spawn(process.execPath, [program, ...words], { stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", (text) => (output += text));
  const code = await new Promise((done, fail) => child.once("error", fail).once("close", done));
  if (code !== 0) throw new Error(output.trim() === "" ? `${program} ended with ${code}` : output.trim());
}

/**
 * Runs on a real MySQL 9, or on the engine that `FERMATA_TEST_ENGINE` names, whatever opens a database of its own, and
 * the tests of the API. As root on Debian it sets that engine up first ({@link setUpEngine}). `FERMATA_TEST_MYSQL`
 * names another server instead. Arguments go to mocha.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ENGINES, isEngine, setUpEngine } from "./engine-setup.js";
import { query, startPrivateMysql } from "./mysql-server.js";
import { REPOSITORY } from "./repository.js";

const TESTS = join(REPOSITORY, "dist/test");
const MOCHA = join(REPOSITORY, "node_modules/mocha/bin/mocha.js");
const OPTIONS = ["--no-config", "--enable-source-maps", "--timeout=30000", "--require=./dist/test/support/setup.js"];

process.exitCode = await main();

async function main(): Promise<number> {
  const named = process.env["FERMATA_TEST_MYSQL"];
  if (named !== undefined) return runOn(named, {});
  const engine = process.env["FERMATA_TEST_ENGINE"] ?? "mysql-9";
  if (!isEngine(engine)) throw new Error(`FERMATA_TEST_ENGINE: ${engine} is none of ${ENGINES.join(", ")}.`);
  const root = await setUpEngine(engine);
  process.env["FERMATA_TEST_MYSQL_ROOT"] = root;
  const own = await startPrivateMysql();
  try {
    return await runOn(own.server, { FERMATA_TEST_MYSQL_ROOT: root });
  } finally {
    await own.close();
  }
}

/** @returns the exit code */
async function runOn(server: string, env: Readonly<Record<string, string>>): Promise<number> {
  const [row] = await query<{ version: string }>(server, "SELECT VERSION() AS version");
  process.stdout.write(`== storage on ${row?.version}\n`);
  const storage = await runMocha({ ...env, FERMATA_TEST_MYSQL: server }, filesOnMysql());
  process.stdout.write(`== the API on ${row?.version} and RabbitMQ\n`);
  const api = await runMocha({ ...env, FERMATA_TEST_MYSQL: server, FERMATA_TEST_STACK: "mysql-rabbitmq" }, [
    "dist/test/api/**/*.test.js",
  ]);
  return Math.max(storage, api);
}

/** @returns the exit code */
async function runMocha(env: Readonly<Record<string, string>>, files: readonly string[]): Promise<number> {
  const args = [MOCHA, ...OPTIONS, ...files, ...process.argv.slice(2)];
  const child = spawn(process.execPath, args, { cwd: REPOSITORY, stdio: "inherit", env: { ...process.env, ...env } });
  // The private server ends with this process, but only when this process ends by itself.
  const stop = (signal: NodeJS.Signals): void => {
    child.kill(signal);
    process.exit(1);
  };
  process.once("SIGINT", stop).once("SIGTERM", stop);
  const [code] = (await once(child, "exit")) as [number | null];
  process.off("SIGINT", stop).off("SIGTERM", stop);
  return code ?? 1;
}

/** The test files that request a database on MySQL, except those of the API. */
function filesOnMysql(): string[] {
  const names = readdirSync(TESTS, { recursive: true, encoding: "utf8" }).filter(
    (name) => name.endsWith(".test.js") && !name.startsWith("api/"),
  );
  return names
    .filter((name) => /support\/mysql[\w-]*\.js/.test(readFileSync(join(TESTS, name), "utf8")))
    .map((name) => join("dist/test", name));
}

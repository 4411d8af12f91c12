/**
 * Runs on a real MySQL 9 whatever opens a database of its own, and the tests of the API. As root on Debian it sets that
 * MySQL up first, in a folder of its own that is kept for the next time: Debian's stable releases come without it,
 * sid's package with libraries too new for them, so both lie apart and run under chroot. `FERMATA_TEST_MYSQL` names
 * another server instead. Arguments go to mocha.
 */
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, openSync, readdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { query, startPrivateMysql } from "./mysql-server.js";
import { REPOSITORY } from "./repository.js";
import { installPackage } from "./services.js";

const FOLDER = join(tmpdir(), "fermata-mysql9");
const ROOT = join(FOLDER, "root");
const TESTS = join(REPOSITORY, "dist/test");
const MOCHA = join(REPOSITORY, "node_modules/mocha/bin/mocha.js");
const OPTIONS = ["--no-config", "--enable-source-maps", "--timeout=30000", "--require=./dist/test/support/setup.js"];

process.exitCode = await main();

async function main(): Promise<number> {
  const named = process.env["FERMATA_TEST_MYSQL"];
  if (named !== undefined) return runOn(named, {});
  await setUp();
  process.env["FERMATA_TEST_MYSQL_ROOT"] = ROOT;
  const own = await startPrivateMysql();
  try {
    return await runOn(own.server, { FERMATA_TEST_MYSQL_ROOT: ROOT });
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

/** @throws {Error} saying what is missing */
async function setUp(): Promise<void> {
  if (existsSync(ROOT)) return;
  if (process.getuid?.() !== 0 || !existsSync("/usr/bin/apt-get")) {
    throw new Error(
      "A MySQL 9 is set up by root on Debian. Elsewhere set FERMATA_TEST_MYSQL to the URL of one, with rights to " +
        "make databases.",
    );
  }
  if (!existsSync("/usr/sbin/debootstrap")) await installPackage("debootstrap");
  const [part, log] = [`${ROOT}.part`, join(FOLDER, "debootstrap.log")];
  rmSync(part, { recursive: true, force: true });
  mkdirSync(FOLDER, { recursive: true });
  process.stdout.write(`== setting up MySQL in ${ROOT}\n`);
  try {
    const output = openSync(log, "w");
    execFileSync("debootstrap", ["--variant=minbase", "--include=mysql-server-core", "sid", part], {
      stdio: ["ignore", output, output],
    });
  } catch (cause) {
    throw new Error(`MySQL could not be fetched; see ${log}.`, { cause });
  }
  rmSync(join(part, "var/cache/apt"), { recursive: true, force: true });
  renameSync(part, ROOT);
}

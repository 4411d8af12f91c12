/**
 * Runs the contract suites of the stores on one node of a Galera cluster of three, and then the tests of
 * `system/galera`, each with a cluster of its own. Arguments go to mocha.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { GaleraCluster } from "./galera.js";
import { REPOSITORY } from "./repository.js";

const MOCHA = [
  "node_modules/mocha/bin/mocha.js",
  "--no-config",
  "--enable-source-maps",
  "--timeout=120000",
  "--require=./dist/test/support/setup.js",
];

const SUITES = ["storage", "storage-mysql", "storage-races", "webhook-store-mysql"];

const cluster = await GaleraCluster.start();
const ofStores = await runMocha(
  SUITES.map((name) => `dist/test/adapters/${name}.test.js`),
  { FERMATA_TEST_MYSQL: cluster.nodes[0]?.server ?? "" },
);
await cluster.close();
const ofCluster = await runMocha(["dist/test/system/galera/*.js"], {});
process.exitCode = Math.max(ofStores, ofCluster);

/** @returns the exit code */
async function runMocha(files: readonly string[], env: Readonly<Record<string, string>>): Promise<number> {
  const child = spawn(process.execPath, [...MOCHA, ...files, ...process.argv.slice(2)], {
    cwd: REPOSITORY,
    stdio: "inherit",
    env: { ...process.env, ...env },
  });
  const [code] = (await once(child, "exit")) as [number | null];
  return code ?? 1;
}

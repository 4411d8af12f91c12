/**
 * Runs the contract suites of the stores on a server of a cluster of three, and then the tests that start and strike a
 * cluster of their own: `cluster-suites.js galera`, or `group` for MySQL's Group Replication. Further arguments go to
 * mocha.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { GaleraCluster } from "./galera.js";
import { MysqlGroup } from "./mysql-group.js";
import { setUpEngine } from "./engine-setup.js";
import { REPOSITORY } from "./repository.js";

const MOCHA = [
  "node_modules/mocha/bin/mocha.js",
  "--no-config",
  "--enable-source-maps",
  "--timeout=120000",
  "--require=./dist/test/support/setup.js",
];

const SUITES = ["storage", "storage-mysql", "storage-races", "webhook-store-mysql"];

interface Kind {
  /** Below `dist/test/system`. */
  readonly tests: string;
  start(): Promise<{ readonly nodes: readonly { readonly server: string }[]; close(): Promise<void> }>;
}

const KINDS: Readonly<Record<string, Kind>> = {
  galera: { tests: "galera", start: () => GaleraCluster.start() },
  group: {
    tests: "group",
    async start() {
      process.env["FERMATA_TEST_MYSQL_ROOT"] = await setUpEngine("mysql-9");
      return MysqlGroup.start();
    },
  },
};

const [, , name = "", ...given] = process.argv;
const kind = KINDS[name];
if (kind === undefined) throw new Error(`There is no cluster ${name}, but ${Object.keys(KINDS).join(", ")}.`);
const cluster = await kind.start();
const ofStores = await runMocha(
  SUITES.map((suite) => `dist/test/adapters/${suite}.test.js`),
  { FERMATA_TEST_MYSQL: cluster.nodes[0]?.server ?? "" },
);
await cluster.close();
const ofCluster = await runMocha([`dist/test/system/${kind.tests}/*.js`], {});
process.exitCode = Math.max(ofStores, ofCluster);

/** @returns the exit code */
async function runMocha(files: readonly string[], env: Readonly<Record<string, string>>): Promise<number> {
  const child = spawn(process.execPath, [...MOCHA, ...files, ...given], {
    cwd: REPOSITORY,
    stdio: "inherit",
    env: { ...process.env, ...env },
  });
  const [code] = (await once(child, "exit")) as [number | null];
  return code ?? 1;
}

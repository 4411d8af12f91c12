import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createStores, openDatabase } from "../../adapters/storage/sql/index.js";
import { anId } from "../support/builders.js";
import { SILENT, TEST_PORTS } from "../support/databases.js";
import { ReplicatedMysql } from "../support/replicated-mysql.js";
import { storageUnderTest } from "../support/storage-under-test.js";
import { type Bench, below, type Figure, median, perSecond } from "./figures.js";
import { fillGrown } from "./growth-rows.js";
import { openFermata } from "./installation.js";
import { load, rawRequest } from "./load.js";
import { cpuOfServer } from "./mysql-installation.js";
import { VIEWER } from "./search-corpus.js";
import { type Server, startServer } from "./servers/start.js";

/** Rows of the log, with a tenth as many tracks. */
const ROWS = Number(process.env["REPLICA_ROWS"] ?? 200_000);
const CONNECTIONS = 16;
const ROUNDS = 5;
const SECONDS = 1.5;

/** How much of the primary's CPU time for a request may be left when its reads go to the replica. */
const LEFT_MAX = 0.5;

const PATHS: Readonly<Record<string, string>> = {
  usage: "usage",
  logs: "logs?limit=20",
  "logs, client and status": "logs?client=web&status=404&limit=20",
  search: "library/search?q=ka",
  credits: "credits",
};

/** What the primary has to do for reads that may be old, without a replica and with one. */
export const replica: Bench = {
  name: "replica",
  compares: `CPU time of the primary for a read that may be old, of ${ROWS.toLocaleString("en")} rows, with none`,
  async run() {
    const mysql = await ReplicatedMysql.start();
    const dataDir = await mkdtemp(join(tmpdir(), "fermata-bench-"));
    const servers: Server[] = [];
    try {
      const [primary, second] = mysql.servers;
      const storageUrl = mysql.rootUrl(primary);
      const key = await fill(dataDir, storageUrl);
      await mysql.caughtUp(second, primary);
      servers.push(await startServer("fermata", [dataDir, storageUrl]));
      servers.push(await startServer("fermata", [dataDir, storageUrl, mysql.rootUrl(second)]));
      const cpuOf = [await cpuOfServer(primary.server), await cpuOfServer(second.server)] as const;
      const figures: Figure[] = [];
      for (const [name, path] of Object.entries(PATHS))
        figures.push(await compare(name, servers as [Server, Server], requestOf(path, key), cpuOf));
      return figures;
    } finally {
      for (const server of servers) await server.stop();
      await mysql.close();
      await rm(dataDir, { recursive: true, force: true });
    }
  },
};

/** @returns a key of the account that has a tenth of everything */
async function fill(dataDir: string, storageUrl: string): Promise<string> {
  const database = await openDatabase({ url: storageUrl, logger: SILENT });
  await database.migrate();
  const { addAccount, inTransaction, library } = storageUnderTest(createStores(database, TEST_PORTS));
  await addAccount({ id: VIEWER });
  await fillGrown(storageUrl, { now: Date.now(), jobs: ROWS, heavy: VIEWER, endpointId: anId("whe") });
  for (let isMore = true; isMore;) isMore = await inTransaction((tx) => library.indexPending(tx));
  await database.close();
  const { app } = await openFermata(dataDir, {}, { storageUrl });
  const { token } = await app.accounts.issueKey(VIEWER);
  await app.stop();
  return token;
}

function requestOf(path: string, key: string): string {
  return rawRequest("GET", `/api/v1/${path}`, { Authorization: `Bearer ${key}` });
}

interface Measured {
  readonly perSecond: number;
  /** CPU time per request, in microseconds: of the primary, and of the replica. */
  readonly micros: readonly [primary: number, replica: number];
}

type CpuOf = readonly [primary: () => Promise<number>, replica: () => Promise<number>];

async function compare(
  name: string,
  servers: readonly [without: Server, withReplica: Server],
  request: string,
  cpuOf: CpuOf,
): Promise<Figure> {
  const rounds: readonly [Measured[], Measured[]] = [[], []];
  for (const server of servers) await measure(server, request, cpuOf);
  for (let round = 0; round < ROUNDS; round++)
    for (const index of [0, 1] as const) rounds[index].push(await measure(servers[index], request, cpuOf));
  const ofPrimary = (index: 0 | 1): number => median(rounds[index].map(({ micros }) => micros[0]));
  const shown = (index: 0 | 1): string => {
    const requests = median(rounds[index].map((round) => round.perSecond));
    const ofReplica = median(rounds[index].map(({ micros }) => micros[1]));
    return `${perSecond(requests)}, ${ofPrimary(index).toFixed(0)} + ${ofReplica.toFixed(0)} µs`;
  };
  const ratio = ofPrimary(1) / ofPrimary(0);
  const target = name === "credits" ? null : below(ratio, LEFT_MAX, " ×");
  return { name: `replica: ${name}, CPU of primary + replica`, value: shown(1), baseline: shown(0), ratio, target };
}

async function measure({ url }: Server, request: string, [primary, second]: CpuOf): Promise<Measured> {
  const before = [await primary(), await second()] as const;
  const { count, perSecond: rate } = await load(url, {
    ...{ connections: CONNECTIONS, seconds: SECONDS, status: 200 },
    request: () => request,
  });
  const micros = [((await primary()) - before[0]) * 1_000, ((await second()) - before[1]) * 1_000] as const;
  return { perSecond: rate, micros: [micros[0] / count, micros[1] / count] };
}

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createRequest } from "./create.js";
import { atLeast, type Bench, below, type Figure, median, milliseconds, perSecond } from "./figures.js";
import type { Holder } from "./installation.js";
import { load } from "./load.js";
import { makeMysqlInstallation, type MysqlInstallation } from "./mysql-installation.js";
import { type Server, startServer } from "./servers/start.js";

const CONNECTIONS = Number(process.env["CREATE_CONNECTIONS"] ?? 64);
const ACCOUNTS = 1_000;
const ROUNDS = 5;
const SECONDS = 2;

const WHERES = ["spread", "hot"] as const;
const WHOSE = ["ours", "bare"] as const;
type Row = `${(typeof WHOSE)[number]} ${(typeof WHERES)[number]}`;

interface Measured {
  readonly perSecond: number;
  readonly p99Ms: number;
  readonly serverMicros: number;
  readonly databaseMicros: number;
}

export const createMysql: Bench = {
  name: "create-mysql",
  compares: `POST /api/v1/generations on MySQL with one durable transaction per request, over many accounts and on one`,
  async run() {
    const dataDir = await mkdtemp(join(tmpdir(), "fermata-bench-"));
    const installation = await makeMysqlInstallation(dataDir, { accounts: ACCOUNTS, generations: 0 });
    const ours = await startServer("fermata", [dataDir, installation.storageUrl]);
    const bare = await startServer("bare-mysql", installation.storageUrl);
    try {
      return await measure(installation, { ours, bare });
    } finally {
      for (const server of [ours, bare]) await server.stop();
      await installation.close();
      await rm(dataDir, { recursive: true, force: true });
    }
  },
};

async function measure(
  installation: MysqlInstallation,
  servers: Readonly<Record<(typeof WHOSE)[number], Server>>,
): Promise<Figure[]> {
  const rounds: ReadonlyMap<Row, Measured>[] = [];
  for (let round = -1; round < ROUNDS; round++) {
    const results = new Map<Row, Measured>();
    for (const where of WHERES)
      for (const who of WHOSE) {
        const holders = where === "hot" ? installation.holders.slice(0, 1) : installation.holders;
        results.set(`${who} ${where}`, await measureOnce(installation, servers[who], holders, `${round}-${who}`));
      }
    if (round >= 0) rounds.push(results);
  }
  const of = (row: Row, part: keyof Measured): number[] => rounds.map((each) => each.get(row)?.[part] ?? Number.NaN);
  return [
    line("1,000 accounts", 2.5, of, "ours spread", "bare spread"),
    p99("1,000 accounts", of, "ours spread", "bare spread"),
    line("one account", 5, of, "ours hot", "bare hot"),
    line("one account, against 1,000", 0.9, of, "ours hot", "ours spread"),
  ];
}

async function measureOnce(
  { databaseCpuMs }: MysqlInstallation,
  server: Server,
  holders: readonly Holder[],
  keys: string,
): Promise<Measured> {
  let next = 0;
  const request = (): string => {
    const { key } = holders[next++ % holders.length] as Holder;
    return createRequest(key, `bench-${keys}-${holders.length}-${next}`);
  };
  const before = [await server.cpuMs(), await databaseCpuMs()] as const;
  const result = await load(server.url, { connections: CONNECTIONS, seconds: SECONDS, request, status: 202 });
  return {
    perSecond: result.perSecond,
    p99Ms: result.p99Ms,
    serverMicros: (((await server.cpuMs()) - before[0]) * 1_000) / result.count,
    databaseMicros: (((await databaseCpuMs()) - before[1]) * 1_000) / result.count,
  };
}

type Of = (row: Row, part: keyof Measured) => number[];

/** The value has the requests, the CPU time of server and database for each, and the range of the ratio. */
function line(name: string, target: number, of: Of, one: Row, other: Row): Figure {
  const ratios = of(one, "perSecond").map((value, round) => value / (of(other, "perSecond")[round] ?? Number.NaN));
  const shown = (row: Row): string => {
    const [server, database] = [median(of(row, "serverMicros")), median(of(row, "databaseMicros"))];
    return `${perSecond(median(of(row, "perSecond")))}, ${server.toFixed(0)} + ${database.toFixed(0)} µs`;
  };
  return {
    name: `create-mysql: ${name}`,
    value: `${shown(one)} (${Math.min(...ratios).toFixed(2)} to ${Math.max(...ratios).toFixed(2)})`,
    baseline: shown(other),
    ratio: median(ratios),
    target: atLeast(median(ratios), target),
  };
}

function p99(name: string, of: Of, one: Row, other: Row): Figure {
  const [ours, theirs] = [median(of(one, "p99Ms")), median(of(other, "p99Ms"))];
  return {
    name: `create-mysql: ${name}, p99`,
    value: milliseconds(ours),
    baseline: milliseconds(theirs),
    ratio: ours / theirs,
    target: below(ours / theirs, 1),
  };
}

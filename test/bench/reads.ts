import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createRequest } from "./create.js";
import { atLeast, type Bench, type Figure, median, perSecond } from "./figures.js";
import type { Holder } from "./installation.js";
import { load, rawRequest } from "./load.js";
import { makeMysqlInstallation, type MysqlInstallation } from "./mysql-installation.js";
import { type Server, startServer } from "./servers/start.js";

const CONNECTIONS = 64;
const ACCOUNTS = 1_000;
const GENERATIONS = 20;
const ROUNDS = 5;
const SECONDS = Number(process.env["READS_SECONDS"] ?? 1.5);
/** A part of the names of the rows to measure, next to the baselines: for profiles. */
const ONLY = process.env["READS_ONLY"] ?? "";

/** `one`: Express with one prepared read by the primary key. `page`: with one indexed read of 20 rows. */
type Baseline = "one" | "page";

interface Row {
  readonly name: string;
  readonly server: Server;
  readonly status: number;
  readonly against: Baseline | null;
  /** The least ratio to the baseline. */
  readonly target: number | null;
  request(holder: Holder): string;
}

interface Measured {
  readonly perSecond: number;
  readonly serverMicros: number;
  readonly databaseMicros: number;
}

export const reads: Bench = {
  name: "reads",
  compares: `reads of ${ACCOUNTS.toLocaleString("en")} accounts on MySQL with one prepared read in bare Express`,
  async run() {
    const dataDir = await mkdtemp(join(tmpdir(), "fermata-bench-"));
    const installation = await makeMysqlInstallation(dataDir, { accounts: ACCOUNTS, generations: GENERATIONS });
    const fermata = await startServer("fermata", [dataDir, installation.storageUrl]);
    const bare = await startServer("bare-reads", installation.storageUrl);
    const hello = await startServer("bare-reads", installation.storageUrl);
    try {
      await createOnce(fermata, installation.holders);
      const firstIds = await firstIdsOf(fermata, installation.holders);
      const rows = rowsOf({ fermata, bare, hello }, firstIds);
      return await measure(
        installation,
        rows.filter(({ name, against }) => against === null || name.includes(ONLY)),
      );
    } finally {
      for (const server of [fermata, bare, hello]) await server.stop();
      await installation.close();
      await rm(dataDir, { recursive: true, force: true });
    }
  },
};

function rowsOf(
  { fermata, bare, hello }: Readonly<Record<"fermata" | "bare" | "hello", Server>>,
  firstIds: ReadonlyMap<string, string>,
): readonly Row[] {
  const ours = (name: string, target: number, path: (holder: Holder) => string, against: Baseline = "one"): Row => ({
    name,
    server: fermata,
    status: 200,
    against,
    target,
    request: (holder) => rawRequest("GET", path(holder), { Authorization: `Bearer ${holder.key}` }),
  });
  const baseline = (name: string, server: Server, path: (holder: Holder) => string): Row => ({
    name,
    server,
    status: 200,
    against: null,
    target: null,
    request: (holder) => rawRequest("GET", path(holder), { Authorization: `Bearer ${holder.key}` }),
  });
  const api = "/api/v1";
  return [
    baseline("Express alone", hello, () => "/hello"),
    baseline("one", bare, ({ accountId }) => `/balance/${accountId}`),
    baseline("page", bare, ({ accountId }) => `/jobs/${accountId}`),
    ours("GET /credits", 0.8, () => `${api}/credits`),
    ours("GET /models", 1.5, () => `${api}/models`),
    ours("GET /me", 1.5, () => `${api}/me`),
    ours("GET /generations/{id}", 0.8, ({ accountId }) => `${api}/generations/${firstIds.get(accountId) ?? ""}`),
    ours("GET /generations?limit=20", 0.6, () => `${api}/generations?limit=20`, "page"),
    { ...ours("replay of a known key", 0.7, () => ""), status: 202, request: ({ key }) => createRequest(key, "known") },
    { ...ours("401", 0, () => ""), status: 401, target: null, request: ({ key }) => withKey(key.slice(0, -1)) },
  ];
}

function withKey(key: string): string {
  return rawRequest("GET", "/api/v1/credits", { Authorization: `Bearer ${key}` });
}

/** One generation of each account under the key that is repeated later. No worker takes them. */
async function createOnce(fermata: Server, holders: readonly Holder[]): Promise<void> {
  let next = 0;
  const request = (): string => createRequest((holders[next++ % holders.length] as Holder).key, "known");
  while (next < holders.length) await load(fermata.url, { connections: 16, seconds: 0.2, request, status: 202 });
}

/** The oldest generation of each account, which has completed. */
async function firstIdsOf(fermata: Server, holders: readonly Holder[]): Promise<ReadonlyMap<string, string>> {
  const ids = new Map<string, string>();
  for (const { accountId, key } of holders) {
    const response = await fetch(`${fermata.url}/api/v1/generations?limit=50`, {
      headers: { Authorization: `Bearer ${key}` },
    });
    const { data } = (await response.json()) as { readonly data: { readonly generations: { readonly id: string }[] } };
    ids.set(accountId, data.generations.at(-1)?.id ?? "");
  }
  return ids;
}

async function measure(installation: MysqlInstallation, rows: readonly Row[]): Promise<Figure[]> {
  for (const row of rows) await measureOnce(installation, row, 1);
  const rounds: ReadonlyMap<string, Measured>[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const results = new Map<string, Measured>();
    for (const row of rows) results.set(row.name, await measureOnce(installation, row, SECONDS));
    rounds.push(results);
  }
  return rows.map((row) => figureOf(row, rounds));
}

async function measureOnce(
  { holders, databaseCpuMs }: MysqlInstallation,
  { server, request, status }: Row,
  seconds: number,
): Promise<Measured> {
  let next = 0;
  const before = [await server.cpuMs(), await databaseCpuMs()] as const;
  const { count, perSecond } = await load(server.url, {
    connections: CONNECTIONS,
    seconds,
    request: () => request(holders[next++ % holders.length] as Holder),
    status,
  });
  return {
    perSecond,
    serverMicros: (((await server.cpuMs()) - before[0]) * 1_000) / count,
    databaseMicros: (((await databaseCpuMs()) - before[1]) * 1_000) / count,
  };
}

/** The value has the requests, and the CPU time of server and database for each. */
function figureOf({ name, against, target }: Row, rounds: readonly ReadonlyMap<string, Measured>[]): Figure {
  const of = (row: string, part: keyof Measured): number[] => rounds.map((each) => each.get(row)?.[part] ?? Number.NaN);
  const shown = (row: string): string => {
    const [requests, server, database] = (["perSecond", "serverMicros", "databaseMicros"] as const).map((part) =>
      median(of(row, part)),
    ) as [number, number, number];
    return `${perSecond(requests)}, ${server.toFixed(0)} + ${database.toFixed(0)} µs`;
  };
  if (against === null) return { name: `reads: ${name}`, value: shown(name), baseline: "", ratio: null, target: null };
  const ratios = of(name, "perSecond").map((value, round) => value / (of(against, "perSecond")[round] ?? Number.NaN));
  const range = `${Math.min(...ratios).toFixed(2)} to ${Math.max(...ratios).toFixed(2)}`;
  return {
    name: `reads: ${name}`,
    value: `${shown(name)} (${range})`,
    baseline: shown(against),
    ratio: median(ratios),
    target: target === null ? null : atLeast(median(ratios), target),
  };
}

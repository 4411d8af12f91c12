import type { RequestRow } from "../../adapters/storage/sql/usage/request-log-table.js";
import type { AccountId } from "../../core/ids.js";
import type { RequestQuery } from "../../core/ports/request-log-store.js";
import { ReadUsage } from "../../core/usage/read-usage.js";
import { NodeDigest } from "../../adapters/crypto/digest.js";
import { ManualClock } from "../support/doubles/manual-clock.js";
import { NOON } from "../support/builders.js";
import { sqliteStorage } from "../support/databases.js";
import type { StorageUnderTest } from "../support/storage-under-test.js";
import { mysqlStorage } from "../support/mysql.js";
import { openWriter } from "./bulk-writer.js";
import { below, type Bench, type Figure, median, percentile, spread } from "./figures.js";
import { LogWriter } from "./log-writer.js";
import { random, pick } from "./search-corpus.js";

const ROWS = Number(process.env["LOG_ROWS"] ?? 1_000_000);
const BATCH = 100_000;
const ROUNDS = 20;
const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
const FROM = NOON - 30 * DAY_MS;
const OTHERS = 1_000;
const ROUTES = [
  "/api/v1/generations",
  "/api/v1/generations/{id}",
  "/api/v1/jobs/{id}",
  "/api/v1/library/search",
  "/api/v1/credits",
  "/api/v1/models",
];
const STATUSES = [200, 200, 200, 200, 200, 200, 202, 400, 404, 429];
/** The share of errors of a healthy service. */
const RARE = { share: 0.000_1, status: 503 } as const;

type Open = StorageUnderTest & { readonly url: string };

/** How long a report of the usage may take, whatever the size of the log. */
const USAGE_MAX_MS = 20;

/** The log of a month, in which one account made a tenth of the requests. The others have one client and one route. */
export const logs: Bench = {
  name: "logs",
  compares: `lists and counts of a request log of ${ROWS.toLocaleString("en")} rows with reading one account`,
  async run() {
    const figures: Figure[] = [];
    for (const { name, open } of [sqliteStorage, mysqlStorage]) figures.push(...(await measure(name, await open())));
    return figures;
  },
};

async function measure(name: string, storage: Open): Promise<Figure[]> {
  try {
    await fill(storage.url);
    const { requestLog, inTransaction } = storage;
    const account = await storage.addAccount();
    const baseline = {
      ms: median(await timed(() => storage.accounts.findAccounts([account.id]))),
      name: "one account",
    };
    const ofHeavy: RequestQuery = { accountId: accountOf(0), from: FROM, to: NOON };
    const clock = new ManualClock(NOON + MINUTE_MS);
    const recorder = { flush: () => Promise.resolve() };
    const usage = new ReadUsage({ log: requestLog, recorder, clock, digest: new NodeDigest() });
    const report = (filter: object) => (): Promise<unknown> => usage.usage(ofHeavy.accountId, filter);
    const works: Readonly<Record<string, () => Promise<unknown>>> = {
      list: () => requestLog.list(ofHeavy, 100),
      "list, client": () => requestLog.list({ ...ofHeavy, client: "web" }, 100),
      "list, route": () => requestLog.list({ ...ofHeavy, route: ROUTES[3] }, 100),
      "list, rare status": () => requestLog.list({ ...ofHeavy, status: RARE.status }, 100),
      "list, client, route and status": () =>
        requestLog.list({ ...ofHeavy, client: "app-1", route: ROUTES[3], status: 429 }, 100),
      "list, client and rare status": () => requestLog.list({ ...ofHeavy, client: "web", status: RARE.status }, 100),
      "100 rows deleted": () => inTransaction((tx) => requestLog.deleteOld(tx, NOON, 100)),
    };
    const figures: Figure[] = [];
    const reports: Readonly<Record<string, () => Promise<unknown>>> = {
      "usage of 30 days": report({}),
      "usage of a part of them": report({ from: NOON - 20.4 * DAY_MS, to: NOON - 3.3 * DAY_MS }),
      "usage, client": report({ client: "app-1" }),
      "usage, route": report({ route: ROUTES[3] }),
      "usage, rare status": report({ status: RARE.status }),
    };
    for (const [what, work] of Object.entries(reports)) {
      const taken = await timed(work);
      const target = below(percentile(taken, 0.95), USAGE_MAX_MS, " ms");
      figures.push({ ...spread(`${name}: logs, ${what}`, taken, baseline), target });
    }
    for (const [what, work] of Object.entries(works))
      figures.push(spread(`${name}: logs, ${what}`, await timed(work), baseline));
    return figures;
  } finally {
    await storage.close();
  }
}

function accountOf(number: number): AccountId {
  return `acct_${String(number).padStart(26, "0")}`;
}

async function fill(url: string): Promise<void> {
  const roll = random(3);
  const writer = await openWriter(url);
  const log = new LogWriter(writer);
  for (let start = 0; start < ROWS; start += BATCH) {
    const length = Math.min(BATCH, ROWS - start);
    await log.write(Array.from({ length }, (_, index) => rowOf(start + index, roll)));
  }
  await log.close();
  await writer.close();
}

function rowOf(number: number, roll: () => number): RequestRow {
  const other = roll() < 0.1 ? null : 1 + Math.floor(roll() * OTHERS);
  const route = other === null ? pick(roll, ROUTES) : (ROUTES[other % ROUTES.length] ?? "");
  const status = roll() < RARE.share ? RARE.status : other === null ? pick(roll, STATUSES) : 200;
  return {
    id: `req_${String(number).padStart(26, "0")}`,
    account_id: accountOf(other ?? 0),
    created_at: FROM + Math.floor((number / ROWS) * 30 * DAY_MS),
    method: "GET",
    path: route,
    route,
    status,
    error_code: status < 400 ? null : "invalid_request",
    request_bytes: 100,
    response_bytes: 1_000,
    job_id: null,
    client: other !== null || roll() < 0.7 ? "web" : `app-${Math.floor(roll() * 5)}`,
    request_count: null,
    merged_at: null,
    is_counted: 1,
  };
}

async function timed(work: () => Promise<unknown>): Promise<number[]> {
  const taken: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const at = performance.now();
    await work();
    taken.push(performance.now() - at);
  }
  return taken;
}

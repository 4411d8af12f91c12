import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createStores, type KnexDatabase, openDatabase } from "../../adapters/storage/sql/index.js";
import { type App, compose, loadSettings } from "../../config/index.js";
import { RETAINED_KINDS } from "../../core/ports/growth-store.js";
import { aJob, aPlaylist, anId } from "../support/builders.js";
import { type ApiResponse, ApiClient } from "../support/api-client.js";
import { SILENT, sqliteStorage, TEST_PORTS } from "../support/databases.js";
import { mysqlStorage } from "../support/mysql.js";
import { storageUnderTest, type StorageUnderTest } from "../support/storage-under-test.js";
import { anEndpoint } from "../support/webhook-builders.js";
import { below, type Bench, type Figure, milliseconds, percentile } from "./figures.js";
import { fillGrown, type Grown, jobOf } from "./growth-rows.js";
import { VIEWER } from "./search-corpus.js";

const JOBS = Number(process.env["GROWTH_JOBS"] ?? 1_000_000);
const FEW_JOBS = Number(process.env["GROWTH_FEW_JOBS"] ?? 10_000);
const ENGINES = (process.env["GROWTH_ENGINES"] ?? "SQLite,MySQL").split(",");
/** Installations that are filled once and kept: one URL of each engine, separated by spaces. */
const KEPT = (process.env["GROWTH_KEPT"] ?? "").split(" ");
const ROUNDS = 41;
const RATIO_MAX = 1.5;
const NO_LIMIT = 1_000_000_000;
const PLENTY = { perMinute: NO_LIMIT, perDay: NO_LIMIT };
const DAY_MS = 86_400_000;

/** An opened storage that another process can open too. */
type Open = StorageUnderTest & { readonly url: string; readonly database: KnexDatabase };
type Work = () => Promise<unknown>;
type Works = Readonly<Record<string, Work>>;

/** What every request and every step of a worker takes in an installation that has run for long. */
export const growth: Bench = {
  name: "growth",
  compares:
    `endpoints and steps of workers on ${JOBS.toLocaleString("en")} jobs and rows of the log, and a tenth as many ` +
    `tracks, with ${FEW_JOBS.toLocaleString("en")}`,
  async run() {
    const figures: Figure[] = [];
    for (const { name, open } of [sqliteStorage, mysqlStorage])
      if (ENGINES.includes(name)) figures.push(...(await compare(name, open)));
    return figures;
  },
};

/** An installation that is open, with what is measured of it. */
interface Prepared {
  readonly works: Works;
  close(): Promise<void>;
}

async function compare(name: string, open: () => Promise<Open>): Promise<Figure[]> {
  const few = await prepare(await open(), FEW_JOBS);
  try {
    const many = await prepare(await openMany(name, open), JOBS);
    try {
      const figures: Figure[] = [];
      const others = new Map(Object.entries(many.works));
      for (const [what, work] of Object.entries(few.works)) {
        const other = others.get(what);
        if (other === undefined) throw new Error(`Only one of them has ${what}.`);
        const [ofFew, ofMany] = await inTurn(work, other);
        const ratio = ofMany / ofFew;
        const shown = { value: milliseconds(ofMany), baseline: milliseconds(ofFew), ratio };
        figures.push({ name: `${name}: ${what}`, ...shown, target: below(ratio, RATIO_MAX, " ×") });
      }
      return figures;
    } finally {
      await many.close();
    }
  } finally {
    await few.close();
  }
}

/** The kept one of this engine, which is empty at first; else one that is deleted in the end. */
async function openMany(name: string, open: () => Promise<Open>): Promise<Open> {
  const url = KEPT.find((one) => one.startsWith(`${name.toLowerCase()}:`));
  if (url === undefined) return open();
  const database = await openDatabase({ url, logger: SILENT });
  await database.migrate();
  return { ...storageUnderTest(createStores(database, TEST_PORTS), () => database.close()), database, url };
}

/**
 * Runs both in turn, round after round. The fastest quarter counts: what others on the machine take away is not in it.
 *
 * @returns the slowest of the fastest quarter of each, in milliseconds
 */
async function inTurn(...works: readonly [first: Work, second: Work]): Promise<readonly [number, number]> {
  const taken: readonly [number[], number[]] = [[], []];
  for (const work of works) await work();
  for (let round = 0; round < ROUNDS; round++) {
    for (const index of [0, 1] as const) {
      const at = performance.now();
      await works[index]();
      taken[index].push(performance.now() - at);
    }
  }
  return [percentile(taken[0], 0.25), percentile(taken[1], 0.25)];
}

async function prepare(storage: Open, jobs: number): Promise<Prepared> {
  const dataDir = await mkdtemp(join(tmpdir(), "fermata-bench-"));
  const { grown, named } = (await readFilled(storage)) ?? (await fill(storage, jobs));
  const app = await composeOn(storage.url, dataDir);
  const { token } = await app.accounts.issueKey(VIEWER);
  const api = new ApiClient((await app.listen()).url, token);
  return {
    works: { ...(await requests(api, named)), ...steps(storage, grown) },
    async close() {
      await app.stop();
      await storage.close();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

/** What requests name. */
interface Named {
  readonly jobId: string;
  readonly trackId: string;
  readonly playlistId: string;
  readonly endpointId: string;
}

/** What is known of a filled installation; its row of the table of facts keeps it. */
interface Filled {
  readonly grown: Grown;
  readonly named: Named;
}

const FILLED = "bench_growth";

async function readFilled({ database }: Open): Promise<Filled | null> {
  const sql = "SELECT value FROM {installation} WHERE name = ?";
  const [row] = await database.all<{ readonly value: string }>(sql, [FILLED]);
  return row === undefined ? null : (JSON.parse(row.value) as Filled);
}

async function fill(storage: Open, jobs: number): Promise<Filled> {
  const grown: Grown = { now: Date.now(), jobs, heavy: VIEWER, endpointId: anId("whe") };
  const { inTransaction, library, webhooks } = storage;
  await storage.addAccount({ id: grown.heavy }, { pack: NO_LIMIT });
  await fillGrown(storage.url, grown);
  const balance = await storage.balanceOf(grown.heavy);
  const { write, names } = storage.database;
  const ledgerSeq = balance.ledgerSeq + (2 * grown.jobs) / 10;
  await write(names.of("balances")).where({ account_id: grown.heavy }).update({ ledger_seq: ledgerSeq });
  for (let isMore = true; isMore;) isMore = await inTransaction((tx) => library.indexPending(tx));
  const everything = { viewer: grown.heavy, words: [], mood: null, activity: null, limit: 1 };
  const [track] = (await library.searchTracks(everything)).items;
  if (track === undefined) throw new Error("The library has tracks that all may play.");
  const trackId = track.id;
  const playlist = aPlaylist({ accountId: grown.heavy, trackIds: [trackId] });
  await inTransaction((tx) => library.insertPlaylists(tx, [playlist]));
  const endpoint = anEndpoint({ id: grown.endpointId, accountId: grown.heavy });
  await inTransaction((tx) => webhooks.insertEndpoint(tx, endpoint));
  if (storage.url.startsWith("mysql:"))
    for (const table of ["jobs", "job_attempts", "request_log", "ledger_entries", "webhook_events", "tracks"])
      await write.raw(`ANALYZE TABLE ${names.of(table)}`);
  const jobId = jobOf(grown, grown.jobs - 20).id;
  const filled = { grown, named: { jobId, trackId, playlistId: playlist.id, endpointId: endpoint.id } };
  await write(names.of("installation")).insert({ name: FILLED, value: JSON.stringify(filled) });
  return filled;
}

function composeOn(url: string, dataDir: string): Promise<App> {
  const settings = loadSettings({
    ...{ env: {}, cwd: dataDir, isTerminal: false },
    overrides: {
      dataDir,
      http: { port: 0 },
      storage: { url },
      rateLimits: { read: PLENTY, generation: PLENTY, write: PLENTY },
      tiers: { pro: { maxConcurrent: NO_LIMIT } },
      webhooks: { allowHosts: ["hooks.nightingale.example"] },
      metrics: { enabled: false },
      logs: { level: "error" },
    },
  });
  return compose(settings);
}

async function requests(api: ApiClient, { jobId, trackId, playlistId, endpointId }: Named): Promise<Works> {
  const get = async (path: string): Promise<ApiResponse> => {
    const response = await api.get(`/api/v1/${path}`);
    if (response.status !== 200) throw new Error(`GET ${path}: ${response.status} ${response.text}`);
    return response;
  };
  const { data } = (await get("models")).json as { readonly data: { readonly models: readonly { id: string }[] } };
  const modelId = data.models[0]?.id ?? "";
  const generation = { model_id: modelId, prompt: "rain on a tin roof" };
  const cursorOf = async (path: string): Promise<string> => {
    const page = (await get(path)).json as { readonly data: { readonly next_cursor: string } };
    return encodeURIComponent(page.data.next_cursor);
  };
  const generations = await cursorOf("generations?limit=50");
  const events = await cursorOf("events?limit=100");
  const logs = await cursorOf("logs?limit=100");
  const day = new Date(Date.now() - DAY_MS).toISOString();
  const patch = { headers: { "Content-Type": "application/json" }, body: { status: "active" } };
  return {
    ...Object.fromEntries(
      [
        ...["me", "credits", "usage", `usage?from=${day}`, "models", `models/${encodeURIComponent(modelId)}`],
        ...["generations", `generations?cursor=${generations}`, `generations/${jobId}`, `jobs/${jobId}`],
        ...["logs", `logs?cursor=${logs}`, "library/search?q=ka", "library/search", `tracks/${trackId}`],
        ...["playlists", `playlists/${playlistId}`, "webhook-endpoints", "events", `events?after=${events}`],
      ].map((path) => [`GET ${path.replace(/=[^&]{12,}/, "=…").replace(/_0\w+/, "_…")}`, () => get(path)]),
    ),
    "POST generations": () => api.generate(generation),
    "POST generations, a replay": () => api.generate(generation, { "Idempotency-Key": "the same" }),
    "PATCH webhook-endpoints/{id}": () => api.send("PATCH", `/api/v1/webhook-endpoints/${endpointId}`, patch),
  };
}

function steps(storage: Open, grown: Grown): Works {
  const { jobs, webhooks, library, requestLog, growth: store, activity, ledger, idempotency, inTransaction } = storage;
  const { now } = grown;
  const job = jobOf(grown, grown.jobs - 20);
  const claim = (providerId: string) =>
    jobs.claimJobs({
      ...{ providerId, phases: ["waiting", "submitting", "rendering"] as const, limit: 16, now },
      ...{ owner: anId("prc"), leaseUntil: now + 30_000 },
    });
  const claims = [{ endpointId: grown.endpointId, limit: 16 }];
  return {
    "worker: claim, nothing due": () => claim("none"),
    "worker: insert and claim": async () => {
      const providerId = randomUUID();
      await inTransaction((tx) => jobs.insertJobs(tx, [aJob({ providerId, dueAt: now - 1, createdAt: now - 1 })]));
      if ((await claim(providerId)).length !== 1) throw new Error("The job is due.");
    },
    "worker: next job due": () => jobs.nextDueAt("synth"),
    "worker: jobs alive": () => jobs.countAlive(),
    "worker: work of a provider": () => jobs.countWork("synth", 1_000),
    "worker: lock a job": () => inTransaction((tx) => jobs.lockJobs(tx, [job.id])),
    "worker: attempts of a job": () => jobs.attemptsOf([job.id]),
    "worker: overdue jobs and attempts": async () => {
      await jobs.findOverdue(now - DAY_MS, 200);
      await jobs.findOverdueAttempts(now, 200);
    },
    "worker: cancels due": () => jobs.claimCancels("synth", now, now + 1, 10),
    "worker: render times": () => jobs.renderTimes("synth", "synth/v1", 100),
    "worker: number ends": () => jobs.numberEnds(100),
    "worker: ends behind a number": () => jobs.listEnds(grown.jobs - 20, 10),
    "worker: balances": () => inTransaction((tx) => ledger.lockBalances(tx, [grown.heavy])),
    "worker: index pending tracks": () => inTransaction((tx) => library.indexPending(tx)),
    "worker: deliveries due": () => webhooks.endpointsWithDue(now, null),
    "worker: claim deliveries": () => webhooks.claimDeliveries(claims, now, anId("prc"), now + 1),
    "worker: next delivery": () => webhooks.nextDeliveryAt(),
    "worker: is anything past its time": async () => {
      for (const kind of RETAINED_KINDS) await store.due(kind, now - 400 * DAY_MS, 1);
    },
    "worker: delete requests of 50 jobs": () => inTransaction((tx) => jobs.deleteRequests(tx, now - 100 * DAY_MS, 50)),
    "worker: delete 10 attempts": () => inTransaction((tx) => jobs.deleteAttempts(tx, now - 100 * DAY_MS, 10)),
    "worker: delete 10 events": () => inTransaction((tx) => webhooks.deleteOld(tx, now - 5 * DAY_MS, 10)),
    "worker: delete 10 rows of the log": () => inTransaction((tx) => requestLog.deleteOld(tx, now - 5 * DAY_MS, 10)),
    "worker: delete idempotency records": () => inTransaction((tx) => idempotency.deleteExpired(tx, now - DAY_MS, 50)),
    "operator: newest jobs": () => jobs.listJobs({ limit: 20 }),
    "operator: failed jobs of a provider": () => jobs.listJobs({ providerId: "synth", status: "failed", limit: 20 }),
    "operator: what happened in an hour": () => activity.activityIn({ from: now - 3_600_000, to: now }),
  };
}

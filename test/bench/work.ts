import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { Readable } from "node:stream";
import Database from "better-sqlite3";
import { NoAudioAnalyser } from "../../adapters/audio/analyser/no-analyser.js";
import type { App, Overrides } from "../../config/index.js";
import type { Account } from "../../core/ports/account.js";
import type { AudioStore } from "../../core/ports/audio-store.js";
import { submitAccepts, type ScriptedProvider, SCRIPTED_TRACK } from "../support/doubles/scripted-provider.js";
import { createRequest } from "./create.js";
import { type Bench, type Figure, median, milliseconds, percentile, perSecond } from "./figures.js";
import { type Installation, makeInstallation, MODEL, openFermata } from "./installation.js";
import { load, type LoadResult, rawRequest } from "./load.js";
import { DATABASE_FILE } from "./servers/child.js";
import { startServer } from "./servers/start.js";

const ACCOUNTS = 50;
const JOBS = 1_500;
const JOBS_WITH_FILES = 200;
const SINGLE_JOBS = 100;
const COMMITS = 1_000;
const REPLAY_SECONDS = 2;
const RENDERING_JOBS = 600;
/** The shortest poll interval that a provider may request. */
const POLL_EVERY_MS = 50;
const POLL_WARM_UP_MS = 1_000;
const POLL_SECONDS = 5;

export const work: Bench = {
  name: "work",
  compares: "jobs from the queue to their settlement with durable commits, and replays with reads",
  async run() {
    const installation = await makeInstallation(ACCOUNTS);
    try {
      return [
        ...(await measureJobs(installation)),
        ...(await measurePolls(installation)),
        ...(await measureReplays(installation)),
      ];
    } finally {
      await installation.remove();
    }
  },
};

/** Audio that is discarded, to measure the work without writing files. */
export const NO_AUDIO: AudioStore = {
  put: () => Promise.resolve(NOTHING_STORED),
  stat: () => Promise.resolve(NOTHING_STORED),
  read: () => Readable.from([]),
  deleteAll: () => Promise.resolve(),
  delete: () => Promise.resolve(),
  list: () => Promise.resolve([]),
};
const NOTHING_STORED = { sizeBytes: 0, etag: "none", modifiedAt: 0 };

/** No analysis and no cover: both cost tens of milliseconds of CPU time for each track. */
export const NOTHING_DERIVED: Overrides = {
  audioAnalyser: new NoAudioAnalyser(),
  coverPainter: { paint: () => Promise.resolve(new Uint8Array()) },
};

async function measureJobs(installation: Installation): Promise<Figure[]> {
  const dataDir = await installation.copy();
  const commits = commitsPerSecond(dataDir);
  const line = (name: string, jobs: number): Figure => ({
    name: `work: jobs settled, ${name}`,
    value: perSecond(jobs),
    baseline: `${perSecond(commits)} commits`,
    ratio: jobs / commits,
    target: null,
  });
  const withFiles = await runJobs(installation, await installation.copy(), { jobs: JOBS_WITH_FILES });
  const withoutFiles = await runJobs(installation, dataDir, { jobs: JOBS, audio: NO_AUDIO, ...NOTHING_DERIVED });
  return [
    line("with waveform, preview and cover", withFiles.perSecond),
    line("no files, nothing derived", withoutFiles.perSecond),
    {
      name: "work: accepted to submitted, idle, p50",
      value: milliseconds(median(withFiles.waits)),
      baseline: "",
      ratio: null,
      target: null,
    },
    {
      name: "work: accepted to submitted, idle, p99",
      value: milliseconds(percentile(withFiles.waits, 0.99)),
      baseline: "",
      ratio: null,
      target: null,
    },
  ];
}

async function runJobs(
  { holders }: Installation,
  dataDir: string,
  { jobs, ...overrides }: Overrides & { readonly jobs: number },
): Promise<{ readonly perSecond: number; readonly waits: readonly number[] }> {
  const { app, provider } = await openFermata(dataDir, overrides);
  const [mix] = SCRIPTED_TRACK.assets;
  if (mix !== undefined)
    provider.behaviour = () => Promise.resolve({ state: "completed", tracks: [{ ...SCRIPTED_TRACK, assets: [mix] }] });
  try {
    const accounts = await Promise.all(holders.map(({ accountId }) => app.accounts.get(accountId)));
    return {
      perSecond: await jobsPerSecond(app, accounts, jobs),
      waits: await startWaits(app, provider, accounts[0] as Account),
    };
  } finally {
    await app.stop();
  }
}

/** Jobs that render, and each is due for a poll at once: how many polls are claimed, made and written. */
async function measurePolls({ holders, copy }: Installation): Promise<Figure[]> {
  const dataDir = await copy();
  const commits = commitsPerSecond(dataDir);
  const { app, provider } = await openFermata(dataDir, {});
  provider.behaviour = submitAccepts(POLL_EVERY_MS);
  let polls = 0;
  provider.pollBehaviour = () => {
    polls += 1;
    return Promise.resolve({ state: "running", nextPollMs: POLL_EVERY_MS });
  };
  try {
    const accounts = await Promise.all(holders.map(({ accountId }) => app.accounts.get(accountId)));
    await Promise.all(
      Array.from({ length: RENDERING_JOBS }, (_, index) => accept(app, accounts[index % accounts.length] as Account)),
    );
    await app.work();
    await provider.submitted(RENDERING_JOBS);
    await pause(POLL_WARM_UP_MS);
    const before = polls;
    const begunAt = performance.now();
    await pause(POLL_SECONDS * 1000);
    const rate = (polls - before) / ((performance.now() - begunAt) / 1000);
    return [
      {
        name: "work: polls of rendering jobs",
        value: perSecond(rate),
        baseline: `${perSecond(commits)} commits`,
        ratio: rate / commits,
        target: null,
      },
    ];
  } finally {
    await app.stop();
  }
}

/** How often this disk makes one changed row durable. */
function commitsPerSecond(dataDir: string): number {
  const db = new Database(join(dataDir, DATABASE_FILE));
  db.pragma("journal_mode = WAL");
  db.pragma("synchronous = FULL");
  const touch = db.prepare(
    "UPDATE fermata_accounts SET created_at = created_at + 1 WHERE id = (SELECT id FROM fermata_accounts LIMIT 1)",
  );
  const begunAt = performance.now();
  for (let commit = 0; commit < COMMITS; commit++) touch.run();
  const seconds = (performance.now() - begunAt) / 1000;
  db.close();
  return COMMITS / seconds;
}

/** Fills the queue first, then starts the workers. */
async function jobsPerSecond(app: App, accounts: readonly Account[], jobs: number): Promise<number> {
  const accepted = Array.from({ length: jobs }, (_, index) =>
    accept(app, accounts[index % accounts.length] as Account),
  );
  await Promise.all(accepted);
  let left = jobs;
  const allEnded = new Promise<void>((resolve) => {
    const unlisten = app.events.on("job.ended", () => {
      if (--left > 0) return;
      unlisten();
      resolve();
    });
  });
  const begunAt = performance.now();
  await app.work();
  await allEnded;
  return jobs / ((performance.now() - begunAt) / 1000);
}

/** From the acceptance of a job to its submission, in milliseconds, one job at a time. */
async function startWaits(app: App, provider: ScriptedProvider, account: Account): Promise<number[]> {
  const waits: number[] = [];
  for (let job = 0; job < SINGLE_JOBS; job++) {
    const ended = new Promise<void>((resolve) => {
      const unlisten = app.events.on("job.ended", () => (unlisten(), resolve()));
    });
    const submitted = provider.submitted(provider.submissions.length + 1);
    await accept(app, account);
    const acceptedAt = performance.now();
    await submitted;
    waits.push(performance.now() - acceptedAt);
    await ended;
  }
  return waits;
}

function accept(app: App, account: Account): Promise<unknown> {
  return app.generations.create(account.id, { modelId: MODEL, prompt: "rain on a tin roof" });
}

async function measureReplays(installation: Installation): Promise<Figure[]> {
  const server = await startServer("fermata", await installation.copy());
  const key = installation.holders[0]?.key ?? "";
  const run = (connections: number, request: string, status: number): Promise<LoadResult> =>
    load(server.url, { connections, seconds: REPLAY_SECONDS, request: () => request, status });
  const replay = createRequest(key, "the same");
  const read = rawRequest("GET", "/api/v1/credits", { Authorization: `Bearer ${key}` });
  try {
    await run(1, replay, 202);
    const figures: Figure[] = [];
    for (const connections of [1, 64]) {
      const [replays, reads] = [await run(connections, replay, 202), await run(connections, read, 200)];
      const at = `${connections} connection${connections === 1 ? "" : "s"}`;
      const line = (name: string, of: (result: LoadResult) => number): Figure => ({
        name: `work: replay, ${at}, ${name}`,
        value: milliseconds(of(replays)),
        baseline: `${milliseconds(of(reads))} (read)`,
        ratio: of(replays) / of(reads),
        target: null,
      });
      figures.push(
        line("p50", ({ p50Ms }) => p50Ms),
        line("p99", ({ p99Ms }) => p99Ms),
      );
    }
    return figures;
  } finally {
    await server.stop();
  }
}

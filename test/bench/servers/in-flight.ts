/**
 * Works on jobs that render at their provider, in a process of their own: how late polls are, and what memory it takes.
 * Arguments: the data directory, how many jobs wait there, and how long after one poll the next one is due.
 */
import { setTimeout as pause } from "node:timers/promises";
import { limitHeapGrowth } from "../../../config/heap-growth.js";
import { submitAccepts } from "../../support/doubles/scripted-provider.js";
import { percentile } from "../figures.js";
import { openFermata } from "../installation.js";

/** What it reports. */
export interface InFlight {
  readonly polls: number;
  /** From when a poll was due until it was made, in milliseconds. */
  readonly p99Ms: number;
  readonly rssMb: number;
  readonly cpuShare: number;
}

const ROUNDS = 3;

const [, , dataDir = "", jobs = "0", everyMs = "0"] = process.argv;
const [count, nextPollMs] = [Number(jobs), Number(everyMs)];
// As the command line does.
limitHeapGrowth();
const { app, provider } = await openFermata(dataDir);
provider.behaviour = submitAccepts(nextPollMs);
const dueAt = new Map<unknown, number>();
let lagsMs: number[] = [];
provider.pollBehaviour = ({ data }) => {
  const now = performance.now();
  const { task } = data as { readonly task: string };
  const due = dueAt.get(task);
  if (due !== undefined) lagsMs.push(now - due);
  dueAt.set(task, now + nextPollMs);
  return Promise.resolve({ state: "running", nextPollMs });
};
await app.work();
await provider.submitted(count);
await pause(2 * nextPollMs);
lagsMs = [];
const before = process.cpuUsage();
let rss = 0;
for (let round = 0; round < 10 * ROUNDS; round++) {
  await pause(nextPollMs / 10);
  rss = Math.max(rss, process.memoryUsage.rss());
}
const { user, system } = process.cpuUsage(before);
const report: InFlight = {
  polls: lagsMs.length,
  p99Ms: percentile(lagsMs, 0.99),
  rssMb: rss / 2 ** 20,
  cpuShare: (user + system) / 1000 / (ROUNDS * nextPollMs),
};
await new Promise((sent) => process.send?.(report, sent));
await app.stop();
process.disconnect();

import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "chai";
import { eventually, type Sandbox } from "../../support/process.js";
import { CREDIT_COST, HTTP_MODEL, httpModelPlugin, type Purchase } from "../../support/vendor/index.js";
import type { CountedJob } from "../../support/waste.js";
import type { Installation } from "./installation.js";
import { counted, inInstallation, prompts, type Scenario } from "./scenario.js";
import type { Timing } from "./timing.js";

/** The share of time that the slot must be busy, whatever the load. */
const BUSY_MIN = 0.95;

/** Jobs that measure how long one takes, from one purchase to the next. */
const MEASURED = 5;

/** Requested at most until so many have been bought. */
const JOBS_TO_MEASURE_MAX = 2 * MEASURED;

/** Much longer than the queue deadline. */
const BOUGHT_WITHIN_MS = 45_000;

/** Renders that fit into the queue deadline. */
const QUEUE_RENDERS = 6;

export const overload = (demand: number): Scenario => ({
  name: `overload ${demand} ×`,
  promise: `delivers what one slot can render when ${demand} times as much is asked for, and refunds the rest unbought`,
  async run(sandbox: Sandbox, timing: Timing) {
    const renderMs = timing.between(500, 400, 900);
    const queueDeadlineMs = QUEUE_RENDERS * renderMs;
    const options = {
      renders: { slots: 1, renderMs },
      plugins: (url: string) => ({
        "http-model": httpModelPlugin(url, { shape: "accepts", concurrency: 4, maxInFlight: 1, callbacks: true }),
      }),
      jobs: { queueDeadlineMinutes: queueDeadlineMs / 60_000 },
      storage: timing.oneOf("sqlite", "mysql"),
    } as const;
    await inInstallation(sandbox, options, async (installation) => {
      await installation.serve("start");
      const { jobs: measured, intervalMs } = await measure(installation);

      const lastsMs = timing.between(6_000, 6_000, 20_000);
      const beginsAt = performance.now();
      const offered = await ask(installation, { intervalMs: intervalMs / demand, lastsMs, backlog: QUEUE_RENDERS });
      const jobs = [...measured, ...offered.flatMap((job) => job ?? [])];

      const { wasted, delivered, undelivered } = await counted(this.name, installation, jobs);
      const bought = installation.vendor.purchases.slice(MEASURED);
      const begun = bought.filter(({ boughtAt }) => boughtAt <= beginsAt + lastsMs);
      // The machine may be busier than before, but not so much that a job takes half as long again.
      const oneTakesMs = Math.min(Math.max(intervalMs, medianInterval(begun)), 1.5 * intervalMs);
      const capacity = lastsMs / oneTakesMs;
      process.stdout.write(
        `        asked for ${offered.length}, of which ${offered.filter((job) => job === null).length} were put off; ` +
          `begun meanwhile: ${begun.length} of ${capacity.toFixed(1)}, ${Math.round(oneTakesMs)} ms each\n`,
      );
      expect(wasted, "wasted").to.equal(0);
      for (const line of undelivered) expect(line).to.match(/bought 0 times\): failed, 0 credits charged, /);
      expect(begun.length, "renders begun while there was demand").to.be.at.least(Math.floor(BUSY_MIN * capacity));
      expect(await installation.spent(), "credits spent").to.equal(delivered * CREDIT_COST);
      await installation.checkLedger();
    });
  },
});

interface Measured {
  readonly jobs: CountedJob[];
  readonly intervalMs: number;
}

/**
 * Requests each job when the one before has been bought: one waits for the slot at any time, and never two. A machine
 * that stands still for longer than the queue deadline refunds a job unbought; another is requested then.
 */
async function measure(installation: Installation): Promise<Measured> {
  const { vendor } = installation;
  const jobs: CountedJob[] = [];
  while (vendor.purchases.length < MEASURED) {
    if (jobs.length === JOBS_TO_MEASURE_MAX)
      throw new Error(`${vendor.purchases.length} of ${jobs.length} jobs bought.`);
    const count = vendor.purchases.length + 1;
    const [job] = await installation.request(HTTP_MODEL, [`measured ${jobs.length + 1}`]);
    if (job === undefined) throw new Error("No job was accepted.");
    jobs.push(job);
    await eventually(
      `the purchase or the end of ${job.id}`,
      async () => vendor.purchases.length >= count || (await installation.hasEnded(job)),
      BOUGHT_WITHIN_MS,
    );
  }
  await (
    await vendor.bought(MEASURED)
  ).ended;
  return { jobs, intervalMs: medianInterval(vendor.purchases) };
}

/** The time from one purchase to the next. */
function medianInterval(purchases: readonly Purchase[]): number {
  const intervals = purchases.slice(1).map(({ boughtAt }, index) => boughtAt - (purchases[index]?.boughtAt ?? 0));
  return intervals.sort((one, other) => one - other)[Math.floor(intervals.length / 2)] ?? 0;
}

interface Demand {
  readonly intervalMs: number;
  readonly lastsMs: number;
  /** Requested at once, at the start. */
  readonly backlog: number;
}

/** Sends requests at a steady rate, whatever their results. @returns the jobs; null for each refused one */
async function ask(installation: Installation, demand: Demand): Promise<(CountedJob | null)[]> {
  const { intervalMs, lastsMs, backlog } = demand;
  const beginsAt = performance.now();
  const count = backlog + Math.floor(lastsMs / intervalMs);
  const offers: Promise<CountedJob | null>[] = [];
  for (const [index, prompt] of prompts(count).entries()) {
    await sleep(Math.max(0, beginsAt + Math.max(0, index - backlog) * intervalMs - performance.now()));
    offers.push(installation.offer(HTTP_MODEL, prompt));
  }
  return Promise.all(offers);
}

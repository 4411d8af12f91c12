import { fork } from "node:child_process";
import { once } from "node:events";
import { below, type Bench, milliseconds } from "./figures.js";
import { type Holder, makeInstallation, MODEL, openFermata } from "./installation.js";
import type { InFlight } from "./servers/in-flight.js";

const JOBS = Number(process.env["IN_FLIGHT_JOBS"] ?? 10_000);
/** How long after one poll of a job the next one is due. */
const POLL_EVERY_MS = Number(process.env["IN_FLIGHT_POLL_MS"] ?? 10_000);
const ACCOUNTS = 50;
const ACCEPTED_AT_ONCE = 500;
const LAG_MAX_MS = 1_000;
const MEMORY_MAX_MB = 250;

/** Jobs that render at their provider, all of them held by one process. */
export const inFlight: Bench = {
  name: "in-flight",
  compares: `the lag of polls of ${JOBS.toLocaleString("en")} rendering jobs in one process with their interval`,
  async run() {
    const installation = await makeInstallation(ACCOUNTS);
    try {
      const dataDir = await installation.copy();
      await accept(dataDir, installation.holders);
      const { p99Ms: p99, polls, rssMb, cpuShare } = await work(dataDir);
      return [
        {
          name: `in-flight: lag of polls, p99 of ${polls}, ${(100 * cpuShare).toFixed(0)} % of a core`,
          value: milliseconds(p99),
          baseline: `${POLL_EVERY_MS} ms`,
          ratio: p99 / POLL_EVERY_MS,
          target: below(p99, LAG_MAX_MS, " ms"),
        },
        {
          name: "in-flight: memory",
          value: `${rssMb.toFixed(0)} MB`,
          baseline: "",
          ratio: null,
          target: below(rssMb, MEMORY_MAX_MB, " MB"),
        },
      ];
    } finally {
      await installation.remove();
    }
  },
};

/** The process that works on the jobs did not accept them. */
async function accept(dataDir: string, holders: readonly Holder[]): Promise<void> {
  const { app } = await openFermata(dataDir);
  for (let left = JOBS; left > 0; left -= ACCEPTED_AT_ONCE)
    await Promise.all(
      Array.from({ length: Math.min(ACCEPTED_AT_ONCE, left) }, (_, index) => {
        const { accountId } = holders[index % holders.length] as Holder;
        return app.generations.create(accountId, { modelId: MODEL, prompt: "rain on a tin roof" });
      }),
    );
  await app.stop();
}

async function work(dataDir: string): Promise<InFlight> {
  const extension = import.meta.url.endsWith(".ts") ? "ts" : "js"; // from the sources under tsx, or compiled
  const args = [dataDir, String(JOBS), String(POLL_EVERY_MS)];
  const child = fork(new URL(`./servers/in-flight.${extension}`, import.meta.url), args, {
    execArgv: process.execArgv,
  });
  const exited = once(child, "exit").then(([code]) => {
    throw new Error(`The process ended with code ${String(code)}.`);
  });
  exited.catch(() => undefined);
  const [report] = (await Promise.race([once(child, "message"), exited])) as [InFlight];
  await exited.catch(() => undefined);
  return report;
}

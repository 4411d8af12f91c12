import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "chai";
import { aSeed, SeededRandom } from "../../support/chaos/seeded-random.js";
import { filesUnder, Sandbox } from "../../support/process.js";
import { trendOf, type Trend, type Series, tableOf, type Tolerance } from "../../support/soak/trend.js";
import { SoakLoad } from "../../support/soak/load.js";
import type { ProcessFigures } from "../../support/soak/probe.js";
import { ageRows, sizesOf } from "../../support/soak/tables.js";
import { openEmbedded, openOnServers, type SoakedInstallation } from "./installations.js";

const MINUTES = Number(process.env["FERMATA_TEST_SOAK_MINUTES"] ?? 60);
/** Of a busy machine: the database is shared with whatever else runs on it. */
const PUT_OFF_MAX = 0.01;
const WARNINGS_MAX = 30;
const CLIENTS = 3;
const PAUSE_MS = [300, 1_200] as const;
/** A sample a minute, and 20 at least. */
const SAMPLE_MS = Math.min(60_000, MINUTES * 3_000);

/** How far above the first third the last may be: what is not a leak, but chance. */
const PROCESS_FIGURES: Readonly<Record<keyof ProcessFigures, readonly [name: string, unit: string, Tolerance]>> = {
  rssMb: ["resident memory", "MB", { share: 0.1, amount: 10 }],
  heapMb: ["heap after a collection", "MB", { share: 0.05, amount: 2 }],
  externalMb: ["memory outside the heap", "MB", { share: 0.1, amount: 2 }],
  timers: ["timers", "number", { share: 0.2, amount: 5 }],
  descriptors: ["open descriptors", "number", { share: 0.1, amount: 6 }],
  sockets: ["open sockets", "number", { share: 0.1, amount: 6 }],
  threads: ["threads", "number", { share: 0, amount: 2 }],
};
const PER_JOB: Tolerance = { share: 0.15, amount: 0.1 };
const OF_COUNTS: Tolerance = { share: 0, amount: 10 };

/** Run by `npm run test:soak`; no part of `npm test`. */
describe(`An installation under mixed load for ${MINUTES} minutes`, function () {
  this.timeout((MINUTES + 15) * 60_000);

  it("keeps memory, handles, temporary files, queues and bounded tables flat, on servers and embedded", async () => {
    const sandbox = new Sandbox();
    const soaked: SoakedInstallation[] = [];
    try {
      for (const open of [openOnServers, openEmbedded]) soaked.push(await open(sandbox));
      const trends = await Promise.all(soaked.map((installation) => soak(installation)));
      expect(trends.flat().filter(({ isFlat }) => !isFlat)).to.deep.equal([]);
    } finally {
      for (const { close } of soaked) await close();
      await sandbox.clear();
    }
  });
});

async function soak(soaked: SoakedInstallation): Promise<Trend[]> {
  const { installation, processes, title } = soaked;
  const random = new SeededRandom(aSeed());
  const load = new SoakLoad({ api: installation.api, random, pauseMs: PAUSE_MS });
  const series = new Map<string, Series & { readonly samples: (readonly [number, number])[] }>();
  const over = new AbortController();
  const sample = async (): Promise<void> => {
    const beganAt = performance.now();
    for (let next = SAMPLE_MS; next <= MINUTES * 60_000; next += SAMPLE_MS) {
      await sleep(beganAt + next - performance.now());
      for (const { process: running, name } of processes)
        if (running.hasExited) throw new Error(`${name} ended: ${running.stderr.slice(-2_000)}`);
      await ageRows(soaked.tables, Date.now());
      for (const [name, unit, tolerance, value] of await figuresOf(soaked)) {
        const known = series.get(name) ?? { name, unit, tolerance, samples: [] };
        series.set(name, known);
        known.samples.push([next / 60_000, value]);
      }
    }
  };
  await Promise.all([sample().finally(() => over.abort()), load.run(CLIENTS, over.signal)]);

  const trends = [...series.values()].map(trendOf);
  const sums = Object.entries(load.counts).map(([what, count]) => `${what} ${count}`);
  process.stdout.write(`\n${title}, ${MINUTES} minutes: ${sums.join(", ")}\n\n${tableOf(trends)}\n`);
  const { "put off": putOff = 0, ...others } = load.counts;
  const sent = Object.values(others).reduce((sum, count) => sum + count, 0);
  expect(putOff / sent, "the part of the requests that got a 503").to.be.below(PUT_OFF_MAX);
  expect(load.unexpected, `unexpected responses; logs:\n${warningsOf(soaked)}`).to.deep.equal([]);
  await installation.checkLedger();
  return trends;
}

/** The last warnings and errors that the processes logged. */
function warningsOf({ processes }: SoakedInstallation): string {
  const lines = processes.flatMap(({ name, process: { stderr } }) =>
    stderr.split("\n").flatMap((line) => (/"level":"(warn|error)"/.test(line) ? [`${name}: ${line}`] : [])),
  );
  return lines.slice(-WARNINGS_MAX).join("\n");
}

type Figure = readonly [name: string, unit: string, tolerance: Tolerance, value: number];

async function figuresOf({ processes, tables, temporary, queued }: SoakedInstallation): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const { name, probe } of processes) {
    const sampled = await probe.sample();
    for (const [key, [what, unit, tolerance]] of Object.entries(PROCESS_FIGURES))
      figures.push([`${name}: ${what}`, unit, tolerance, sampled[key as keyof ProcessFigures]]);
  }
  for (const { name, kind, value } of await sizesOf(tables, Date.now()))
    figures.push([name, "number", kind === "bounded" ? OF_COUNTS : PER_JOB, value]);
  figures.push(["temporary files", "number", OF_COUNTS, (await filesUnder(temporary)).length]);
  if (queued !== null) figures.push(["messages in the broker", "number", OF_COUNTS, await queued()]);
  return figures;
}

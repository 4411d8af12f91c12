import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PrometheusMetrics } from "../../adapters/observability/metrics.js";
import type { App } from "../../config/index.js";
import type { AccountId } from "../../core/ids.js";
import type { CountedJob } from "../../core/ports/metrics.js";
import { SILENT } from "../support/databases.js";
import { SCRIPTED_TRACK, ScriptedProvider } from "../support/doubles/scripted-provider.js";
import { createMigratedMysqlDatabase } from "../support/mysql.js";
import { openQueueSpace } from "../support/rabbitmq.js";
import { atLeast, below, type Bench, type Figure, median, milliseconds, percentile, perSecond } from "./figures.js";
import { MODEL, openFermata } from "./installation.js";
import { type JobQueueSystem, openGraphileWorker, openPgBoss } from "./other-queues.js";
import { NO_AUDIO, NOTHING_DERIVED } from "./work.js";

const ROUNDS = Number(process.env["QUEUES_ROUNDS"] ?? 3);
const JOBS = Number(process.env["QUEUES_JOBS"] ?? 20_000);
/** At the provider at once: half as many as pg-boss has in a batch. */
const CONCURRENCY = 1_024;
const CALLERS = 64;
const ACCOUNTS = 50;
const SINGLE_JOBS = 50;

interface Measured {
  readonly accepted: number;
  readonly settled: number;
  readonly both: number;
}

export const queues: Bench = {
  name: "queues",
  compares: "jobs from their acceptance to their settlement with job queues on PostgreSQL",
  async run() {
    const systems = [await openOurs(), await openGraphileWorker(), await openPgBoss()] as const;
    try {
      const measured = systems.map((): Measured[] => []);
      for (let round = -1; round < ROUNDS; round++)
        for (const [index, system] of systems.entries()) {
          const result = await measure(system, round < 0 ? JOBS / 4 : JOBS);
          if (round >= 0) measured[index]?.push(result);
        }
      const [ours, ...others] = measured as [Measured[], ...Measured[][]];
      const lines = (["accepted", "settled", "both"] as const).flatMap((member) =>
        others.map((other, index) => lineOf(member, ours, other, systems[index + 1]?.name ?? "")),
      );
      return [...lines, figureOf(await systems[0].startWaits(SINGLE_JOBS))];
    } finally {
      for (const system of systems) await system.close();
    }
  },
};

const NAMES: Readonly<Record<keyof Measured, string>> = {
  accepted: `accepted, ${CALLERS} callers`,
  settled: "settled, from a full queue",
  both: "accepted, then settled",
};

function lineOf(member: keyof Measured, ours: readonly Measured[], other: readonly Measured[], name: string): Figure {
  const ratio = median(ours.map((round, index) => round[member] / (other[index]?.[member] ?? Number.NaN)));
  return {
    name: `queues: jobs ${NAMES[member]}`,
    value: perSecond(median(ours.map((round) => round[member]))),
    baseline: `${perSecond(median(other.map((round) => round[member])))} (${name})`,
    ratio,
    target: member === "both" ? atLeast(ratio, 1) : null,
  };
}

/** Jobs per second: of acceptances, of settlements from a full queue by one worker, and of the one after the other. */
async function measure(system: JobQueueSystem, jobs: number): Promise<Measured> {
  const begunAt = performance.now();
  let left = jobs;
  const caller = async (): Promise<void> => {
    while (left-- > 0) await system.accept();
  };
  await Promise.all(Array.from({ length: CALLERS }, caller));
  const accepting = performance.now() - begunAt;
  const settling = await system.settle(jobs);
  const rate = (ms: number): number => (jobs * 1000) / ms;
  return { accepted: rate(accepting), settled: rate(settling), both: rate(accepting + settling) };
}

interface Ours extends JobQueueSystem {
  /** How long an idle worker takes from the acceptance of each job to its submission, in milliseconds. */
  startWaits(jobs: number): Promise<number[]>;
}

/** Accepting and working in one process each, as the other systems do. */
async function openOurs(): Promise<Ours> {
  const folder = await mkdtemp(join(tmpdir(), "fermata-bench-"));
  const [database, space] = await Promise.all([createMigratedMysqlDatabase(), openQueueSpace()]);
  const places = { storageUrl: database.url, queueUrl: space.url };
  const accepting = await openFermata(folder, {}, places);
  const ids = await Promise.all(Array.from({ length: ACCOUNTS }, (_, number) => newAccount(accepting.app, number)));
  let next = 0;
  const accept = async (): Promise<void> => {
    const input = { modelId: MODEL, prompt: "rain on a tin roof" };
    await accepting.app.generations.create(ids[next++ % ids.length] as AccountId, input, { key: `job ${next}` });
  };
  const startWorker = async (
    onEnded: () => void = () => undefined,
  ): Promise<{ readonly app: App; readonly provider: ScriptedProvider }> => {
    const provider = new ScriptedProvider();
    const plugins = [{ ...provider.definition, concurrency: CONCURRENCY }];
    const metrics = new NotedMetrics(onEnded);
    const { app } = await openFermata(folder, { audio: NO_AUDIO, ...NOTHING_DERIVED, plugins, metrics }, places);
    const [mix] = SCRIPTED_TRACK.assets as [(typeof SCRIPTED_TRACK.assets)[number]];
    provider.behaviour = () => Promise.resolve({ state: "completed", tracks: [{ ...SCRIPTED_TRACK, assets: [mix] }] });
    return { app, provider };
  };
  return {
    name: "Fermata",
    accept,
    async settle(jobs) {
      let left = jobs;
      let resolve: () => void = () => undefined;
      const settled = new Promise<void>((done) => (resolve = done));
      const { app } = await startWorker(() => (--left === 0 ? resolve() : undefined));
      const begunAt = performance.now();
      await app.work();
      await settled;
      const taken = performance.now() - begunAt;
      await app.stop();
      return taken;
    },
    async startWaits(jobs) {
      const { app, provider } = await startWorker();
      await app.work();
      const waits: number[] = [];
      while (waits.length < jobs) {
        const ended = new Promise<void>((resolve) => {
          const unlisten = app.events.on("job.ended", () => (unlisten(), resolve()));
        });
        const submitted = provider.submitted(waits.length + 1);
        await accept();
        const acceptedAt = performance.now();
        await submitted;
        waits.push(performance.now() - acceptedAt);
        await ended;
      }
      await app.stop();
      return waits;
    },
    async close() {
      await accepting.app.stop();
      await Promise.all([database.drop(), space.clear("scripted"), rm(folder, { recursive: true, force: true })]);
    },
  };
}

/** As they are by default, and a call for each job once its end is committed: nothing is read to see it. */
class NotedMetrics extends PrometheusMetrics {
  constructor(private readonly onEnded: () => void) {
    super(SILENT, { processMetrics: true });
  }

  override countJobEnded(job: CountedJob): void {
    super.countJobEnded(job);
    this.onEnded();
  }
}

async function newAccount(app: App, number: number): Promise<AccountId> {
  const { id } = await app.accounts.create({ name: `Account ${number}`, tier: "pro", acceptTerms: true });
  await app.credits.grant(id, 1_000_000_000, { bucket: "pack" });
  return id;
}

function figureOf(waits: readonly number[]): Figure {
  const p50 = median(waits);
  return {
    name: "queues: accepted to submitted, idle, over the broker",
    value: `p50 ${milliseconds(p50)}, p99 ${milliseconds(percentile(waits, 0.99))}`,
    baseline: "",
    ratio: null,
    target: below(p50, 10, " ms"),
  };
}

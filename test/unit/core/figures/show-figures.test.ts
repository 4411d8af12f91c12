import { expect } from "chai";
import { PrometheusMetrics } from "../../../../adapters/observability/metrics.js";
import { FIGURES_EVERY_MS, showFigures, type Slots } from "../../../../core/figures/show-figures.js";
import type { ProviderWork } from "../../../../core/ports/job-store.js";
import type { ProviderHealth } from "../../../../core/ports/provider-health-store.js";
import { ManualClock } from "../../../support/doubles/manual-clock.js";
import { RecordingLogger } from "../../../support/doubles/recording-logger.js";

const BREAKER = { failures: 3, openMs: 30_000 };
const NOTHING: ProviderWork = { waiting: 0, submitting: 0, rendering: 0 };

describe("The figures of what is stored and under way", () => {
  let clock: ManualClock;
  let metrics: PrometheusMetrics;
  let work: Readonly<Record<string, ProviderWork>>;
  let since: number | null;
  let health: readonly ProviderHealth[];
  let slots: readonly Slots[];
  let isAway: boolean;
  let reads: number;
  beforeEach(() => {
    clock = new ManualClock();
    metrics = new PrometheusMetrics(new RecordingLogger(), { processMetrics: false });
    [work, since, health, slots, isAway, reads] = [{}, null, [], [], false, 0];
    const stored = <Value>(value: Value): Promise<Value> =>
      isAway ? Promise.reject(new Error("the storage is away")) : Promise.resolve(value);
    showFigures({
      metrics,
      clock,
      breaker: BREAKER,
      jobs: {
        countWork: (provider) => {
          reads += 1;
          return stored(work[provider] ?? NOTHING);
        },
        waitingSince: () => stored(since),
      },
      health: { listHealth: () => stored([...health]) },
      webhooks: { countPending: () => stored(7) },
      installation: { find: () => stored(null) },
      catalogue: {
        providers: ["fal", "off"].map((id) => ({
          id,
          label: id,
          enabled: id === "fal",
          models: [],
          isReachable: true,
        })),
      },
      slots: () => slots,
    });
  });

  /** The lines of these metrics, without their common prefix. */
  async function linesOf(...names: readonly string[]): Promise<string[]> {
    return (await metrics.text()).split("\n").flatMap((line) => {
      const name = /^fermata_(\w+)/.exec(line)?.[1] ?? "";
      return names.includes(name) ? [line.replace("fermata_", "")] : [];
    });
  }

  it("show jobs by state and the age of the queue, of enabled providers and of others that have jobs", async () => {
    work = { fal: { waiting: 2, submitting: 1, rendering: 4 } };
    since = clock.now() - 90_000;
    expect(await linesOf("jobs", "queue_age_seconds")).to.deep.equal([
      'jobs{provider="fal",state="waiting"} 2',
      'jobs{provider="fal",state="submitting"} 1',
      'jobs{provider="fal",state="rendering"} 4',
      'queue_age_seconds{provider="fal"} 90',
    ]);
    work = { off: { ...NOTHING, waiting: 3 } };
    // Due later.
    since = clock.now() + 60_000;
    await clock.advance(FIGURES_EVERY_MS);
    expect(await linesOf("jobs", "queue_age_seconds")).to.include.members([
      'jobs{provider="fal",state="waiting"} 0',
      'jobs{provider="off",state="waiting"} 3',
      'queue_age_seconds{provider="off"} 0',
    ]);
  });

  it("read the storage every 15 seconds at most, and again at once after a failure", async () => {
    isAway = true;
    expect(await linesOf("jobs", "breaker_state", "webhook_deliveries_pending")).to.deep.equal([]);
    isAway = false;
    reads = 0;
    for (let scrapes = 0; scrapes < 3; scrapes += 1)
      expect(await linesOf("webhook_deliveries_pending")).to.have.length(1);
    expect(reads).to.equal(2);
    await clock.advance(FIGURES_EVERY_MS - 1);
    await metrics.text();
    expect(reads).to.equal(2);
    await clock.advance(1);
    await metrics.text();
    expect(reads).to.equal(4);
  });

  it("show the breakers of enabled providers, and of what else is not closed", async () => {
    const openedAt = clock.now();
    health = [
      { providerId: "fal", failures: 1, openedAt: null, trialUntil: null },
      { providerId: "fal/one", failures: 3, openedAt, trialUntil: null },
      { providerId: "fal/two", failures: 3, openedAt: openedAt - BREAKER.openMs, trialUntil: null },
      { providerId: "fal/three", failures: 1, openedAt: null, trialUntil: null },
    ];
    expect(await linesOf("breaker_state")).to.deep.equal([
      'breaker_state{target="fal"} 0',
      'breaker_state{target="fal/one"} 2',
      'breaker_state{target="fal/two"} 1',
    ]);
  });

  it("show the slots of the process as they are, and nothing of a watch that has not begun", async () => {
    slots = [{ provider: "fal", kind: "submit", inUse: 2, max: 4 }];
    const labels = '{provider="fal",kind="submit"}';
    const shown = ["worker_slots", "worker_slots_in_use", "ledger_violations", "ledger_watch_timestamp_seconds"];
    expect(await linesOf(...shown)).to.deep.equal([`worker_slots${labels} 4`, `worker_slots_in_use${labels} 2`]);
    slots = [];
    expect(await linesOf(...shown)).to.deep.equal([]);
  });
});

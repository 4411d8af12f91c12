import type { Clock } from "../ports/clock.js";
import { findLedgerWatch, type LedgerWatch } from "../maintenance/watch-ledger.js";
import type { InstallationStore } from "../ports/installation-store.js";
import type { JobStore } from "../ports/job-store.js";
import type { GaugeSample, Metrics } from "../ports/metrics.js";
import type { ProviderHealthStore } from "../ports/provider-health-store.js";
import type { WebhookStore } from "../ports/webhook-store.js";
import type { Catalogue } from "../providers/catalogue.js";
import { type BreakerPolicy, type BreakerState, breakerState } from "../providers/circuit-breaker.js";
import { cached } from "./cached.js";

/** Slots of this process for the work of a provider. */
export interface Slots {
  readonly provider: string;
  /** `submit`: calls that buy work; `poll`: short requests about bought work. */
  readonly kind: "submit" | "poll";
  readonly inUse: number;
  readonly max: number;
}

export interface FiguresDeps {
  readonly metrics: Pick<Metrics, "gauge">;
  readonly jobs: Pick<JobStore, "countWork" | "waitingSince">;
  readonly health: Pick<ProviderHealthStore, "listHealth">;
  readonly webhooks: Pick<WebhookStore, "countPending">;
  readonly installation: Pick<InstallationStore, "find">;
  readonly catalogue: Pick<Catalogue, "providers">;
  readonly breaker: BreakerPolicy;
  readonly clock: Clock;
  /** Of this process; none in one that does not work on jobs. */
  slots(): readonly Slots[];
}

/** What is read from the storage is read this often at most, however often and by how many it is asked for. */
export const FIGURES_EVERY_MS = 15_000;
/** More jobs of one provider and state are shown as so many: to count them would take longer. */
const COUNT_MAX = 100_000;

const BREAKER_VALUES: Readonly<Record<BreakerState, number>> = { closed: 0, half_open: 1, open: 2 };

/** Shows in the metrics what is stored and what is under way. What is stored is the same in every process. */
export function showFigures(deps: FiguresDeps): void {
  const { metrics, webhooks, clock } = deps;
  const fromStorage = <Read>(read: () => Promise<Read>): (() => Promise<Read>) => cached(read, FIGURES_EVERY_MS, clock);
  const work = fromStorage(() => readWork(deps));
  metrics.gauge(
    {
      name: "jobs",
      help: "Jobs that have not ended, by state: waiting, submitting or rendering; at most 100,000 are counted",
      labels: ["provider", "state"],
    },
    async () => (await work()).flatMap(({ states }) => states),
  );
  metrics.gauge(
    {
      name: "queue_age_seconds",
      help: "For how long the waiting job that is due the longest has been due; 0 when none is",
      labels: ["provider"],
    },
    async () => (await work()).map(({ age }) => age),
  );
  const help = "State of a circuit breaker, of a provider or of what it offers: 0 closed, 1 half-open, 2 open";
  metrics.gauge(
    { name: "breaker_state", help, labels: ["target"] },
    fromStorage(() => readBreakers(deps)),
  );
  const pending = "Webhook deliveries that wait for their first or next attempt";
  metrics.gauge(
    { name: "webhook_deliveries_pending", help: pending },
    fromStorage(() => webhooks.countPending()),
  );
  showLedger(deps, fromStorage);
  const slots = (value: (of: Slots) => number) => (): GaugeSample[] =>
    deps.slots().map((of) => ({ labels: { provider: of.provider, kind: of.kind }, value: value(of) }));
  const labels = ["provider", "kind"];
  metrics.gauge(
    { name: "worker_slots", help: "Calls of a provider that this process may have under way", labels },
    slots(({ max }) => max),
  );
  metrics.gauge(
    { name: "worker_slots_in_use", help: "Calls of a provider that this process has under way", labels },
    slots(({ inUse }) => inUse),
  );
}

type FromStorage = <Read>(read: () => Promise<Read>) => () => Promise<Read>;

/** Nothing before a process has begun to watch. */
function showLedger({ metrics, installation }: FiguresDeps, fromStorage: FromStorage): void {
  const watch = fromStorage(() => findLedgerWatch(installation));
  const show = (name: string, help: string, read: (of: LedgerWatch) => number | null): void =>
    metrics.gauge({ name, help }, async (): Promise<readonly GaugeSample[]> => {
      const found = await watch();
      const value = found === null ? null : read(found);
      return value === null ? [] : [{ labels: {}, value }];
    });
  show(
    "ledger_violations",
    "Invariants of the ledger that are broken, as the watch found in its last round or in this one",
    ({ found, foundBefore }) => Math.max(found, foundBefore),
  );
  show(
    "ledger_watch_timestamp_seconds",
    "When the watch of the ledger last wrote that it goes on",
    ({ checkedAt }) => checkedAt / 1000,
  );
  show("ledger_round_timestamp_seconds", "When the watch of the ledger last came to its end", ({ roundEndedAt }) =>
    roundEndedAt === null ? null : roundEndedAt / 1000,
  );
}

interface Work {
  readonly states: readonly GaugeSample[];
  readonly age: GaugeSample;
}

/** One that is off is shown only while it has jobs. */
async function readWork({ jobs, catalogue, clock }: FiguresDeps): Promise<readonly Work[]> {
  const all: Work[] = [];
  for (const { id: provider, enabled } of catalogue.providers) {
    const counts = await jobs.countWork(provider, COUNT_MAX);
    if (!enabled && Object.values(counts).every((count) => count === 0)) continue;
    const since = counts.waiting === 0 ? null : await jobs.waitingSince(provider);
    const states = Object.entries(counts).map(([state, value]) => ({
      labels: { provider, state },
      value: Number(value),
    }));
    const value = since === null ? 0 : Math.max(0, clock.now() - since) / 1000;
    all.push({ states, age: { labels: { provider }, value } });
  }
  return all;
}

/** Of every enabled provider, and of whatever else is not closed: a model, or an operation. */
async function readBreakers({ health, catalogue, breaker, clock }: FiguresDeps): Promise<readonly GaugeSample[]> {
  const states = new Map<string, BreakerState>(
    catalogue.providers.filter(({ enabled }) => enabled).map(({ id }) => [id, "closed"]),
  );
  for (const one of await health.listHealth())
    if (one.openedAt !== null) states.set(one.providerId, breakerState(one, breaker, clock.now()));
  return [...states].map(([target, state]) => ({ labels: { target }, value: BREAKER_VALUES[state] }));
}

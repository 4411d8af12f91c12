import { expect } from "chai";
import { type ProviderMargin, ReportMargin } from "../../../core/attempts/report-margin.js";
import { ServiceUnavailableError } from "../../../core/errors.js";
import type { JobId } from "../../../core/ids.js";
import { ProviderFailure } from "../../../core/ports/music-provider.js";
import type { UnitOfWork } from "../../../core/ports/unit-of-work.js";
import { ManualClock } from "../../support/doubles/manual-clock.js";
import {
  submitAccepts,
  type SubmitBehaviour,
  submitCompletes,
  submitFails,
  submitHolds,
  type PollBehaviour,
  SCRIPTED_TRACK,
} from "../../support/doubles/scripted-provider.js";
import {
  CALL_LIMIT_MS,
  GRACE_MS,
  LEASE_MS,
  until,
  type Worker,
  type WorkerOptions,
  WorkerHarness,
} from "./worker-harness.js";

const HOUR_MS = 3_600_000;

type Figures = Pick<ProviderMargin, "bought" | "delivered" | "wasted" | "perhaps" | "reasons">;

const NOTHING: Figures = { bought: 0, delivered: 0, wasted: 0, perhaps: 0, reasons: {} };
const DELIVERED: Figures = { ...NOTHING, bought: 1, delivered: 1 };

function wasted(reason: keyof Figures["reasons"]): Figures {
  return { ...NOTHING, bought: 1, wasted: 1, reasons: { [reason]: 1 } };
}

interface Given {
  readonly harness: WorkerHarness;
  /** The only job. */
  readonly id: JobId;
  start(options?: WorkerOptions): Promise<Worker>;
}

interface Scenario {
  readonly what: string;
  readonly expected: Figures;
  run(given: Given): Promise<void>;
}

const running: PollBehaviour = () => Promise.resolve({ state: "running", nextPollMs: 20_000 });

async function* fetchGone(): AsyncIterable<Uint8Array> {
  yield* [];
  throw new ProviderFailure("gone", "404");
}

const GONE = { kind: "stream", open: () => fetchGone() } as const;
const WITHOUT_FILES = { ...SCRIPTED_TRACK, assets: SCRIPTED_TRACK.assets.map((asset) => ({ ...asset, source: GONE })) };

/** Treats the first submission in one way and all others in another. */
function first(does: SubmitBehaviour, then: SubmitBehaviour): SubmitBehaviour {
  return (request, context) => (request.attempt === 1 ? does : then)(request, context);
}

const SCENARIOS: readonly Scenario[] = [
  {
    what: "an accepted render that its job completes with is delivered",
    expected: DELIVERED,
    async run({ harness, start }) {
      harness.provider.behaviour = submitAccepts();
      await start();
      await harness.pass(2_000);
    },
  },
  {
    what: "a render that the call itself returns is delivered",
    expected: DELIVERED,
    async run({ harness, start }) {
      await start();
      await harness.quiet();
    },
  },
  {
    what: "a call that was refused before is no purchase",
    expected: DELIVERED,
    async run({ harness, start }) {
      harness.provider.behaviour = first(submitFails("unavailable"), submitCompletes);
      await start();
      await harness.pass(5_000);
    },
  },
  {
    what: "a render past its deadline is wasted",
    expected: wasted("deadline"),
    async run({ harness, start }) {
      harness.provider.behaviour = submitAccepts();
      harness.provider.pollBehaviour = running;
      await start({ renderDeadlineMs: 60_000 });
      await harness.pass(90_000);
    },
  },
  {
    what: "a render of a cancelled job is wasted",
    expected: wasted("cancelled"),
    async run({ harness, id, start }) {
      harness.provider.behaviour = submitAccepts(HOUR_MS);
      harness.provider.pollBehaviour = running;
      const { operate } = await start();
      await harness.quiet();
      await operate.cancel(id, { force: true });
    },
  },
  {
    what: "a call of which nothing is ever heard is perhaps a purchase",
    expected: { ...NOTHING, perhaps: 1 },
    async run({ harness, start }) {
      harness.provider.behaviour = submitFails("outcome_unknown");
      await start();
      await harness.pass(GRACE_MS + 10_000);
    },
  },
  {
    what: "an acceptance that comes when the job was given up is wasted",
    expected: wasted("late"),
    async run({ harness, start }) {
      let accept: () => void = () => undefined;
      const gate = new Promise<void>((resolve) => (accept = resolve));
      harness.provider.behaviour = (request, context) => gate.then(() => submitAccepts()(request, context));
      await start();
      await harness.pass(CALL_LIMIT_MS + GRACE_MS + 10_000);
      expect(await figuresOf(harness)).to.deep.equal({ ...NOTHING, perhaps: 1 });
      accept();
      await until("the late acceptance is counted", async () => (await countedBy(harness)).bought > 0);
    },
  },
  {
    what: "work that the provider ends without a result is wasted",
    expected: wasted("provider_failed"),
    async run({ harness, start }) {
      harness.provider.behaviour = submitAccepts();
      const failure = new ProviderFailure("failed", "it broke", { providerCode: "E17", billable: "no" });
      harness.provider.pollBehaviour = () => Promise.reject(failure);
      await start();
      await harness.pass(5_000);
    },
  },
  {
    what: "a call that fails and is billed is wasted",
    expected: wasted("provider_failed"),
    async run({ harness, start }) {
      const failure = new ProviderFailure("content_rejected", "no", { billable: "yes" });
      harness.provider.behaviour = () => Promise.reject(failure);
      await start();
      await harness.quiet();
    },
  },
  {
    what: "a call that fails without a word of its bill is perhaps a purchase",
    expected: { ...NOTHING, perhaps: 1 },
    async run({ harness, start }) {
      harness.provider.behaviour = submitFails("failed");
      await start();
      await harness.quiet();
    },
  },
  {
    what: "a result whose files cannot be had is wasted",
    expected: wasted("files_lost"),
    async run({ harness, start }) {
      harness.provider.behaviour = () => Promise.resolve({ state: "completed", tracks: [WITHOUT_FILES] });
      await start();
      await harness.pass(5_000);
    },
  },
  {
    what: "a repeated call of an idempotent provider is no second purchase",
    expected: DELIVERED,
    async run({ harness, start }) {
      harness.provider.behaviour = first(submitFails("outcome_unknown"), submitCompletes);
      await start({ capabilities: { idempotentSubmit: true } });
      await harness.pass(5_000);
    },
  },
  {
    what: "a repeated call whose first acceptance comes late is no second purchase",
    expected: DELIVERED,
    async run({ harness, start }) {
      const { behaviour, release } = submitHolds(submitAccepts(60_000));
      harness.provider.behaviour = first(behaviour, submitAccepts(60_000));
      const capabilities = { idempotentSubmit: true };
      const hanging = await start({ capabilities, clock: new ManualClock(harness.clock.now()) });
      await harness.provider.submitted();
      await start({ capabilities });
      await harness.pass(LEASE_MS);
      release();
      await until("the hanging worker has released the job", () => hanging.leases.count === 0);
      await harness.pass(60_000);
    },
  },
];

/** Each runs a transaction in another way; in the end it is written once. */
const COMMITS: Readonly<Record<string, (inner: UnitOfWork) => UnitOfWork>> = {
  "": (inner) => inner,
  ", when the reply to each commit is lost": (inner) =>
    committing(inner, async (work) => {
      await inner.inTransaction(work);
      return inner.inTransaction((tx) => work(tx, { isRetry: true }));
    }),
  ", when each commit is rolled back once": (inner) =>
    committing(inner, async (work) => {
      const rolledBack = new Error("rolled back");
      const broken = inner.inTransaction(async (tx, run) => {
        await work(tx, run);
        throw rolledBack;
      });
      await broken.catch((error: unknown) => {
        if (error !== rolledBack) throw error;
      });
      return inner.inTransaction((tx) => work(tx, { isRetry: true }));
    }),
};

function committing(inner: UnitOfWork, inTransaction: UnitOfWork["inTransaction"]): UnitOfWork {
  return { concurrentWriters: inner.concurrentWriters, inTransaction };
}

async function figuresOf(harness: WorkerHarness): Promise<Figures> {
  const margin = new ReportMargin({ jobs: harness.storage.jobs });
  const { providers } = await margin.report({ from: 0, to: Number.MAX_SAFE_INTEGER, refundedLimit: 0 });
  const { bought, delivered, wasted: inVain, perhaps, reasons } = providers[0] ?? NOTHING;
  return { bought, delivered, wasted: inVain, perhaps, reasons };
}

/** The counts of the metrics, which do not include possibly bought work. */
async function countedBy(harness: WorkerHarness): Promise<Omit<Figures, "perhaps">> {
  const text = await harness.metrics.text();
  const counted = { bought: 0, delivered: 0, wasted: 0, reasons: {} as Record<string, number> };
  const series = /^fermata_attempts_(\w+)_total\{provider="scripted"(?:,reason="(\w+)")?\} (\d+)$/gm;
  for (const [, became, reason, value] of text.matchAll(series)) {
    counted[became as "bought" | "delivered" | "wasted"] += Number(value);
    if (reason !== undefined && value !== "0") counted.reasons[reason] = Number(value);
  }
  return counted;
}

describe("Bought work", () => {
  let harness: WorkerHarness;
  beforeEach(async () => {
    harness = await WorkerHarness.open();
  });
  afterEach(() => harness.close());

  for (const [how, wrap] of Object.entries(COMMITS)) {
    for (const { what, expected, run } of SCENARIOS) {
      it(`${what}, in the report and in the metrics${how}`, async () => {
        const id = await harness.acceptOne();
        const stores = { unitOfWork: wrap(harness.storage.unitOfWork) };
        await run({ harness, id, start: (options = {}) => harness.start({ ...options, stores }) });
        expect(await figuresOf(harness)).to.deep.equal(expected);
        const { perhaps: _perhaps, ...counted } = expected;
        expect(await countedBy(harness)).to.deep.equal(counted);
      });
    }
  }

  it("is counted once when a report is sent again after a lost commit reply", async () => {
    const { unitOfWork } = harness.storage;
    let commits = 0;
    const silent = committing(unitOfWork, async (work) => {
      const result = await unitOfWork.inTransaction(work);
      if (++commits % 2 === 1) throw new ServiceUnavailableError("The storage is unavailable.");
      return result;
    });
    harness.provider.behaviour = submitAccepts();
    await harness.accept(3);
    await harness.start({ stores: { unitOfWork: silent } });
    await harness.pass(10_000);
    expect(await figuresOf(harness)).to.deep.equal({ ...NOTHING, bought: 3, delivered: 3 });
    expect(await countedBy(harness)).to.deep.equal({ bought: 3, delivered: 3, wasted: 0, reasons: {} });
  });

  it("is neither delivered nor wasted while its job runs, and is in the report after its end", async () => {
    harness.provider.behaviour = submitAccepts(60_000);
    await harness.acceptOne();
    await harness.start();
    await harness.quiet();
    expect(await figuresOf(harness)).to.deep.equal(NOTHING);
    expect(await countedBy(harness)).to.deep.equal({ bought: 1, delivered: 0, wasted: 0, reasons: {} });
    await harness.pass(60_000);
    expect(await figuresOf(harness)).to.deep.equal(DELIVERED);
  });

  it("has a metric for every reason from the first purchase on, so that no first count is missed", async () => {
    await harness.acceptOne();
    await harness.start();
    await harness.quiet();
    const series = /^fermata_attempts_wasted_total\{provider="scripted",reason="(\w+)"\} 0$/gm;
    const reasons = [...(await harness.metrics.text()).matchAll(series)];
    expect(reasons.map(([, reason]) => reason)).to.have.members([
      ...["cancelled", "deadline", "late", "provider_failed", "files_lost", "crashed", "unknown"],
    ]);
  });
});

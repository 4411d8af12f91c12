import { expect } from "chai";
import { type ProviderMargin, ReportMargin } from "../../../core/attempts/report-margin.js";
import { ServiceUnavailableError } from "../../../core/errors.js";
import type { JobId } from "../../../core/ids.js";
import { ProviderFailure } from "../../../core/ports/music-provider.js";
import type { UnitOfWork } from "../../../core/ports/unit-of-work.js";
import { ManualClock } from "../../support/doubles/manual-clock.js";
import {
  accepts,
  type Behaviour,
  completes,
  fails,
  holds,
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
  readonly shop: WorkerHarness;
  /** The one job that there is. */
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

/** Does the first submission in one way and all others in another. */
function first(does: Behaviour, then: Behaviour): Behaviour {
  return (request, context) => (request.attempt === 1 ? does : then)(request, context);
}

const SCENARIOS: readonly Scenario[] = [
  {
    what: "an accepted render that its job completes with is delivered",
    expected: DELIVERED,
    async run({ shop, start }) {
      shop.provider.behaviour = accepts();
      await start();
      await shop.pass(2_000);
    },
  },
  {
    what: "a render that the call itself returns is delivered",
    expected: DELIVERED,
    async run({ shop, start }) {
      await start();
      await shop.quiet();
    },
  },
  {
    what: "a call that was refused before is no purchase",
    expected: DELIVERED,
    async run({ shop, start }) {
      shop.provider.behaviour = first(fails("unavailable"), completes);
      await start();
      await shop.pass(5_000);
    },
  },
  {
    what: "a render past its deadline is wasted",
    expected: wasted("deadline"),
    async run({ shop, start }) {
      shop.provider.behaviour = accepts();
      shop.provider.pollBehaviour = running;
      await start({ renderDeadlineMs: 60_000 });
      await shop.pass(90_000);
    },
  },
  {
    what: "a render of a cancelled job is wasted",
    expected: wasted("cancelled"),
    async run({ shop, id, start }) {
      shop.provider.behaviour = accepts(HOUR_MS);
      shop.provider.pollBehaviour = running;
      const { operate } = await start();
      await shop.quiet();
      await operate.cancel(id);
    },
  },
  {
    what: "a call of which nothing is ever heard is perhaps a purchase",
    expected: { ...NOTHING, perhaps: 1 },
    async run({ shop, start }) {
      shop.provider.behaviour = fails("outcome_unknown");
      await start();
      await shop.pass(GRACE_MS + 10_000);
    },
  },
  {
    what: "an acceptance that comes when the job was given up is wasted",
    expected: wasted("late"),
    async run({ shop, start }) {
      let accept: () => void = () => undefined;
      const gate = new Promise<void>((resolve) => (accept = resolve));
      shop.provider.behaviour = (request, context) => gate.then(() => accepts()(request, context));
      await start();
      await shop.pass(CALL_LIMIT_MS + GRACE_MS + 10_000);
      expect(await figuresOf(shop)).to.deep.equal({ ...NOTHING, perhaps: 1 });
      accept();
      await until("the late acceptance is counted", async () => (await countedBy(shop)).bought > 0);
    },
  },
  {
    what: "work that the provider ends without a result is wasted",
    expected: wasted("provider_failed"),
    async run({ shop, start }) {
      shop.provider.behaviour = accepts();
      const failure = new ProviderFailure("failed", "it broke", { providerCode: "E17", billable: "no" });
      shop.provider.pollBehaviour = () => Promise.reject(failure);
      await start();
      await shop.pass(5_000);
    },
  },
  {
    what: "a call that fails and is billed is wasted",
    expected: wasted("provider_failed"),
    async run({ shop, start }) {
      const failure = new ProviderFailure("content_rejected", "no", { billable: "yes" });
      shop.provider.behaviour = () => Promise.reject(failure);
      await start();
      await shop.quiet();
    },
  },
  {
    what: "a call that fails without a word of its bill is perhaps a purchase",
    expected: { ...NOTHING, perhaps: 1 },
    async run({ shop, start }) {
      shop.provider.behaviour = fails("failed");
      await start();
      await shop.quiet();
    },
  },
  {
    what: "a result whose files cannot be had is wasted",
    expected: wasted("files_lost"),
    async run({ shop, start }) {
      shop.provider.behaviour = () => Promise.resolve({ state: "completed", tracks: [WITHOUT_FILES] });
      await start();
      await shop.pass(5_000);
    },
  },
  {
    what: "a repeated call of an idempotent provider is no second purchase",
    expected: DELIVERED,
    async run({ shop, start }) {
      shop.provider.behaviour = first(fails("outcome_unknown"), completes);
      await start({ capabilities: { idempotentSubmit: true } });
      await shop.pass(5_000);
    },
  },
  {
    what: "a repeated call whose first acceptance comes late is no second purchase",
    expected: DELIVERED,
    async run({ shop, start }) {
      const { behaviour, release } = holds(accepts(60_000));
      shop.provider.behaviour = first(behaviour, accepts(60_000));
      const capabilities = { idempotentSubmit: true };
      const hanging = await start({ capabilities, clock: new ManualClock(shop.clock.now()) });
      await shop.provider.submitted();
      await start({ capabilities });
      await shop.pass(LEASE_MS);
      release();
      await until("the hanging worker has released the job", () => hanging.leases.count === 0);
      await shop.pass(60_000);
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

async function figuresOf(shop: WorkerHarness): Promise<Figures> {
  const margin = new ReportMargin({ jobs: shop.storage.jobs });
  const { providers } = await margin.report({ from: 0, to: Number.MAX_SAFE_INTEGER, refundedLimit: 0 });
  const { bought, delivered, wasted: inVain, perhaps, reasons } = providers[0] ?? NOTHING;
  return { bought, delivered, wasted: inVain, perhaps, reasons };
}

/** What the metrics have counted; they know nothing of what was perhaps bought. */
async function countedBy(shop: WorkerHarness): Promise<Omit<Figures, "perhaps">> {
  const text = await shop.metrics.text();
  const counted = { bought: 0, delivered: 0, wasted: 0, reasons: {} as Record<string, number> };
  const series = /^fermata_attempts_(\w+)_total\{provider="scripted"(?:,reason="(\w+)")?\} (\d+)$/gm;
  for (const [, became, reason, value] of text.matchAll(series)) {
    counted[became as "bought" | "delivered" | "wasted"] += Number(value);
    if (reason !== undefined && value !== "0") counted.reasons[reason] = Number(value);
  }
  return counted;
}

describe("What was bought", () => {
  let shop: WorkerHarness;
  beforeEach(async () => {
    shop = await WorkerHarness.open();
  });
  afterEach(() => shop.close());

  for (const [how, wrap] of Object.entries(COMMITS)) {
    for (const { what, expected, run } of SCENARIOS) {
      it(`${what}, in the report and in the metrics${how}`, async () => {
        const id = await shop.acceptOne();
        const stores = { unitOfWork: wrap(shop.storage.unitOfWork) };
        await run({ shop, id, start: (options = {}) => shop.start({ ...options, stores }) });
        expect(await figuresOf(shop)).to.deep.equal(expected);
        const { perhaps: _perhaps, ...counted } = expected;
        expect(await countedBy(shop)).to.deep.equal(counted);
      });
    }
  }

  it("is counted once when a report is sent again, since the storage said nothing of its commit", async () => {
    const { unitOfWork } = shop.storage;
    let commits = 0;
    const silent = committing(unitOfWork, async (work) => {
      const result = await unitOfWork.inTransaction(work);
      if (++commits % 2 === 1) throw new ServiceUnavailableError("The storage is unavailable.");
      return result;
    });
    shop.provider.behaviour = accepts();
    await shop.accept(3);
    await shop.start({ stores: { unitOfWork: silent } });
    await shop.pass(10_000);
    expect(await figuresOf(shop)).to.deep.equal({ ...NOTHING, bought: 3, delivered: 3 });
    expect(await countedBy(shop)).to.deep.equal({ bought: 3, delivered: 3, wasted: 0, reasons: {} });
  });

  it("is neither delivered nor wasted while it is under way, and in the report once its job has ended", async () => {
    shop.provider.behaviour = accepts(60_000);
    await shop.acceptOne();
    await shop.start();
    await shop.quiet();
    expect(await figuresOf(shop)).to.deep.equal(NOTHING);
    expect(await countedBy(shop)).to.deep.equal({ bought: 1, delivered: 0, wasted: 0, reasons: {} });
    await shop.pass(60_000);
    expect(await figuresOf(shop)).to.deep.equal(DELIVERED);
  });

  it("shows every reason in the metrics from the first purchase on, so that no first count is missed", async () => {
    await shop.acceptOne();
    await shop.start();
    await shop.quiet();
    const series = /^fermata_attempts_wasted_total\{provider="scripted",reason="(\w+)"\} 0$/gm;
    const reasons = [...(await shop.metrics.text()).matchAll(series)];
    expect(reasons.map(([, reason]) => reason)).to.have.members([
      ...["cancelled", "deadline", "late", "provider_failed", "files_lost", "crashed", "unknown"],
    ]);
  });
});

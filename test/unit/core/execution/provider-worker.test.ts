import { setImmediate as nextTurn } from "node:timers/promises";
import { expect } from "chai";
import { ProviderWorker, type ProviderWorkerDeps } from "../../../../core/execution/provider-worker.js";
import type { ClaimRequest, ClaimedJob, NextDueAt } from "../../../../core/ports/job-claims.js";
import { aJob, anId, NOON } from "../../../support/builders.js";
import { ManualClock } from "../../../support/doubles/manual-clock.js";
import { RecordingLogger } from "../../../support/doubles/recording-logger.js";

const SWEEP_MS = 1_000;
const NONE: NextDueAt = { waiting: null, submitting: null, rendering: null };

/** A worker of 8 submissions at once, whose jobs are due as a test says and whose steps end when it says. */
function setUp() {
  const clock = new ManualClock(NOON);
  const looksAtMs: number[] = [];
  const claims: ClaimRequest[] = [];
  const ends: (() => void)[] = [];
  const wokenAtMs: number[] = [];
  const state = { due: NONE, left: 0 };
  const deps = {
    working: { id: "synth", concurrency: 8, maxInFlight: null, capabilities: {} },
    jobs: {
      nextDueAt: () => {
        looksAtMs.push(clock.now() - NOON);
        return Promise.resolve(state.due);
      },
      claimJobs: (request: ClaimRequest) => {
        claims.push(request);
        const count = Math.min(request.limit, state.left);
        state.left -= count;
        if (state.left === 0) state.due = NONE;
        const claimed = (): ClaimedJob => ({ job: aJob(), request: null, attempts: [], wasLost: false });
        return Promise.resolve(Array.from({ length: count }, claimed));
      },
    },
    queue: { notify: () => void wokenAtMs.push(clock.now() - NOON) },
    leases: { owner: anId("prc"), leaseMs: 30_000, mayHaveEnded: () => [], hold: () => [], release: () => undefined },
    recovery: { beforeClaim: () => Promise.resolve({ leaveOwned: false }), failed: () => undefined },
    runJob: { run: () => new Promise<void>((resolve) => ends.push(resolve)) },
    cancelUpstream: { cancelDue: () => Promise.resolve() },
    hasFallbacks: () => false,
    availability: { state: () => Promise.resolve("closed") },
    submissions: { arePaused: () => Promise.resolve(false) },
    clock,
    logger: new RecordingLogger(),
    sweepMs: SWEEP_MS,
  };
  const worker = new ProviderWorker(deps as unknown as ProviderWorkerDeps);
  const quiet = async (): Promise<void> => {
    for (let turn = 0; turn < 5; turn++) await nextTurn();
  };
  const advance = async (ms: number): Promise<void> => {
    await clock.advance(ms);
    await quiet();
  };
  return { worker, clock, state, looksAtMs, wokenAtMs, claims, ends, quiet, advance };
}

describe("ProviderWorker", () => {
  it("claims nothing while nothing is due, and looks again in a sweep", async () => {
    const { worker, claims, looksAtMs, quiet, advance } = setUp();
    worker.start();
    await quiet();
    await advance(SWEEP_MS);
    expect([looksAtMs, claims]).to.deep.equal([[0, SWEEP_MS], []]);
    worker.stop();
  });

  it("claims only the phases in which jobs are due, submissions with what was asked for", async () => {
    const { worker, state, claims, quiet } = setUp();
    [state.due, state.left] = [{ ...NONE, rendering: NOON, waiting: NOON }, 9];
    worker.start();
    await quiet();
    expect(claims.map(({ phases, limit, withRequests }) => [phases, limit, withRequests])).to.deep.equal([
      [["waiting"], 8, true],
      [["rendering"], 50, false],
    ]);
    worker.stop();
  });

  it("polls on time while jobs wait for a slot", async () => {
    const { worker, state, claims, quiet, advance } = setUp();
    [state.due, state.left] = [{ ...NONE, waiting: NOON, rendering: NOON + 70 }, 100];
    worker.start();
    await quiet();
    await advance(70);
    expect(claims.map(({ phases }) => phases[0])).to.deep.equal(["waiting", "rendering"]);
    worker.stop();
  });

  it("claims polls together that become due one after another", async () => {
    const { worker, state, claims, ends, looksAtMs, quiet, advance } = setUp();
    [state.due, state.left] = [{ ...NONE, rendering: NOON }, 3];
    worker.start();
    await quiet();
    [state.due, state.left] = [{ ...NONE, rendering: NOON + 1 }, 2];
    ends.shift()?.();
    await advance(19);
    expect(claims.map(({ limit }) => limit)).to.deep.equal([50]);
    await advance(1);
    expect(claims.map(({ limit }) => limit)).to.deep.equal([50, 48]);
    expect(looksAtMs).to.deep.equal([0, 20]);
    worker.stop();
  });

  it("fills slots several at a time while jobs wait, and at once when a quarter is free", async () => {
    const { worker, state, claims, ends, quiet, advance } = setUp();
    [state.due, state.left] = [{ ...NONE, waiting: NOON }, 100];
    worker.start();
    await quiet();
    ends.shift()?.();
    await quiet();
    expect(claims.map(({ limit }) => limit)).to.deep.equal([8]);
    ends.shift()?.();
    await quiet();
    expect(claims.map(({ limit }) => limit)).to.deep.equal([8, 2]);
    ends.shift()?.();
    await quiet();
    await advance(20);
    expect(claims.map(({ limit }) => limit)).to.deep.equal([8, 2, 1]);
    worker.stop();
  });

  /** Begins with all slots full. @returns frees two of them after so many milliseconds */
  async function full({ worker, state, ends, quiet, advance }: ReturnType<typeof setUp>, left: number) {
    [state.due, state.left] = [{ ...NONE, waiting: NOON }, left];
    worker.start();
    await quiet();
    return async (afterMs: number): Promise<void> => {
      await advance(afterMs);
      ends.splice(0, 2).forEach((end) => end());
      await quiet();
    };
  }

  it("wakes another worker for what it has no slots for", async () => {
    const kit = setUp();
    const freeTwo = await full(kit, 100);
    expect(kit.wokenAtMs).to.deep.equal([0]);
    for (const ms of [10, 30]) await freeTwo(ms);
    expect(kit.wokenAtMs, "the other has as many").to.deep.equal([0]);
    kit.worker.stop();
  });

  it("wakes no other worker where its slots are full and nothing is left", async () => {
    const { worker, state, looksAtMs, wokenAtMs, quiet } = setUp();
    [state.due, state.left] = [{ ...NONE, waiting: NOON }, 8];
    worker.start();
    await quiet();
    expect([looksAtMs, wokenAtMs]).to.deep.equal([[0, 0], []]);
    worker.stop();
  });

  it("wakes no other worker for what it has slots for", async () => {
    const { worker, state, wokenAtMs, quiet } = setUp();
    [state.due, state.left] = [{ ...NONE, waiting: NOON }, 7];
    worker.start();
    await quiet();
    expect(wokenAtMs).to.deep.equal([]);
    worker.stop();
  });

  it("looks for what else is due every 50 ms while each claim is full", async () => {
    const kit = setUp();
    const freeTwo = await full(kit, 100);
    for (const ms of [10, 30, 5, 10]) await freeTwo(ms);
    expect(kit.claims.map(({ phases, limit }) => [phases, limit])).to.deep.equal([
      [["waiting"], 8],
      ...Array.from({ length: 4 }, () => [["waiting"], 2]),
    ]);
    expect(kit.looksAtMs).to.deep.equal([0, 0, 50]);
    kit.worker.stop();
  });

  it("looks again at once after a claim that was not full", async () => {
    const kit = setUp();
    const freeTwo = await full(kit, 9);
    await freeTwo(10);
    expect(kit.claims.map(({ limit }) => limit)).to.deep.equal([8, 2]);
    expect(kit.looksAtMs).to.deep.equal([0, 0, 10]);
    kit.worker.stop();
  });

  it("polls within 50 ms what came to be due after the last look", async () => {
    const kit = setUp();
    const freeTwo = await full(kit, 100);
    kit.state.due = { ...NONE, waiting: NOON, rendering: NOON };
    await freeTwo(10);
    expect(kit.claims.flatMap(({ phases }) => phases)).to.deep.equal(["waiting", "waiting"]);
    await kit.advance(50);
    expect(kit.claims.flatMap(({ phases }) => phases)).to.include("rendering");
    kit.worker.stop();
  });

  it("looks again when the clock was set back", async () => {
    const kit = setUp();
    const freeTwo = await full(kit, 100);
    kit.clock.set(NOON - 1_000);
    await freeTwo(0);
    expect(kit.looksAtMs).to.deep.equal([0, 0, -1_000]);
    kit.worker.stop();
  });
});

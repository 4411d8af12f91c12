import { expect } from "chai";
import { once } from "node:events";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { Stores } from "../../../adapters/storage/sql/index.js";
import type { UnrepeatableWork } from "../../../core/leases/lease.js";
import type { StoppedWork } from "../../../core/execution/work-jobs.js";
import { ServiceUnavailableError } from "../../../core/errors.js";
import type { AssetOpener } from "../../../core/ports/asset-opener.js";
import { type ProviderAsset, ProviderFailure } from "../../../core/ports/music-provider.js";
import {
  submitAccepts,
  type SubmitBehaviour,
  submitCompletes,
  SCRIPTED_AUDIO,
  SCRIPTED_TRACK,
} from "../../support/doubles/scripted-provider.js";
import { FaultyPort } from "../../support/doubles/faulty-port.js";
import { GRACE_MS, LEASE_MS, until, type Worker, WorkerHarness } from "./worker-harness.js";

const STOP_GRACE_MS = 1_000;
/** Longer than two leases, so that they must be renewed meanwhile. */
const DRAIN_MS = 90_000;
const SUBMISSION: UnrepeatableWork = { kind: "submission", providerId: "scripted" };
const LINK = "https://cdn.test/song.mp3";
const MIX = { role: "mix", label: "full", contentType: "audio/mpeg", durationSeconds: 1 } as const;

describe("A stop during calls that cannot be repeated", () => {
  let harness: WorkerHarness;
  let waits: (readonly [work: readonly UnrepeatableWork[], leftMs: number])[];
  let abandoned: UnrepeatableWork[];
  const reports = {
    onWaiting: (work: readonly UnrepeatableWork[], leftMs: number) => void waits.push([work, leftMs]),
    onAbandoned: (work: readonly UnrepeatableWork[]) => void abandoned.push(...work),
  };
  beforeEach(async () => {
    harness = await WorkerHarness.open();
    [waits, abandoned] = [[], []];
  });
  afterEach(() => harness.close());

  /** A render that takes this long, and ends when it is aborted. */
  function takes(ms: number, then: SubmitBehaviour = submitCompletes): SubmitBehaviour {
    return async (request, context) => {
      await harness.clock.sleep(ms, context.signal);
      if (context.signal.aborted) throw new ProviderFailure("outcome_unknown", "aborted");
      return then(request, context);
    };
  }

  /** Stops a worker that may drain, advances time no faster than leases are renewed, and awaits its end. */
  async function drained(worker: Worker, ms: number): Promise<StoppedWork> {
    const stopping = worker.jobs.stop(STOP_GRACE_MS, { drainMs: DRAIN_MS, ...reports });
    for (let left = ms; left > 0; left -= 250) {
      await harness.clock.advance(250);
      for (let turn = 0; turn < 5; turn++) await nextTurn();
    }
    const stopped = await stopping;
    await worker.stop();
    return stopped;
  }

  it("finishes and charges them, even when they take longer than the grace time and the lease", async () => {
    harness.provider.behaviour = takes(60_000);
    const jobs = await harness.accept(4);
    const worker = await harness.start();
    await harness.provider.submitted(4);
    const stopped = await drained(worker, 60_000);
    expect(stopped).to.deep.equal({ abandoned: [], leftToLeases: 0 });
    for (const { id } of jobs) expect(await harness.expectCompleted(id)).to.include({ attempt: 1, crashes: 0 });
    expect(harness.provider.submissions).to.have.length(4);
    expect(waits[0]).to.deep.equal([Array(4).fill(SUBMISSION), DRAIN_MS]);
    expect(waits.map(([work]) => work.length)).to.deep.equal([4, 3, 2, 1, 0]);
    expect(waits.at(-1)?.[1]).to.equal(0);
  });

  it("releases everything else after the grace time while it waits for them", async () => {
    harness.provider.behaviour = submitAccepts(1_000);
    harness.provider.pollBehaviour = async (_, { signal }) => {
      if (!signal.aborted) await once(signal, "abort");
      throw new ProviderFailure("unavailable", "aborted");
    };
    const accepted = await harness.acceptOne();
    const worker = await harness.start();
    await harness.pass(1_000);
    harness.provider.behaviour = takes(60_000);
    const rendering = await harness.acceptOne();
    await harness.provider.submitted(2);
    const stopping = drained(worker, 60_000);
    await until("the poll is released", async () => (await harness.job(accepted)).leaseOwner === null);
    expect(await harness.job(accepted)).to.include({ phase: "rendering", crashes: 0 });
    expect(await harness.job(rendering)).to.include({ phase: "submitting", leaseOwner: worker.leases.owner });
    await stopping;
    await harness.expectCompleted(rendering);
  });

  it("aborts the remaining calls when the drain time ends, and names them", async () => {
    harness.provider.behaviour = takes(3_600_000);
    const [one, other] = await harness.accept(2);
    const worker = await harness.start();
    await harness.provider.submitted(2);
    const beganAt = harness.clock.now();
    const stopped = await worker.stop(STOP_GRACE_MS, { drainMs: 5_000, ...reports });
    expect(stopped).to.deep.equal({ abandoned: [SUBMISSION, SUBMISSION], leftToLeases: 0 });
    expect(abandoned).to.deep.equal(stopped.abandoned);
    expect(harness.clock.now() - beganAt).to.be.within(5_000, 7_000);
    expect(waits.map(([work]) => work.length)).to.deep.equal([2]);
    for (const job of [one, other]) {
      const id = job?.id ?? expect.fail("two jobs");
      expect(await harness.job(id)).to.include({ status: "processing", phase: "submitting", leaseOwner: null });
      expect(await harness.attempts(id)).to.deep.equal([[1, "outcome_unknown"]]);
    }
  });

  it("waits for them only for the grace time when the drain time is zero", async () => {
    harness.provider.behaviour = takes(60_000);
    const id = await harness.acceptOne();
    const worker = await harness.start();
    await harness.provider.submitted();
    const beganAt = harness.clock.now();
    const stopped = await worker.stop(STOP_GRACE_MS, { drainMs: 0 });
    expect(stopped).to.deep.equal({ abandoned: [SUBMISSION], leftToLeases: 0 });
    expect(harness.clock.now() - beganAt).to.be.within(STOP_GRACE_MS, STOP_GRACE_MS + 2_000);
    await harness.start();
    await harness.pass(GRACE_MS);
    await harness.expectFailed(id, "provider_timeout");
  });

  it("ends at once on a second signal, and names the abandoned calls", async () => {
    harness.provider.behaviour = takes(60_000);
    const id = await harness.acceptOne();
    const worker = await harness.start();
    await harness.provider.submitted();
    const now = new AbortController();
    const beganAt = harness.clock.now();
    const stopped = worker.jobs.stop(STOP_GRACE_MS, { drainMs: DRAIN_MS, now: now.signal, ...reports });
    now.abort();
    expect(await stopped).to.deep.equal({ abandoned: [SUBMISSION], leftToLeases: 0 });
    expect([harness.clock.now(), abandoned.length]).to.deep.equal([beganAt, 1]);
    expect(await harness.job(id)).to.include({ phase: "submitting", leaseOwner: null });
  });

  it("reports how many jobs keep their leases because a plugin ignores its signal", async () => {
    harness.provider.behaviour = () => new Promise(() => undefined);
    await harness.acceptOne();
    const worker = await harness.start();
    await harness.provider.submitted();
    expect(await worker.stop(0, { drainMs: 2_000 })).to.deep.equal({ abandoned: [SUBMISSION], leftToLeases: 1 });
  });

  it("starts no call: a claimed job whose provider was not called yet is queued again", async () => {
    let open: () => void = () => undefined;
    const gate = new Promise<void>((resolve) => (open = resolve));
    let begun = 0;
    const slowJobs = new FaultyPort(harness.storage.jobs).on("insertAttempts", async (insert, ...given) => {
      begun++;
      await gate;
      return insert(...given);
    });
    const id = await harness.acceptOne();
    const worker = harness.prepare({ stores: { jobs: slowJobs } });
    await worker.jobs.start();
    await until("the intent is being recorded", () => begun === 1);
    const stopped = worker.jobs.stop(10_000, { drainMs: DRAIN_MS });
    open();
    expect(await stopped).to.deep.equal({ abandoned: [], leftToLeases: 0 });
    expect(await harness.job(id)).to.include({ status: "queued", phase: "waiting", leaseOwner: null, refusals: 0 });
    expect(harness.provider.submissions).to.have.length(0);
    await harness.start();
    await harness.quiet();
    await harness.expectCompleted(id);
  });

  it("stores a result that only this process has, however slow the download", async () => {
    let isStreaming = false;
    async function* open(): AsyncIterable<Uint8Array> {
      yield SCRIPTED_AUDIO;
      isStreaming = true;
      await harness.clock.sleep(40_000);
      yield SCRIPTED_AUDIO;
    }
    const late: ProviderAsset = { ...MIX, role: "stem", label: "late", source: { kind: "stream", open } };
    const track = { ...SCRIPTED_TRACK, assets: [...SCRIPTED_TRACK.assets, late] };
    harness.provider.behaviour = () => Promise.resolve({ state: "completed", tracks: [track] });
    const id = await harness.acceptOne();
    const worker = await harness.start();
    await until("the result is being stored", () => isStreaming);
    const stopped = await drained(worker, 40_000);
    expect(stopped).to.deep.equal({ abandoned: [], leftToLeases: 0 });
    await harness.expectCompleted(id);
  });

  it("releases a result that a lookup returned: it can be looked up again", async () => {
    let isStreaming = false;
    async function* open(): AsyncIterable<Uint8Array> {
      yield SCRIPTED_AUDIO;
      isStreaming = true;
      await harness.clock.sleep(40_000);
    }
    const track = { ...SCRIPTED_TRACK, assets: [{ ...MIX, source: { kind: "stream", open } } satisfies ProviderAsset] };
    harness.provider.behaviour = () => Promise.reject(new ProviderFailure("outcome_unknown", "reply lost"));
    harness.provider.lookupBehaviour = async () => ({ state: "completed", tracks: [track] });
    const id = await harness.acceptOne();
    const worker = await harness.start({ capabilities: { lookup: true } });
    await harness.quiet();
    await harness.clock.advance(2_000);
    await until("the result is being stored", () => isStreaming);
    expect(worker.leases.unrepeatable).to.deep.equal([]);
    await worker.stop(0);
    await harness.start({ capabilities: { lookup: true } });
    await harness.pass(80_000);
    await harness.expectCompleted(id);
    expect(harness.provider.submissions).to.have.length(1);
  });

  it("releases a result that can be downloaded again as soon as its link is recorded", async () => {
    const mix: ProviderAsset = { ...MIX, contentType: null, source: { kind: "url", url: LINK } };
    const track = { ...SCRIPTED_TRACK, assets: [mix] };
    harness.provider.behaviour = takes(40_000, () => Promise.resolve({ state: "completed", tracks: [track] }));
    const never: AssetOpener = {
      open: async (_, { signal }) => {
        if (!signal.aborted) await once(signal, "abort");
        throw new ProviderFailure("unavailable", "aborted");
      },
      close: () => Promise.resolve(),
    };
    const id = await harness.acceptOne();
    const worker = await harness.start({ opener: never });
    await harness.provider.submitted();
    const stopped = await drained(worker, 40_000);
    expect(stopped).to.deep.equal({ abandoned: [], leftToLeases: 0 });
    expect(await harness.job(id)).to.include({
      status: "processing",
      phase: "rendering",
      leaseOwner: null,
      crashes: 0,
    });

    async function* bytes(): AsyncIterable<Uint8Array> {
      yield SCRIPTED_AUDIO;
    }
    await harness.start({ opener: { ...never, open: async () => ({ contentType: "audio/mpeg", bytes: bytes() }) } });
    await harness.quiet();
    await harness.expectCompleted(id);
    expect(harness.provider.submissions).to.have.length(1);
  });

  it("waits for the storage to record what a provider has just accepted", async () => {
    const { unitOfWork } = harness.storage;
    let isAway = false;
    const stores: Partial<Stores> = {
      unitOfWork: {
        concurrentWriters: unitOfWork.concurrentWriters,
        inTransaction: (work) =>
          isAway ? Promise.reject(new ServiceUnavailableError("unavailable")) : unitOfWork.inTransaction(work),
      },
    };
    harness.provider.behaviour = takes(
      5_000,
      (request, context) => ((isAway = true), submitAccepts(1_000)(request, context)),
    );
    const id = await harness.acceptOne();
    const worker = await harness.start({ stores });
    await harness.provider.submitted();
    void harness.clock.sleep(5_000 + LEASE_MS / 2).then(() => (isAway = false));
    const stopped = await drained(worker, 60_000);
    expect(stopped).to.deep.equal({ abandoned: [], leftToLeases: 0 });
    expect(await harness.job(id)).to.include({ phase: "rendering", leaseOwner: null, fence: 1 });
    await harness.start();
    await harness.pass(2_000);
    await harness.expectCompleted(id);
  });
});

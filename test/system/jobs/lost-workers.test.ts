import { expect } from "chai";
import type { JobId } from "../../../core/ids.js";
import type { Completed } from "../../../core/ports/music-provider.js";
import { anId } from "../../support/builders.js";
import { ManualClock } from "../../support/doubles/manual-clock.js";
import {
  submitAccepts,
  submitCompletes,
  submitFails,
  SCRIPTED_TRACK,
} from "../../support/doubles/scripted-provider.js";
import { FaultyPort } from "../../support/doubles/faulty-port.js";
import { GRACE_MS, LEASE_MS, until, type Worker, WorkerHarness } from "./worker-harness.js";

const DELIVERY: Completed = { state: "completed", tracks: [SCRIPTED_TRACK] };

describe("A job whose worker is lost", () => {
  let harness: WorkerHarness;
  beforeEach(async () => {
    harness = await WorkerHarness.open();
  });
  afterEach(() => harness.close());

  /** A process that claims the due jobs and is then lost. */
  async function claimAndVanish(phase: "waiting" | "submitting" | "rendering" = "waiting"): Promise<number> {
    const now = harness.clock.now();
    const claimed = await harness.storage.jobs.claimJobs({
      providerId: "scripted",
      phases: [phase],
      limit: 10,
      now,
      owner: anId("prc"),
      leaseUntil: now + LEASE_MS,
    });
    return claimed.length;
  }

  /** A worker whose clock stands still: it works, but never renews a lease. */
  function startHanging(options: Parameters<WorkerHarness["start"]>[0] = {}): Promise<Worker> {
    return harness.start({ ...options, clock: new ManualClock(harness.clock.now()) });
  }

  describe("before it called the provider", () => {
    it("is claimed by another as soon as the lease ends, and submitted once", async () => {
      const id = await harness.acceptOne();
      await claimAndVanish();
      await harness.start();
      await harness.pass(LEASE_MS - 250);
      expect(harness.provider.submissions).to.have.length(0);
      await harness.pass(250);
      expect(await harness.expectCompleted(id)).to.include({ crashes: 1, attempt: 1 });
      expect(await harness.attempts(id)).to.deep.equal([[1, "completed"]]);
    });

    /** A worker whose first intent is stored long after its lease ended, and after `meanwhile`. */
    async function startFrozen(meanwhile: () => Promise<unknown>): Promise<Worker> {
      const { unitOfWork, jobs } = harness.storage;
      const clock = new ManualClock(harness.clock.now());
      let intents = 0;
      const watching = new FaultyPort(jobs).on("insertAttempts", (insert, ...given) => {
        intents += 1;
        return insert(...given);
      });
      const slow = new FaultyPort(unitOfWork).on("inTransaction", async (run, work) => {
        const result = await run(work);
        if (intents === 1) {
          intents += 1;
          clock.set(harness.clock.now() + LEASE_MS);
          await meanwhile();
        }
        return result;
      });
      return harness.start({ clock, stores: { jobs: watching, unitOfWork: slow } });
    }

    it("is not submitted by a worker that was frozen for longer than its lease, but queued again", async () => {
      const id = await harness.acceptOne();
      await startFrozen(() => Promise.resolve());
      await harness.quiet();
      expect(harness.provider.submissions.map(({ attempt }) => attempt)).to.deep.equal([2]);
      expect(await harness.expectCompleted(id)).to.include({ crashes: 0, refusals: 0 });
      expect(await harness.attempts(id)).to.deep.equal([
        [1, "unavailable"],
        [2, "completed"],
      ]);
    });

    it("is not submitted by a worker that was frozen until another claimed it", async () => {
      const id = await harness.acceptOne();
      await startFrozen(async () => {
        harness.clock.set(harness.clock.now() + LEASE_MS);
        expect(await claimAndVanish("submitting")).to.equal(1);
      });
      await harness.quiet();
      expect(harness.provider.submissions).to.deep.equal([]);
      // The other worker finds that nothing was bought.
      expect(await harness.job(id)).to.include({ phase: "waiting", fence: 2, attempt: 1 });
      expect(await harness.attempts(id)).to.deep.equal([[1, "unavailable"]]);
    });
  });

  describe("while it calls the provider", () => {
    /** Holds the first submission in a process that hangs; the next ones complete. */
    async function hangInSubmission(
      capabilities = {},
    ): Promise<{ readonly id: JobId; readonly hanging: Worker; response(): void }> {
      const id = await harness.acceptOne();
      let result: () => void = () => undefined;
      const held = new Promise<void>((resolve) => (result = resolve));
      harness.provider.behaviour = async (request, context) => {
        if (request.attempt === 1) await held;
        return submitCompletes(request, context);
      };
      const hanging = await startHanging({ capabilities });
      await harness.provider.submitted();
      await harness.start({ capabilities });
      return { id, hanging, response: result };
    }

    it("is submitted again when that is idempotent, and the late reply changes nothing", async () => {
      const { id, hanging, response: result } = await hangInSubmission({ idempotentSubmit: true });
      await harness.pass(LEASE_MS);
      const completed = await harness.expectCompleted(id);
      expect(completed).to.include({ crashes: 1, attempt: 2 });

      result();
      await until("the lost worker has put its work down", () => hanging.leases.count === 0);
      expect(await harness.expectCompleted(id)).to.deep.equal(completed);
      expect(await harness.attempts(id)).to.deep.equal([
        [1, null],
        [2, "completed"],
      ]);
      expect(harness.provider.submissions.map(({ jobId }) => jobId)).to.deep.equal([id, id]);
    });

    for (const [what, late, outcome] of [
      ["accepted", submitAccepts(), "accepted"],
      ["refused", submitFails("unavailable"), "unavailable"],
      ["lost", submitFails("outcome_unknown"), "outcome_unknown"],
    ] as const) {
      it(`stays with its new worker when the lost worker's reply arrives (${what}), which is recorded`, async () => {
        const responses: (() => void)[] = [];
        harness.provider.behaviour = async (request, context) => {
          await new Promise<void>((resolve) => responses.push(resolve));
          return request.attempt === 1 ? late(request, context) : submitCompletes(request, context);
        };
        const id = await harness.acceptOne();
        const hanging = await startHanging({ capabilities: { idempotentSubmit: true } });
        await harness.provider.submitted();
        await harness.start({ capabilities: { idempotentSubmit: true } });
        await harness.pass(LEASE_MS);
        const { leaseOwner, fence } = await harness.job(id);
        responses[0]?.();
        await until("the lost worker has put its work down", () => hanging.leases.count === 0);
        expect(await harness.job(id)).to.include({ leaseOwner, fence, status: "processing" });
        expect(await harness.attempts(id)).to.deep.equal([
          [1, outcome],
          [2, null],
        ]);
        responses[1]?.();
        await harness.quiet();
        await harness.expectCompleted(id);
        expect((await harness.storage.jobs.listAttempts(id)).map(({ loss }) => loss)).to.deep.equal([null, null]);
      });
    }

    it("is looked up when the provider supports lookup", async () => {
      harness.provider.lookupBehaviour = async () => DELIVERY;
      const { id, hanging, response: result } = await hangInSubmission({ lookup: true });
      await harness.pass(LEASE_MS);
      await harness.expectCompleted(id);
      result();
      await until("the lost worker has put its work down", () => hanging.leases.count === 0);
      await harness.expectCompleted(id);
      expect(await harness.attempts(id)).to.deep.equal([[1, "completed"]]);
      expect(harness.provider.submissions).to.have.length(1);
    });

    it("ends when the lost worker gets a final refusal, even during another worker's lookup", async () => {
      let refuse = (): void => undefined;
      const held = new Promise<void>((resolve) => (refuse = resolve));
      harness.provider.behaviour = async (request, context) => {
        await held;
        return submitFails("content_rejected")(request, context);
      };
      let respondToLookup = (): void => undefined;
      const lookedUp = new Promise<void>((resolve) => (respondToLookup = resolve));
      harness.provider.lookupBehaviour = () => lookedUp.then(() => ({ state: "absent" }) as const);
      const id = await harness.acceptOne();
      const hanging = await startHanging({ capabilities: { lookup: true } });
      await harness.provider.submitted();
      await harness.start({ capabilities: { lookup: true } });
      await harness.pass(LEASE_MS);
      expect([(await harness.job(id)).leaseOwner === null, harness.provider.lookups.length]).to.deep.equal([false, 1]);

      refuse();
      await until("the lost worker has put its work down", () => hanging.leases.count === 0);
      const failed = await harness.expectFailed(id, "invalid_request");
      respondToLookup();
      await harness.pass(60_000);
      expect(await harness.expectFailed(id, "invalid_request")).to.deep.equal(failed);
      expect(harness.provider.submissions).to.have.length(1);
    });

    it("is refunded after the grace time otherwise; the late track is discarded", async () => {
      const { id, hanging, response: result } = await hangInSubmission();
      await harness.pass(LEASE_MS);
      expect(await harness.job(id)).to.include({
        status: "processing",
        phase: "submitting",
        leaseOwner: null,
        crashes: 1,
      });
      await harness.pass(GRACE_MS - LEASE_MS);
      const failed = await harness.expectFailed(id, "provider_timeout");

      result();
      await until("the lost worker has put its work down", () => hanging.leases.count === 0);
      expect(await harness.expectFailed(id, "provider_timeout")).to.deep.equal(failed);
      expect(harness.provider.submissions).to.have.length(1);
      expect(await harness.files()).to.deep.equal([]);
    });

    it("is delivered by the first worker that has it, and charged once", async () => {
      const responses: (() => void)[] = [];
      harness.provider.behaviour = async (request, context) => {
        await new Promise<void>((resolve) => responses.push(resolve));
        return submitCompletes(request, context);
      };
      const id = await harness.acceptOne();
      const hanging = await startHanging({ capabilities: { idempotentSubmit: true } });
      await harness.provider.submitted();
      await harness.start({ capabilities: { idempotentSubmit: true } });
      await harness.pass(LEASE_MS);
      await harness.provider.submitted(2);

      responses[0]?.();
      await until("the lost worker has put its work down", () => hanging.leases.count === 0);
      const completed = await harness.expectCompleted(id);
      expect(await harness.attempts(id)).to.deep.equal([
        [1, "completed"],
        [2, null],
      ]);

      responses[1]?.();
      await harness.quiet();
      expect(await harness.expectCompleted(id)).to.deep.equal(completed);
    });
  });

  describe("while it polls", () => {
    it("is polled by another; the late reply changes nothing and its files are deleted", async () => {
      harness.provider.behaviour = submitAccepts(1_000);
      let response: () => void = () => undefined;
      const held = new Promise<void>((resolve) => (response = resolve));
      harness.provider.pollBehaviour = async () => {
        if (harness.provider.polls.length === 1) await held;
        return DELIVERY;
      };
      const id = await harness.acceptOne();
      const hanging = await startHanging();
      await harness.pass(1_000, hanging.clock);
      await harness.clock.advance(1_000);
      await until("the first poll hangs", () => harness.provider.polls.length === 1);
      await harness.start();
      await harness.pass(LEASE_MS + 1_000);
      const completed = await harness.expectCompleted(id);
      expect(completed.crashes).to.equal(1);

      response();
      await until("the lost worker has put its work down", () => hanging.leases.count === 0);
      expect(await harness.expectCompleted(id)).to.deep.equal(completed);
      expect([harness.provider.submissions.length, harness.provider.polls.length]).to.deep.equal([1, 2]);
      expect(await harness.attempts(id)).to.deep.equal([[1, "completed"]]);
    });
  });

  it("is aborted in the old process as soon as that notices", async () => {
    let aborted: unknown = null;
    harness.provider.behaviour = (request, { signal }) => {
      if (request.attempt > 1) return submitCompletes(request, { signal });
      return new Promise((_, reject) =>
        signal.addEventListener("abort", () => {
          aborted = signal.reason;
          reject(new Error("aborted"));
        }),
      );
    };
    const id = await harness.acceptOne();
    const hanging = await startHanging({ capabilities: { idempotentSubmit: true } });
    await harness.provider.submitted();
    await harness.start({ capabilities: { idempotentSubmit: true } });
    await harness.pass(LEASE_MS);
    const completed = await harness.expectCompleted(id);
    await hanging.clock.advance(LEASE_MS / 3);
    await until("the lost worker has put its work down", () => hanging.leases.count === 0);
    expect(aborted).to.equal("lease_lost");
    expect(await harness.expectCompleted(id)).to.deep.equal(completed);
  });

  it("continues in its process after a pause longer than its lease, and is not restarted", async () => {
    const responses: (() => void)[] = [];
    harness.provider.behaviour = async (request, context) => {
      await new Promise<void>((resolve) => responses.push(resolve));
      return submitCompletes(request, context);
    };
    const id = await harness.acceptOne();
    const worker = await harness.start({ capabilities: { idempotentSubmit: true }, concurrency: 2 });
    await harness.provider.submitted();
    // The whole process is suspended: no sleeper wakes, and the notification arrives before the lease renewal.
    harness.clock.set(harness.clock.now() + LEASE_MS + 1);
    harness.queue.notify([{ jobId: id, providerId: "scripted" }]);
    // Work that is accepted afterwards finds a free slot.
    const next = await harness.acceptOne();
    await harness.provider.submitted(2);
    await harness.pass(2 * LEASE_MS);
    expect(harness.provider.submissions.map(({ jobId }) => jobId)).to.deep.equal([id, next]);
    responses.forEach((response) => response());
    await until("both are done", () => worker.leases.count === 0);
    expect(await harness.expectCompleted(id)).to.include({ crashes: 0, attempt: 1 });
    expect(await harness.attempts(id)).to.deep.equal([[1, "completed"]]);
  });

  describe("in a process that still works on it when another has claimed it and is lost too", () => {
    const aborted: unknown[] = [];
    const responses: (() => void)[] = [];
    let id: JobId;
    let worker: Worker;
    beforeEach(async () => {
      aborted.length = responses.length = 0;
      harness.provider.behaviour = async (request, { signal }) => {
        signal.addEventListener("abort", () => aborted.push([request.attempt, signal.reason]));
        await new Promise<void>((resolve) => responses.push(resolve));
        return submitCompletes(request, { signal });
      };
      id = await harness.acceptOne();
      worker = await harness.start({ capabilities: { idempotentSubmit: true }, concurrency: 2 });
      await harness.provider.submitted();
      harness.clock.set(harness.clock.now() + LEASE_MS + 1);
      await claimAndVanish("submitting");
      await harness.pass(LEASE_MS + 1_000);
      // Two calls for one job look like one that waits for its provider: the test awaits the second by its call.
      await harness.provider.submitted(2);
    });

    it("is claimed again by that process; the older work is aborted and does not lose the newer lease", async () => {
      expect(harness.provider.submissions.map(({ jobId }) => jobId)).to.deep.equal([id, id]);
      expect(aborted).to.deep.equal([[1, "lease_lost"]]);

      responses[0]?.();
      await until("the older work is put down", () => worker.calls() === 1);
      expect(worker.leases.count).to.equal(1);
      // The newer work keeps its lease for as long as it needs.
      await harness.pass(2 * LEASE_MS);
      expect(await harness.job(id)).to.include({ status: "processing", fence: 3, crashes: 2 });
      responses[1]?.();
      await harness.quiet();
      await harness.expectCompleted(id);
      expect(harness.provider.submissions).to.have.length(2);
    });

    it("occupies a slot until the older work ends", async () => {
      responses[0]?.();
      await until("the older work is put down", () => worker.calls() === 1);
      await harness.accept(3);
      await harness.pass(2_000);
      expect(worker.calls()).to.equal(2);
      for (let rest = 0; rest < 4; rest++) {
        responses.forEach((response) => response());
        await harness.quiet();
      }
      expect(harness.ended).to.have.length(4);
    });
  });

  it("is abandoned and refunded after four lost workers", async () => {
    const id = await harness.acceptOne();
    for (let lost = 0; lost < 4; lost++) {
      expect(await claimAndVanish()).to.equal(1);
      harness.clock.set(harness.clock.now() + LEASE_MS);
    }
    expect(await harness.job(id)).to.include({ crashes: 3, status: "processing" });
    await harness.start();
    await harness.quiet();
    expect(await harness.expectFailed(id, "generation_failed")).to.include({ crashes: 4, attempt: 0 });
    expect(await harness.attempts(id)).to.deep.equal([]);
    expect(harness.provider.submissions).to.have.length(0);
  });

  it("gets another attempt after three lost workers", async () => {
    const id = await harness.acceptOne();
    for (let lost = 0; lost < 3; lost++) {
      await claimAndVanish();
      harness.clock.set(harness.clock.now() + LEASE_MS);
    }
    await harness.start();
    await harness.quiet();
    expect((await harness.expectCompleted(id)).crashes).to.equal(3);
  });

  it("leaves no files of the lost worker", async () => {
    const id = await harness.acceptOne();
    await claimAndVanish();
    const { fence } = await harness.job(id);
    const leftBehind = `${id}/${fence}/0-mix.mp3`;
    await harness.audio.put(leftBehind, new Uint8Array(9), 9);
    harness.clock.set(harness.clock.now() + LEASE_MS);
    await harness.start();
    await harness.quiet();
    await harness.expectCompleted(id);
    expect(await harness.audio.stat(leftBehind)).to.equal(null);
  });

  it("is completed with what was bought, however many workers are lost with it", async () => {
    harness.provider.behaviour = submitAccepts();
    const id = await harness.acceptOne();
    const first = await harness.start();
    await harness.quiet();
    await first.stop();
    harness.clock.set((await harness.job(id)).dueAt ?? 0);
    for (let lost = 0; lost < 4; lost++) {
      expect(await claimAndVanish("rendering")).to.equal(1);
      harness.clock.set(harness.clock.now() + LEASE_MS);
    }
    await harness.start();
    await harness.quiet();
    const polled = harness.provider.polls.length;
    expect(await harness.job(id)).to.include({ crashes: 4, leaseOwner: null, dueAt: harness.clock.now() + 60_000 });
    await harness.pass(59_000);
    expect(harness.provider.polls, "polls within the minute").to.have.length(polled);
    await harness.pass(1_000);
    expect(await harness.expectCompleted(id)).to.include({ attempt: 1 });
    expect(harness.provider.submissions).to.have.length(1);
  });

  it("is abandoned and refunded after the grace period when it crashes every worker", async () => {
    // An unforeseen error: the worker crashes whenever it records the acceptance.
    const { jobs } = harness.storage;
    const breaking = new FaultyPort(jobs).on("updateAttempts", async (update, tx, updates) => {
      if (updates.some(({ changes }) => changes.state === "accepted")) throw new TypeError("unexpected");
      return update(tx, updates);
    });
    const handle = { version: 1, data: {} };
    harness.provider.behaviour = async () => ({ state: "accepted", handle, nextPollMs: 1_000 });
    const id = await harness.acceptOne();
    await harness.start({ capabilities: { idempotentSubmit: true }, stores: { jobs: breaking } });
    await harness.quiet();
    expect(await harness.job(id)).to.include({
      phase: "submitting",
      crashes: 1,
      leaseOwner: null,
      dueAt: harness.clock.now() + 5_000,
    });
    await harness.pass(5_000);
    // Each wait is four times the one before: a fix may take minutes.
    expect(await harness.job(id)).to.include({ crashes: 2, dueAt: harness.clock.now() + 20_000 });
    // After the grace period one more call may bring what an earlier one bought.
    await harness.pass(20_000 + 60_000 + 60_000 + 60_000);
    await harness.expectFailed(id, "generation_failed");
    expect(harness.provider.submissions.map(({ jobId }) => jobId)).to.deep.equal([id, id, id, id, id]);
  });
});

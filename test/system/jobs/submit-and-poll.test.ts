import { expect } from "chai";
import type { JobId } from "../../../core/ids.js";
import {
  type Completed,
  ProviderFailure,
  type ProviderFailureKind,
  type ProviderTrack,
} from "../../../core/ports/music-provider.js";
import {
  submitAccepts,
  submitCompletes,
  submitFails,
  SCRIPTED_AUDIO,
  SCRIPTED_TRACK,
} from "../../support/doubles/scripted-provider.js";
import { aCompletion, begun } from "../../support/reports.js";
import { COST, LEASE_MS, WorkerHarness } from "./worker-harness.js";

/** A finished track whose mix comes from this source. */
function trackFrom(open: () => AsyncIterable<Uint8Array>): ProviderTrack {
  const mix = SCRIPTED_TRACK.assets[0];
  if (mix === undefined) throw new Error("The scripted track has a mix.");
  return { ...SCRIPTED_TRACK, assets: [{ ...mix, source: { kind: "stream", open } }] };
}

async function* bytes(): AsyncIterable<Uint8Array> {
  yield SCRIPTED_AUDIO;
}

async function* broken(error: Error): AsyncIterable<Uint8Array> {
  yield SCRIPTED_AUDIO.subarray(0, 10);
  throw error;
}

const delivers = (): Promise<Completed> => Promise.resolve({ state: "completed", tracks: [SCRIPTED_TRACK] });

function pollFails(kind: ProviderFailureKind): () => Promise<never> {
  return () => Promise.reject(new ProviderFailure(kind, `scripted: ${kind}`));
}

describe("A job", () => {
  let harness: WorkerHarness;
  beforeEach(async () => {
    harness = await WorkerHarness.open();
  });
  afterEach(() => harness.close());

  describe("that the provider completes at once", () => {
    it("is charged, with its tracks and its attempt stored", async () => {
      harness.provider.behaviour = async () => ({
        state: "completed",
        tracks: [SCRIPTED_TRACK],
        cost: { amount: 7, unit: "credits" },
      });
      const id = await harness.acceptOne();
      await harness.start();
      await harness.quiet();

      const job = await harness.expectCompleted(id);
      expect(job).to.include({ attempt: 1, refusals: 0, crashes: 0, fence: 2, completedAt: harness.clock.now() });
      const [attempt, ...more] = await harness.storage.jobs.listAttempts(id);
      expect(more).to.deep.equal([]);
      expect(attempt).to.deep.include({
        number: 1,
        outcome: "completed",
        message: null,
        cost: { amount: 7, unit: "credits" },
        endedAt: harness.clock.now(),
      });
      expect(harness.provider.submissions).to.have.length(1);
      expect(harness.provider.submissions[0]).to.include({
        jobId: id,
        attemptId: attempt?.id,
        attempt: 1,
        operation: "music",
        prompt: "rain on a tin roof",
        callbackUrl: null,
      });
      expect(harness.provider.submissions[0]).to.have.nested.property("model.id", "scripted/song");
      expect(await harness.storage.balanceOf(harness.accountId)).to.include({
        spent: COST,
        reservedMonthly: 0,
        reservedPack: 0,
        runningJobs: 0,
      });
    });

    it("starts as soon as it is accepted, without waiting for the sweep", async () => {
      await harness.start();
      await harness.quiet();
      const id = await harness.acceptOne();
      await harness.provider.submitted();
      await harness.quiet();
      expect((await harness.expectCompleted(id)).completedAt).to.equal((await harness.job(id)).createdAt);
    });

    it("is found by the sweep when its notification is lost", async () => {
      harness.queue.notify = () => undefined;
      await harness.start();
      await harness.quiet();
      const id = await harness.acceptOne();
      await harness.pass(1_000);
      await harness.expectCompleted(id);
    });
  });

  describe("that the provider accepts", () => {
    it("renders without occupying a slot: with a concurrency of one, many render at a time", async () => {
      harness.provider.behaviour = submitAccepts(10_000);
      const jobs = await harness.accept(5);
      const { leases } = await harness.start({ concurrency: 1 });
      await harness.quiet();

      expect(harness.provider.submissions).to.have.length(5);
      expect(leases.count).to.equal(0);
      for (const { id } of jobs) {
        const job = await harness.job(id);
        expect(job).to.include({
          status: "processing",
          phase: "rendering",
          leaseOwner: null,
          dueAt: harness.clock.now() + 10_000,
          fence: 1,
        });
        const [attempt] = await harness.storage.jobs.listAttempts(id);
        expect(attempt).to.deep.include({
          state: "accepted",
          handle: { version: 1, data: { task: id } },
          acceptedAt: harness.clock.now(),
        });
        expect(await harness.attempts(id)).to.deep.equal([[1, "accepted"]]);
      }
      expect(harness.provider.polls).to.have.length(0);

      await harness.pass(10_000);
      expect(harness.provider.polls).to.have.length(5);
      for (const { id } of jobs) {
        await harness.expectCompleted(id);
        expect(await harness.attempts(id)).to.deep.equal([[1, "completed"]]);
      }
    });

    it("is polled when the provider says, with the provider's latest handle", async () => {
      harness.provider.behaviour = submitAccepts(2_000);
      const later = { version: 2, data: { task: "moved" } };
      harness.provider.pollBehaviour = async (handle) => {
        if (handle.version === 1) return { state: "running", nextPollMs: 40_000, handle: later };
        return { state: "completed", tracks: [SCRIPTED_TRACK] };
      };
      const id = await harness.acceptOne();
      await harness.start();
      await harness.pass(2_000);
      expect(await harness.job(id)).to.include({
        phase: "rendering",
        leaseOwner: null,
        dueAt: harness.clock.now() + 40_000,
      });
      expect((await harness.storage.jobs.listAttempts(id))[0]?.handle).to.deep.equal(later);
      await harness.pass(39_000);
      expect(harness.provider.polls).to.have.length(1);
      await harness.pass(1_000);
      expect(harness.provider.polls).to.deep.equal([{ version: 1, data: { task: id } }, later]);
      await harness.expectCompleted(id);
    });

    for (const [what, nextPollMs, dueInMs] of [
      ["no time", 0, 50],
      ["a negative time", -5, 50],
      ["no number", Number.NaN, 2_000],
      ["never", Infinity, 2_000],
    ] as const) {
      it(`is polled even when the provider names ${what}`, async () => {
        harness.provider.behaviour = submitAccepts(nextPollMs);
        const id = await harness.acceptOne();
        await harness.start();
        await harness.quiet();
        expect((await harness.job(id)).dueAt).to.equal(harness.clock.now() + dueInMs);
        await harness.pass(dueInMs);
        await harness.expectCompleted(id);
      });
    }

    for (const kind of ["unavailable", "rate_limited", "misconfigured", "outcome_unknown"] as const) {
      it(`is polled again when a poll ends in ${kind}`, async () => {
        harness.provider.behaviour = submitAccepts(1_000);
        harness.provider.pollBehaviour = pollFails(kind);
        const id = await harness.acceptOne();
        await harness.start();
        await harness.pass(1_000);
        expect(await harness.job(id)).to.include({
          phase: "rendering",
          crashes: 0,
          dueAt: harness.clock.now() + 1_500,
        });
        harness.provider.pollBehaviour = delivers;
        await harness.pass(1_500);
        await harness.expectCompleted(id);
        expect(harness.provider.submissions).to.have.length(1);
      });
    }

    it("is polled no sooner than a poll's failure says", async () => {
      harness.provider.behaviour = submitAccepts(1_000);
      harness.provider.pollBehaviour = () =>
        Promise.reject(new ProviderFailure("unavailable", "slow down", { retryAfterMs: 20_000 }));
      const id = await harness.acceptOne();
      await harness.start();
      await harness.pass(1_000);
      expect((await harness.job(id)).dueAt).to.equal(harness.clock.now() + 20_000);
    });

    const ENDS = [
      ["cancelled", "generation_failed"],
      ["timeout", "provider_timeout"],
      ["content_rejected", "invalid_request"],
    ] as const;
    for (const [kind, code] of ENDS) {
      it(`is refunded when a poll returns ${kind}, and its attempt records it`, async () => {
        harness.provider.behaviour = submitAccepts(1_000);
        harness.provider.pollBehaviour = pollFails(kind);
        const id = await harness.acceptOne();
        await harness.start();
        await harness.pass(1_000);
        await harness.expectFailed(id, code);
        const [attempt] = await harness.storage.jobs.listAttempts(id);
        expect(attempt).to.include({ outcome: kind, endedAt: harness.clock.now() });
        expect(attempt?.message).to.include(kind);
      });
    }

    it("is refunded at once when a poll reports a failure with a reason", async () => {
      harness.provider.behaviour = submitAccepts(1_000);
      harness.provider.pollBehaviour = () =>
        Promise.reject(new ProviderFailure("failed", "NSFW", { providerCode: "nsfw" }));
      const id = await harness.acceptOne();
      await harness.start();
      await harness.pass(1_000);
      await harness.expectFailed(id, "generation_failed");
    });

    for (const kind of ["failed", "gone"] as const) {
      it(`is polled for a minute after ${kind} without a reason, and then refunded`, async () => {
        harness.provider.behaviour = submitAccepts(1_000);
        harness.provider.pollBehaviour = pollFails(kind);
        const id = await harness.acceptOne();
        await harness.start();
        await harness.pass(1_000 + 59_000);
        expect(await harness.job(id)).to.include({ phase: "rendering", crashes: 0 });
        expect(harness.provider.polls.length).to.be.above(4);
        await harness.pass(10_000);
        await harness.expectFailed(id, "generation_failed");
        expect((await harness.storage.jobs.listAttempts(id))[0]).to.include({
          state: "failed",
          outcome: kind,
          loss: "provider_failed",
        });
      });

      it(`is delivered when ${kind} without a reason was temporary`, async () => {
        harness.provider.behaviour = submitAccepts(1_000);
        harness.provider.pollBehaviour = pollFails(kind);
        const id = await harness.acceptOne();
        await harness.start();
        await harness.pass(1_000);
        harness.provider.pollBehaviour = delivers;
        await harness.pass(10_000);
        await harness.expectCompleted(id);
        expect(harness.provider.submissions).to.have.length(1);
      });
    }

    it("is refunded when its provider has no poll", async () => {
      harness.provider.behaviour = submitAccepts(1_000);
      const id = await harness.acceptOne();
      await harness.start({ provider: { submit: harness.provider.submit.bind(harness.provider) } });
      await harness.pass(1_000);
      await harness.expectFailed(id, "generation_failed");
    });
  });

  describe("that the provider refuses", () => {
    for (const [kind, code] of [
      ["content_rejected", "invalid_request"],
      ["failed", "generation_failed"],
    ] as const) {
      it(`with ${kind} is refunded at once`, async () => {
        harness.provider.behaviour = submitFails(kind);
        const id = await harness.acceptOne();
        await harness.start();
        await harness.pass(120_000);
        await harness.expectFailed(id, code);
        expect(await harness.attempts(id)).to.deep.equal([[1, kind]]);
        expect(harness.provider.submissions).to.have.length(1);
      });
    }

    for (const [kind, code] of [
      ["unavailable", "provider_unavailable"],
      ["timeout", "provider_timeout"],
    ] as const) {
      it(`with ${kind} is attempted again with backoff, then refunded`, async () => {
        harness.provider.behaviour = submitFails(kind);
        const id = await harness.acceptOne();
        await harness.start();
        await harness.quiet();
        // Backoff 1 s and 2 s; the fraction of one half takes three quarters of each.
        expect(await harness.job(id)).to.include({
          status: "queued",
          phase: "waiting",
          refusals: 1,
          leaseOwner: null,
          dueAt: harness.clock.now() + 750,
        });
        await harness.pass(749);
        expect(harness.provider.submissions).to.have.length(1);
        await harness.pass(1);
        expect(await harness.job(id)).to.include({ status: "queued", refusals: 2, dueAt: harness.clock.now() + 1_500 });
        await harness.pass(1_500);
        await harness.expectFailed(id, code);
        expect(await harness.attempts(id)).to.deep.equal([
          [1, kind],
          [2, kind],
          [3, kind],
        ]);
        expect(new Set(harness.provider.submissions.map(({ attemptId }) => attemptId)).size).to.equal(3);
        await harness.pass(120_000);
        expect(harness.provider.submissions).to.have.length(3);
      });
    }

    it("for now is attempted again and completes", async () => {
      harness.provider.behaviour = submitFails("unavailable");
      const id = await harness.acceptOne();
      await harness.start();
      await harness.quiet();
      harness.provider.behaviour = submitCompletes;
      await harness.pass(750);
      await harness.expectCompleted(id);
      expect(await harness.attempts(id)).to.deep.equal([
        [1, "unavailable"],
        [2, "completed"],
      ]);
    });

    it("for now is not attempted again before the provider's retry time", async () => {
      harness.provider.behaviour = () =>
        Promise.reject(new ProviderFailure("unavailable", "busy", { retryAfterMs: 45_000 }));
      const id = await harness.acceptOne();
      await harness.start();
      await harness.quiet();
      expect((await harness.job(id)).dueAt).to.equal(harness.clock.now() + 45_000);
      await harness.pass(44_750);
      expect(harness.provider.submissions).to.have.length(1);
      harness.provider.behaviour = submitCompletes;
      await harness.pass(250);
      await harness.expectCompleted(id);
    });
  });

  describe("whose audio", () => {
    async function run(
      response: Completed,
      options: { readonly maxBytes?: number; readonly passMs?: number } = {},
    ): Promise<JobId> {
      harness.provider.behaviour = async () => response;
      const id = await harness.acceptOne();
      await harness.start({ maxBytes: options.maxBytes ?? 1_000_000 });
      await harness.pass(options.passMs ?? 0);
      return id;
    }

    it("is interrupted is downloaded again, and not bought again", async () => {
      let tries = 0;
      const open = (): AsyncIterable<Uint8Array> => (++tries < 3 ? broken(new Error("connection lost")) : bytes());
      const id = await run({ state: "completed", tracks: [trackFrom(open)] }, { passMs: 2_250 });
      expect([tries, harness.provider.submissions.length]).to.deep.equal([3, 1]);
      expect((await harness.expectCompleted(id)).crashes).to.equal(0);
    });

    it("is temporarily unavailable is downloaded again", async () => {
      let tries = 0;
      const open = (): AsyncIterable<Uint8Array> =>
        ++tries < 2 ? broken(new ProviderFailure("unavailable", "busy")) : bytes();
      await harness.expectCompleted(await run({ state: "completed", tracks: [trackFrom(open)] }, { passMs: 750 }));
    });

    it("was deleted at the provider is refunded", async () => {
      const gone = trackFrom(() => broken(new ProviderFailure("failed", "the file has expired")));
      const id = await run({ state: "completed", tracks: [gone, gone] });
      await harness.expectFailed(id, "generation_failed");
      expect(await harness.attempts(id)).to.deep.equal([[1, "failed"]]);
    });

    it("is missing for one of two tracks is charged in full, and the attempt names the missing file", async () => {
      const gone = trackFrom(() => broken(new ProviderFailure("gone", "the file has expired")));
      const id = await run({ state: "completed", tracks: [gone, SCRIPTED_TRACK] });
      await harness.expectCompleted(id);
      const [attempt] = await harness.storage.jobs.listAttempts(id);
      const message = "The mix full of track 0: the file has expired";
      expect(attempt).to.include({ outcome: "completed", billable: "yes", message });
    });

    it("is present while a cover or a stem is missing is charged, without these", async () => {
      const source = { kind: "stream", open: () => broken(new ProviderFailure("gone", "404")) } as const;
      const assets = SCRIPTED_TRACK.assets.map((asset) => (asset.role === "mix" ? asset : { ...asset, source }));
      const id = await run({ state: "completed", tracks: [{ ...SCRIPTED_TRACK, assets }] });
      await harness.expectCompleted(id);
      const stored = (await harness.storage.library.tracksOfJobs([id])).get(id);
      expect(stored?.[0]?.assets.map(({ role }) => role)).to.deep.equal(["mix"]);
    });

    it("is not audio is refunded: an HTML page instead", async () => {
      const page = new TextEncoder().encode("<!doctype html><title>Sorry</title>");
      const [mix] = SCRIPTED_TRACK.assets;
      if (mix === undefined) throw new Error("The scripted track has a mix.");
      const track: ProviderTrack = { ...SCRIPTED_TRACK, assets: [{ ...mix, source: { kind: "bytes", bytes: page } }] };
      await harness.expectFailed(await run({ state: "completed", tracks: [track] }), "generation_failed");
    });

    it("is larger than may be stored is refunded at once", async () => {
      await harness.expectFailed(
        await run({ state: "completed", tracks: [SCRIPTED_TRACK] }, { maxBytes: 999 }),
        "generation_failed",
      );
      expect(harness.provider.submissions).to.have.length(1);
    });

    it("is missing is refunded", async () => {
      await harness.expectFailed(await run({ state: "completed", tracks: [] }), "generation_failed");
    });

    it("lacks a mix is refunded", async () => {
      const assets = SCRIPTED_TRACK.assets.filter(({ role }) => role !== "mix");
      await harness.expectFailed(
        await run({ state: "completed", tracks: [{ ...SCRIPTED_TRACK, assets }] }),
        "generation_failed",
      );
    });

    it("stays unavailable while the provider keeps it is requested again by a poll", async () => {
      harness.provider.behaviour = submitAccepts(1_000);
      let isDown = true;
      const open = (): AsyncIterable<Uint8Array> => (isDown ? broken(new Error("connection lost")) : bytes());
      harness.provider.pollBehaviour = async () => ({ state: "completed", tracks: [trackFrom(open)] });
      const id = await harness.acceptOne();
      await harness.start();
      await harness.pass(1_000 + 2_250);
      expect(await harness.job(id)).to.include({
        phase: "rendering",
        crashes: 0,
        leaseOwner: null,
        dueAt: harness.clock.now() + 15_000,
      });
      await harness.pass(20 * 60_000);
      expect(await harness.job(id)).to.include({ phase: "rendering", crashes: 0 });
      const polls = harness.provider.polls.length;
      isDown = false;
      await harness.pass(20_000);
      await harness.expectCompleted(id);
      expect([harness.provider.submissions.length, harness.provider.polls.length]).to.deep.equal([1, polls + 1]);
    });
  });

  it("keeps its lease however long the provider takes to respond", async () => {
    let response: () => void = () => undefined;
    harness.provider.behaviour = async (request, context) => {
      await new Promise<void>((resolve) => (response = resolve));
      return submitCompletes(request, context);
    };
    const id = await harness.acceptOne();
    await harness.start({ callLimitMs: 10 * LEASE_MS });
    await harness.start();
    await harness.provider.submitted();
    await harness.pass(5 * LEASE_MS);
    response();
    await harness.quiet();
    await harness.expectCompleted(id);
    expect((await harness.job(id)).fence).to.equal(2);
    expect(harness.provider.submissions).to.have.length(1);
  });

  it("is settled with others in one commit", async () => {
    const { unitOfWork } = harness.storage;
    let commits = 0;
    const counting = {
      concurrentWriters: unitOfWork.concurrentWriters,
      inTransaction: <T>(work: Parameters<typeof unitOfWork.inTransaction<T>>[0]) => {
        commits++;
        return unitOfWork.inTransaction(work);
      },
    };
    const worker = harness.prepare({ stores: { unitOfWork: counting } });
    const jobs = await harness.accept(40);
    const claimed = await harness.storage.jobs.claimJobs({
      providerId: "scripted",
      phases: ["waiting"],
      limit: 40,
      now: harness.clock.now(),
      owner: worker.leases.owner,
      leaseUntil: harness.clock.now() + LEASE_MS,
    });
    await begun(
      worker.applyReports,
      claimed.map(({ job }) => job),
    );
    commits = 0;
    const ended = await Promise.all(claimed.map(({ job }) => worker.applyReports.apply(aCompletion(job))));
    expect(ended.map((one) => one.ended?.job.status)).to.deep.equal(jobs.map(() => "completed"));
    expect(commits).to.equal(1);
    expect(await harness.storage.balanceOf(harness.accountId)).to.include({ spent: 40 * COST, runningJobs: 0 });
  });
});

import { expect } from "chai";
import type { JobId } from "../../../core/ids.js";
import {
  type Completed,
  ProviderFailure,
  type ProviderFailureKind,
  type ProviderTrack,
} from "../../../core/ports/music-provider.js";
import { accepts, completes, fails, SCRIPTED_AUDIO, SCRIPTED_TRACK } from "../../support/doubles/scripted-provider.js";
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
  let shop: WorkerHarness;
  beforeEach(async () => {
    shop = await WorkerHarness.open();
  });
  afterEach(() => shop.close());

  describe("that the provider completes at once", () => {
    it("is charged, with its tracks stored and its attempt written down", async () => {
      shop.provider.behaviour = async () => ({
        state: "completed",
        tracks: [SCRIPTED_TRACK],
        cost: { amount: 7, unit: "credits" },
      });
      const id = await shop.acceptOne();
      await shop.start();
      await shop.quiet();

      const job = await shop.expectCompleted(id);
      expect(job).to.include({ attempt: 1, refusals: 0, crashes: 0, fence: 2, completedAt: shop.clock.now() });
      const [attempt, ...more] = await shop.storage.jobs.listAttempts(id);
      expect(more).to.deep.equal([]);
      expect(attempt).to.deep.include({
        number: 1,
        outcome: "completed",
        message: null,
        cost: { amount: 7, unit: "credits" },
        endedAt: shop.clock.now(),
      });
      expect(shop.provider.submissions).to.have.length(1);
      expect(shop.provider.submissions[0]).to.include({
        jobId: id,
        attemptId: attempt?.id,
        attempt: 1,
        operation: "music",
        prompt: "rain on a tin roof",
        callbackUrl: null,
      });
      expect(shop.provider.submissions[0]).to.have.nested.property("model.id", "scripted/song");
      expect(await shop.storage.balanceOf(shop.accountId)).to.include({
        spent: COST,
        reservedMonthly: 0,
        reservedPack: 0,
        runningJobs: 0,
      });
    });

    it("begins as soon as it is accepted, without waiting for the sweep", async () => {
      await shop.start();
      await shop.quiet();
      const id = await shop.acceptOne();
      await shop.provider.submitted();
      await shop.quiet();
      expect((await shop.expectCompleted(id)).completedAt).to.equal((await shop.job(id)).createdAt);
    });

    it("is found by the sweep when its bell got lost", async () => {
      shop.queue.notify = () => undefined;
      await shop.start();
      await shop.quiet();
      const id = await shop.acceptOne();
      await shop.pass(1_000);
      await shop.expectCompleted(id);
    });
  });

  describe("that the provider accepts", () => {
    it("renders without a worker: with one hand, many render at a time", async () => {
      shop.provider.behaviour = accepts(10_000);
      const jobs = await shop.accept(5);
      const { leases } = await shop.start({ concurrency: 1 });
      await shop.quiet();

      expect(shop.provider.submissions).to.have.length(5);
      expect(leases.count).to.equal(0);
      for (const { id } of jobs) {
        const job = await shop.job(id);
        expect(job).to.include({
          status: "processing",
          phase: "rendering",
          leaseOwner: null,
          dueAt: shop.clock.now() + 10_000,
          fence: 1,
        });
        const [attempt] = await shop.storage.jobs.listAttempts(id);
        expect(attempt).to.deep.include({
          state: "accepted",
          handle: { version: 1, data: { task: id } },
          acceptedAt: shop.clock.now(),
        });
        expect(await shop.attempts(id)).to.deep.equal([[1, "accepted"]]);
      }
      expect(shop.provider.polls).to.have.length(0);

      await shop.pass(10_000);
      expect(shop.provider.polls).to.have.length(5);
      for (const { id } of jobs) {
        await shop.expectCompleted(id);
        expect(await shop.attempts(id)).to.deep.equal([[1, "completed"]]);
      }
    });

    it("is asked after when the provider says, under the handle it gave last", async () => {
      shop.provider.behaviour = accepts(2_000);
      const later = { version: 2, data: { task: "moved" } };
      shop.provider.pollBehaviour = async (handle) => {
        if (handle.version === 1) return { state: "running", nextPollMs: 40_000, handle: later };
        return { state: "completed", tracks: [SCRIPTED_TRACK] };
      };
      const id = await shop.acceptOne();
      await shop.start();
      await shop.pass(2_000);
      expect(await shop.job(id)).to.include({ phase: "rendering", leaseOwner: null, dueAt: shop.clock.now() + 40_000 });
      expect((await shop.storage.jobs.listAttempts(id))[0]?.handle).to.deep.equal(later);
      await shop.pass(39_000);
      expect(shop.provider.polls).to.have.length(1);
      await shop.pass(1_000);
      expect(shop.provider.polls).to.deep.equal([{ version: 1, data: { task: id } }, later]);
      await shop.expectCompleted(id);
    });

    for (const [what, nextPollMs, dueInMs] of [
      ["no time", 0, 50],
      ["a negative time", -5, 50],
      ["no number", Number.NaN, 2_000],
      ["never", Infinity, 2_000],
    ] as const) {
      it(`is asked after all the same when the provider names ${what}`, async () => {
        shop.provider.behaviour = accepts(nextPollMs);
        const id = await shop.acceptOne();
        await shop.start();
        await shop.quiet();
        expect((await shop.job(id)).dueAt).to.equal(shop.clock.now() + dueInMs);
        await shop.pass(dueInMs);
        await shop.expectCompleted(id);
      });
    }

    for (const kind of ["unavailable", "rate_limited", "misconfigured", "outcome_unknown"] as const) {
      it(`is asked after again when a poll ends in ${kind}`, async () => {
        shop.provider.behaviour = accepts(1_000);
        shop.provider.pollBehaviour = pollFails(kind);
        const id = await shop.acceptOne();
        await shop.start();
        await shop.pass(1_000);
        expect(await shop.job(id)).to.include({ phase: "rendering", crashes: 0, dueAt: shop.clock.now() + 1_500 });
        shop.provider.pollBehaviour = delivers;
        await shop.pass(1_500);
        await shop.expectCompleted(id);
        expect(shop.provider.submissions).to.have.length(1);
      });
    }

    it("is asked after no sooner than a poll's failure says", async () => {
      shop.provider.behaviour = accepts(1_000);
      shop.provider.pollBehaviour = () =>
        Promise.reject(new ProviderFailure("unavailable", "slow down", { retryAfterMs: 20_000 }));
      const id = await shop.acceptOne();
      await shop.start();
      await shop.pass(1_000);
      expect((await shop.job(id)).dueAt).to.equal(shop.clock.now() + 20_000);
    });

    const ENDS = [
      ["cancelled", "generation_failed"],
      ["timeout", "provider_timeout"],
      ["content_rejected", "invalid_request"],
    ] as const;
    for (const [kind, code] of ENDS) {
      it(`is refunded when a poll says ${kind}, and its attempt says so too`, async () => {
        shop.provider.behaviour = accepts(1_000);
        shop.provider.pollBehaviour = pollFails(kind);
        const id = await shop.acceptOne();
        await shop.start();
        await shop.pass(1_000);
        await shop.expectFailed(id, code);
        const [attempt] = await shop.storage.jobs.listAttempts(id);
        expect(attempt).to.include({ outcome: kind, endedAt: shop.clock.now() });
        expect(attempt?.message).to.include(kind);
      });
    }

    it("is refunded at once when a poll says that it failed, and why", async () => {
      shop.provider.behaviour = accepts(1_000);
      shop.provider.pollBehaviour = () =>
        Promise.reject(new ProviderFailure("failed", "NSFW", { providerCode: "nsfw" }));
      const id = await shop.acceptOne();
      await shop.start();
      await shop.pass(1_000);
      await shop.expectFailed(id, "generation_failed");
    });

    for (const kind of ["failed", "gone"] as const) {
      it(`is polled for a minute before ${kind} without a reason is believed, and refunded then`, async () => {
        shop.provider.behaviour = accepts(1_000);
        shop.provider.pollBehaviour = pollFails(kind);
        const id = await shop.acceptOne();
        await shop.start();
        await shop.pass(1_000 + 59_000);
        expect(await shop.job(id)).to.include({ phase: "rendering", crashes: 0 });
        expect(shop.provider.polls.length).to.be.above(4);
        await shop.pass(10_000);
        await shop.expectFailed(id, "generation_failed");
        expect((await shop.storage.jobs.listAttempts(id))[0]).to.include({
          state: "failed",
          outcome: kind,
          loss: "provider_failed",
        });
      });

      it(`is delivered when ${kind} without a reason was a moment's trouble`, async () => {
        shop.provider.behaviour = accepts(1_000);
        shop.provider.pollBehaviour = pollFails(kind);
        const id = await shop.acceptOne();
        await shop.start();
        await shop.pass(1_000);
        shop.provider.pollBehaviour = delivers;
        await shop.pass(10_000);
        await shop.expectCompleted(id);
        expect(shop.provider.submissions).to.have.length(1);
      });
    }

    it("is refunded when its provider cannot be asked", async () => {
      shop.provider.behaviour = accepts(1_000);
      const id = await shop.acceptOne();
      await shop.start({ provider: { submit: shop.provider.submit.bind(shop.provider) } });
      await shop.pass(1_000);
      await shop.expectFailed(id, "generation_failed");
    });
  });

  describe("that the provider refuses", () => {
    for (const [kind, code] of [
      ["content_rejected", "invalid_request"],
      ["failed", "generation_failed"],
    ] as const) {
      it(`with ${kind} is refunded at once`, async () => {
        shop.provider.behaviour = fails(kind);
        const id = await shop.acceptOne();
        await shop.start();
        await shop.pass(120_000);
        await shop.expectFailed(id, code);
        expect(await shop.attempts(id)).to.deep.equal([[1, kind]]);
        expect(shop.provider.submissions).to.have.length(1);
      });
    }

    for (const [kind, code] of [
      ["unavailable", "provider_unavailable"],
      ["timeout", "provider_timeout"],
    ] as const) {
      it(`with ${kind} is tried again after a growing wait, then refunded`, async () => {
        shop.provider.behaviour = fails(kind);
        const id = await shop.acceptOne();
        await shop.start();
        await shop.quiet();
        // Backoff 1 s and 2 s; the fraction of one half takes three quarters of each.
        expect(await shop.job(id)).to.include({
          status: "queued",
          phase: "waiting",
          refusals: 1,
          leaseOwner: null,
          dueAt: shop.clock.now() + 750,
        });
        await shop.pass(749);
        expect(shop.provider.submissions).to.have.length(1);
        await shop.pass(1);
        expect(await shop.job(id)).to.include({ status: "queued", refusals: 2, dueAt: shop.clock.now() + 1_500 });
        await shop.pass(1_500);
        await shop.expectFailed(id, code);
        expect(await shop.attempts(id)).to.deep.equal([
          [1, kind],
          [2, kind],
          [3, kind],
        ]);
        expect(new Set(shop.provider.submissions.map(({ attemptId }) => attemptId)).size).to.equal(3);
        await shop.pass(120_000);
        expect(shop.provider.submissions).to.have.length(3);
      });
    }

    it("for now is tried again and completes", async () => {
      shop.provider.behaviour = fails("unavailable");
      const id = await shop.acceptOne();
      await shop.start();
      await shop.quiet();
      shop.provider.behaviour = completes;
      await shop.pass(750);
      await shop.expectCompleted(id);
      expect(await shop.attempts(id)).to.deep.equal([
        [1, "unavailable"],
        [2, "completed"],
      ]);
    });

    it("for now is not tried again before the time the provider asked for", async () => {
      shop.provider.behaviour = () =>
        Promise.reject(new ProviderFailure("unavailable", "busy", { retryAfterMs: 45_000 }));
      const id = await shop.acceptOne();
      await shop.start();
      await shop.quiet();
      expect((await shop.job(id)).dueAt).to.equal(shop.clock.now() + 45_000);
      await shop.pass(44_750);
      expect(shop.provider.submissions).to.have.length(1);
      shop.provider.behaviour = completes;
      await shop.pass(250);
      await shop.expectCompleted(id);
    });
  });

  describe("whose audio", () => {
    async function run(
      response: Completed,
      options: { readonly maxBytes?: number; readonly passMs?: number } = {},
    ): Promise<JobId> {
      shop.provider.behaviour = async () => response;
      const id = await shop.acceptOne();
      await shop.start({ maxBytes: options.maxBytes ?? 1_000_000 });
      await shop.pass(options.passMs ?? 0);
      return id;
    }

    it("breaks off is fetched again, and not made again", async () => {
      let tries = 0;
      const open = (): AsyncIterable<Uint8Array> => (++tries < 3 ? broken(new Error("connection lost")) : bytes());
      const id = await run({ state: "completed", tracks: [trackFrom(open)] }, { passMs: 2_250 });
      expect([tries, shop.provider.submissions.length]).to.deep.equal([3, 1]);
      expect((await shop.expectCompleted(id)).crashes).to.equal(0);
    });

    it("cannot be fetched for now is fetched again", async () => {
      let tries = 0;
      const open = (): AsyncIterable<Uint8Array> =>
        ++tries < 2 ? broken(new ProviderFailure("unavailable", "busy")) : bytes();
      await shop.expectCompleted(await run({ state: "completed", tracks: [trackFrom(open)] }, { passMs: 750 }));
    });

    it("is gone at the provider for good is refunded", async () => {
      const gone = trackFrom(() => broken(new ProviderFailure("failed", "the file has expired")));
      const id = await run({ state: "completed", tracks: [gone, gone] });
      await shop.expectFailed(id, "generation_failed");
      expect(await shop.attempts(id)).to.deep.equal([[1, "failed"]]);
    });

    it("is gone of one of two tracks is charged in full, and the attempt says what is missing", async () => {
      const gone = trackFrom(() => broken(new ProviderFailure("gone", "the file has expired")));
      const id = await run({ state: "completed", tracks: [gone, SCRIPTED_TRACK] });
      await shop.expectCompleted(id);
      const [attempt] = await shop.storage.jobs.listAttempts(id);
      expect(attempt).to.include({ outcome: "completed", billable: "yes", message: "Track 0: the file has expired" });
    });

    it("is there while a cover or a stem is gone is charged, without these", async () => {
      const source = { kind: "stream", open: () => broken(new ProviderFailure("gone", "404")) } as const;
      const assets = SCRIPTED_TRACK.assets.map((asset) => (asset.role === "mix" ? asset : { ...asset, source }));
      const id = await run({ state: "completed", tracks: [{ ...SCRIPTED_TRACK, assets }] });
      await shop.expectCompleted(id);
      const stored = (await shop.storage.library.tracksOfJobs([id])).get(id);
      expect(stored?.[0]?.assets.map(({ role }) => role)).to.deep.equal(["mix"]);
    });

    it("is no audio at all is refunded: a page of HTML that came in its place", async () => {
      const page = new TextEncoder().encode("<!doctype html><title>Sorry</title>");
      const [mix] = SCRIPTED_TRACK.assets;
      if (mix === undefined) throw new Error("The scripted track has a mix.");
      const track: ProviderTrack = { ...SCRIPTED_TRACK, assets: [{ ...mix, source: { kind: "bytes", bytes: page } }] };
      await shop.expectFailed(await run({ state: "completed", tracks: [track] }), "generation_failed");
    });

    it("is larger than may be stored is refunded at once", async () => {
      await shop.expectFailed(
        await run({ state: "completed", tracks: [SCRIPTED_TRACK] }, { maxBytes: 999 }),
        "generation_failed",
      );
      expect(shop.provider.submissions).to.have.length(1);
    });

    it("is missing is refunded", async () => {
      await shop.expectFailed(await run({ state: "completed", tracks: [] }), "generation_failed");
    });

    it("lacks a mix is refunded", async () => {
      const assets = SCRIPTED_TRACK.assets.filter(({ role }) => role !== "mix");
      await shop.expectFailed(
        await run({ state: "completed", tracks: [{ ...SCRIPTED_TRACK, assets }] }),
        "generation_failed",
      );
    });

    it("stays out of reach while the provider keeps it is asked for again by poll", async () => {
      shop.provider.behaviour = accepts(1_000);
      let isDown = true;
      const open = (): AsyncIterable<Uint8Array> => (isDown ? broken(new Error("connection lost")) : bytes());
      shop.provider.pollBehaviour = async () => ({ state: "completed", tracks: [trackFrom(open)] });
      const id = await shop.acceptOne();
      await shop.start();
      await shop.pass(1_000 + 2_250);
      expect(await shop.job(id)).to.include({
        phase: "rendering",
        crashes: 0,
        leaseOwner: null,
        dueAt: shop.clock.now() + 15_000,
      });
      await shop.pass(20 * 60_000);
      expect(await shop.job(id)).to.include({ phase: "rendering", crashes: 0 });
      const polls = shop.provider.polls.length;
      isDown = false;
      await shop.pass(20_000);
      await shop.expectCompleted(id);
      expect([shop.provider.submissions.length, shop.provider.polls.length]).to.deep.equal([1, polls + 1]);
    });
  });

  it("keeps its lease however long the provider takes to answer", async () => {
    let response: () => void = () => undefined;
    shop.provider.behaviour = async (request, context) => {
      await new Promise<void>((resolve) => (response = resolve));
      return completes(request, context);
    };
    const id = await shop.acceptOne();
    await shop.start({ callLimitMs: 10 * LEASE_MS });
    await shop.start();
    await shop.provider.submitted();
    await shop.pass(5 * LEASE_MS);
    response();
    await shop.quiet();
    await shop.expectCompleted(id);
    expect((await shop.job(id)).fence).to.equal(2);
    expect(shop.provider.submissions).to.have.length(1);
  });

  it("among many is settled with others in one commit", async () => {
    const { unitOfWork } = shop.storage;
    let commits = 0;
    const counting = {
      concurrentWriters: unitOfWork.concurrentWriters,
      inTransaction: <T>(work: Parameters<typeof unitOfWork.inTransaction<T>>[0]) => {
        commits++;
        return unitOfWork.inTransaction(work);
      },
    };
    const worker = shop.prepare({ stores: { unitOfWork: counting } });
    const jobs = await shop.accept(40);
    const claimed = await shop.storage.jobs.claimJobs({
      providerId: "scripted",
      phases: ["waiting"],
      limit: 40,
      now: shop.clock.now(),
      owner: worker.leases.owner,
      leaseUntil: shop.clock.now() + LEASE_MS,
    });
    await begun(
      worker.applyReports,
      claimed.map(({ job }) => job),
    );
    commits = 0;
    const ended = await Promise.all(claimed.map(({ job }) => worker.applyReports.apply(aCompletion(job))));
    expect(ended.map((one) => one.ended?.job.status)).to.deep.equal(jobs.map(() => "completed"));
    expect(commits).to.equal(1);
    expect(await shop.storage.balanceOf(shop.accountId)).to.include({ spent: 40 * COST, runningJobs: 0 });
  });
});

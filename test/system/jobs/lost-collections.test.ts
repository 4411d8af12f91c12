import { expect } from "chai";
import type { JobId } from "../../../core/ids.js";
import type { Track } from "../../../core/library/track.js";
import { anId } from "../../support/builders.js";
import { LEASE_MS, until, WorkerHarness } from "./worker-harness.js";

const REPEATABLE = { capabilities: { idempotentSubmit: true } } as const;

describe("The collection of a job's files", () => {
  let harness: WorkerHarness;
  let listenedTo: Track[];
  beforeEach(async () => {
    harness = await WorkerHarness.open();
    listenedTo = [];
    harness.derive = (track) => {
      listenedTo.push(track);
      return Promise.resolve(track);
    };
  });
  afterEach(() => harness.close());

  /** A process that claims the job, does this much, and is then lost. */
  async function vanish(id: JobId, begunBefore: number | null = null): Promise<void> {
    const now = harness.clock.now();
    const request = { providerId: "scripted", phases: ["waiting"], limit: 1, now, owner: anId("prc") } as const;
    const [claimed] = await harness.storage.jobs.claimJobs({ ...request, leaseUntil: now + LEASE_MS });
    if (begunBefore !== null) {
      const changes = { collectionsBegun: begunBefore + 1 };
      const update = { id, fence: claimed?.job.fence ?? 0, changes };
      await harness.storage.inTransaction((tx) => harness.storage.jobs.updateJobs(tx, [update]));
    }
    harness.clock.set(now + LEASE_MS);
  }

  const warnings = (): number =>
    harness.logger.lines.filter(({ message }) => message.includes("without derived files")).length;

  for (const [decodes, times] of [
    [true, 1],
    [false, 0],
  ] as const) {
    it(`is recorded ${times} times before the audio is analysed where files are decoded: ${decodes}`, async () => {
      const begun: number[] = [];
      harness.decodes = decodes;
      harness.derive = async (track) => {
        begun.push((await harness.job(track.jobId as JobId)).collectionsBegun);
        return track;
      };
      await harness.acceptOne();
      await harness.start();
      await harness.quiet();
      expect(begun).to.deep.equal([times]);
    });
  }

  it("analyses the audio when workers were lost before the collection began", async () => {
    const id = await harness.acceptOne();
    for (let lost = 0; lost < 3; lost++) await vanish(id);
    await harness.start();
    await harness.quiet();
    expect(await harness.expectCompleted(id)).to.include({ crashes: 3 });
    expect([listenedTo.length, warnings()]).to.deep.equal([1, 0]);
  });

  for (const [lost, times, warned] of [
    [1, 1, 0],
    [2, 0, 1],
  ] as const) {
    it(`analyses the audio ${times} times when ${lost} collections never ended`, async () => {
      const id = await harness.acceptOne();
      for (let before = 0; before < lost; before++) await vanish(id, before);
      await harness.start();
      await harness.quiet();
      await harness.expectCompleted(id);
      expect([listenedTo.length, warnings()]).to.deep.equal([times, warned]);
    });
  }

  it("does not count as lost when a stop ended it", async () => {
    let isListening = false;
    harness.derive = (_track, signal) => {
      isListening = true;
      return new Promise((_, reject) => {
        signal?.addEventListener("abort", () => reject(new Error("stopped")));
      });
    };
    const id = await harness.acceptOne();
    const worker = await harness.start(REPEATABLE);
    await until("the audio is listened to", () => isListening);
    expect(await harness.job(id)).to.include({ collectionsBegun: 1 });
    worker.leases.abortAll();
    await until("the job is released", () => worker.leases.count === 0);
    expect(await harness.job(id)).to.include({ collectionsBegun: 0, leaseOwner: null });
  });
});

import { expect } from "chai";
import { ServiceUnavailableError } from "../../../core/errors.js";
import type { Job, JobState } from "../../../core/jobs/job.js";
import { CollectAudio } from "../../../core/maintenance/collect-audio.js";
import { EndOverdueJobs } from "../../../core/maintenance/end-overdue-jobs.js";
import type { MaintenanceTask } from "../../../core/maintenance/maintenance.js";
import { retentionRules } from "../../../core/maintenance/retention.js";
import { maintenanceTasks } from "../../../core/maintenance/tasks.js";
import {
  aHash,
  aJob,
  aJobRequest,
  aLoggedRequest,
  anAttempt,
  anId,
  anIdempotencyRecord,
  aTrack,
  RETENTION,
} from "../../support/builders.js";
import { FaultyPort } from "../../support/doubles/faulty-port.js";
import { type MemoryCore, memoryCore } from "../../support/memory-core.js";
import { anEvent } from "../../support/webhook-builders.js";

const DAY_MS = 86_400_000;
const NEVER = new AbortController().signal;

describe("Scheduled maintenance", () => {
  let memory: MemoryCore;
  let overdue: JobState[];
  beforeEach(async () => {
    memory = await memoryCore();
    overdue = [];
  });

  function tasks(): readonly MaintenanceTask[] {
    const { ports } = memory;
    return maintenanceTasks({
      ...ports,
      endJobs: {
        endOverdue: async (job) => {
          overdue.push(job);
          return null;
        },
      },
      collectAudio: new CollectAudio(ports),
      queueDeadlineMs: 3_600_000,
      rules: retentionRules(RETENTION, [60_000]),
      everyMs: 7_000,
    });
  }
  const run = async (id: string, signal = NEVER): Promise<void> => {
    const task = tasks().find((one) => one.id === id);
    if (task === undefined) throw new Error(`There is no task ${id}.`);
    await task.run(signal);
  };

  it("has a task for each kind of what is deleted, ended, counted and indexed", () => {
    expect(tasks().map(({ id, everyMs }) => `${id} ${everyMs}`)).to.deep.equal([
      "end-overdue-jobs 7000",
      "delete-idempotency-records 7000",
      "delete-webhook-events 7000",
      "delete-provider-callbacks 7000",
      "delete-request-log 7000",
      "delete-request-counts 7000",
      "delete-credit-sums 7000",
      "delete-job-requests 7000",
      "delete-job-attempts 7000",
      "count-request-log 7000",
      "sum-credits 7000",
      "delete-abandoned-uploads 7000",
      "index-pending 7000",
      "collect-audio 3600000",
    ]);
    for (const { description } of tasks()) expect(description).to.match(/^[A-Z].*\.$/);
  });

  it("deletes what is past its time, and leaves the rest", async () => {
    const { storage, clock } = memory;
    const now = clock.now();
    const { id: accountId } = await storage.addAccount();
    const times = [now - 400 * 2 * DAY_MS, now];
    const jobs = times.map((createdAt) =>
      aJob({ accountId, status: "failed", phase: "ended", dueAt: null, createdAt, completedAt: createdAt }),
    ) as [Job, Job];
    await storage.inTransaction(async (tx) => {
      await storage.jobs.insertJobs(tx, jobs);
      await storage.jobs.insertAttempts(
        tx,
        jobs.map((job) => anAttempt({ jobId: job.id, state: "failed", endedAt: job.createdAt })),
      );
      await storage.idempotency.insertRecords(
        tx,
        [now - 1, now + 1].map((expiresAt) => anIdempotencyRecord({ accountId, expiresAt, createdAt: now - 5 })),
      );
      await storage.webhooks.insertEvents(
        tx,
        times.map((createdAt) => anEvent({ accountId, createdAt })),
      );
      await storage.requestLog.insert(
        tx,
        times.map((createdAt) => aLoggedRequest({ accountId, createdAt })),
      );
      for (const receivedAt of times) {
        await storage.callbacks.insert(tx, {
          ...{ id: anId("cbk"), jobId: jobs[0].id, providerId: "synth", attempt: 1, digest: aHash(), receivedAt },
          ...{ headers: {}, query: {}, body: new Uint8Array() },
        });
      }
    });
    const counts = async (): Promise<unknown> => [
      (await storage.growth.due("idempotency_records", now + 9, 9)).rows,
      (await storage.growth.due("webhook_events", now + 9, 9)).rows,
      (await storage.growth.due("provider_callbacks", now + 9, 9)).rows,
      (await storage.growth.due("request_log", now + 9, 9)).rows,
    ];
    expect(await counts()).to.deep.equal([2, 2, 2, 2]);
    for (const { id } of tasks()) await run(id);
    expect(await counts()).to.deep.equal([1, 1, 1, 1]);
    const [old, recent] = jobs.map(({ id }) => id) as [Job["id"], Job["id"]];
    const found = await storage.jobs.findJobs([old, recent]);
    expect([found.get(old)?.request.prompt, found.get(recent)?.request.prompt]).to.deep.equal([
      "",
      aJobRequest().prompt,
    ]);
    expect([...(await storage.jobs.attemptsOf([old, recent])).keys()]).to.deep.equal([recent]);
  });

  it("deletes abandoned uploads after 30 days, all of them", async () => {
    const { storage, clock } = memory;
    const { id: accountId } = await storage.addAccount();
    const begun = clock.now() - 30 * DAY_MS;
    const uploads = [...Array.from({ length: 201 }, () => begun - 1), begun].map((createdAt) => ({
      ...{ trackId: anId("trk"), accountId, sizeBytes: 1, createdAt, storedAt: null },
    }));
    await storage.inTransaction(async (tx) => {
      for (const upload of uploads) await storage.uploads.insertUpload(tx, upload);
    });
    await run("delete-abandoned-uploads", AbortSignal.abort());
    const left = async (): Promise<number> =>
      (await storage.uploads.findUploads(uploads.map(({ trackId }) => trackId))).size;
    expect(await left()).to.equal(202);
    await run("delete-abandoned-uploads");
    expect(await left()).to.equal(1);
  });

  it("indexes what is pending for searches", async () => {
    const { storage } = memory;
    await storage.inTransaction((tx) => storage.library.insertTracks(tx, [aTrack({ visibility: "public" })]));
    await run("index-pending");
    expect(await storage.inTransaction((tx) => storage.library.indexPending(tx))).to.equal(false);
  });

  it("collects audio in runs that go on, and logs what it deleted", async () => {
    const { storage, audio, clock, logger } = memory;
    const job = aJob({ status: "failed" });
    await storage.inTransaction((tx) => storage.jobs.insertJobs(tx, [job]));
    await audio.put(`${job.id}/1/mix.mp3`, new Uint8Array(4), 10);
    await run("collect-audio");
    expect(logger.lines).to.deep.equal([]);
    await clock.advance(3_600_001);
    await run("collect-audio");
    expect(audio.keys).to.deep.equal([]);
    expect(logger.lines[0]).to.include({ level: "info", message: "Orphaned audio files were deleted" });
    expect(logger.lines[0]?.fields).to.include({ task: "collect-audio", files: 1, bytes: 4 });
  });
});

describe("Overdue jobs", () => {
  let memory: MemoryCore;
  beforeEach(async () => {
    memory = await memoryCore();
  });
  const HOUR_MS = 3_600_000;

  async function insert(...jobs: readonly Job[]): Promise<void> {
    await memory.storage.inTransaction((tx) => memory.storage.jobs.insertJobs(tx, jobs));
  }
  const waiting = (createdAt: number): Job => aJob({ createdAt });
  /** Ends a job as core does, without credits. */
  const end = async ({ id, fence }: JobState): Promise<JobState | null> => {
    const { storage } = memory;
    const changes = { status: "failed", phase: "ended", dueAt: null, completedAt: memory.clock.now() } as const;
    await storage.inTransaction((tx) => storage.jobs.updateJobs(tx, [{ id, fence, changes }]));
    return (await storage.jobs.findJobs([id])).get(id) ?? null;
  };
  const ending = (endOverdue: (job: JobState) => Promise<JobState | null>, jobs = memory.storage.jobs) =>
    new EndOverdueJobs({ ...memory.ports, jobs, endJobs: { endOverdue }, queueDeadlineMs: HOUR_MS });
  const alive = async (): Promise<number> =>
    (await memory.storage.jobs.listJobs({ status: "queued", limit: 999 })).length;

  it("are ended, and those whose time is not over are left", async () => {
    const now = memory.clock.now();
    await insert(waiting(now - HOUR_MS - 1), waiting(now - HOUR_MS + 1));
    await ending(end).execute(NEVER);
    expect(await alive()).to.equal(1);
  });

  it("are ended by the hundreds", async () => {
    const now = memory.clock.now();
    await insert(...Array.from({ length: 401 }, (_, index) => waiting(now - 2 * HOUR_MS - index)));
    await ending(end).execute(NEVER);
    expect(await alive()).to.equal(0);
  });

  it("are those with an attempt past its deadline as well", async () => {
    const now = memory.clock.now();
    const job = aJob({ status: "processing", phase: "rendering", createdAt: now });
    await insert(job);
    const attempt = anAttempt({ jobId: job.id, state: "accepted", deadlineAt: now });
    await memory.storage.inTransaction((tx) => memory.storage.jobs.insertAttempts(tx, [attempt]));
    const seen: string[] = [];
    await ending(async ({ id }) => {
      seen.push(id);
      return null;
    }).execute(NEVER);
    expect(seen.length).to.be.above(0);
    expect(new Set(seen)).to.deep.equal(new Set([job.id]));
  });

  it("that cannot be ended are tried alone, logged, and delay no others", async () => {
    const now = memory.clock.now();
    const stuck = waiting(now - 3 * HOUR_MS);
    await insert(stuck, ...Array.from({ length: 200 }, (_, index) => waiting(now - 2 * HOUR_MS - index)));
    let tries = 0;
    await ending(async (job) => {
      if (job.id !== stuck.id) return end(job);
      tries += 1;
      throw new Error("It breaks an invariant.");
    }).execute(NEVER);
    expect(await alive()).to.equal(1);
    expect(tries).to.equal(2);
    expect(memory.logger.lines).to.have.length(1);
    expect(memory.logger.lines[0]?.fields).to.include({ job_id: stuck.id });
  });

  it("are left to the next run when the storage is away, which is said once", async () => {
    await insert(...[1, 2].map((age) => waiting(memory.clock.now() - HOUR_MS - age)));
    const jobs = new FaultyPort(memory.storage.jobs).failOn("findJobs", () => new ServiceUnavailableError());
    const failing = ending(() => Promise.reject(new ServiceUnavailableError()), jobs).execute(NEVER);
    expect(await failing.catch((error: unknown) => error)).to.be.instanceOf(ServiceUnavailableError);
    expect(memory.logger.lines).to.deep.equal([]);
  });

  it("are left when the run is aborted", async () => {
    await insert(waiting(memory.clock.now() - 2 * HOUR_MS));
    await ending(end).execute(AbortSignal.abort());
    expect(await alive()).to.equal(1);
  });
});

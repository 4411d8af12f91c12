import { expect } from "chai";
import { WaitForJob } from "../../../../core/generations/wait-for-job.js";
import type { JobId } from "../../../../core/ids.js";
import { WatchJobs } from "../../../../core/jobs/watch-jobs.js";
import { EndedJobs } from "../../../../core/jobs/ended-jobs.js";
import type { Job } from "../../../../core/jobs/job.js";
import type { JobStore } from "../../../../core/ports/job-store.js";
import { aJob } from "../../../support/builders.js";
import { ManualClock } from "../../../support/doubles/manual-clock.js";
import { RecordingLogger } from "../../../support/doubles/recording-logger.js";

class JobTable implements Pick<JobStore, "findJobs" | "attemptsOf"> {
  readonly rows = new Map<JobId, Job>();
  reads = 0;

  async findJobs(ids: readonly JobId[]): Promise<Map<JobId, Job>> {
    this.reads++;
    return new Map(ids.flatMap((id) => [...this.rows].filter(([found]) => found === id)));
  }

  attemptsOf(): Promise<Map<JobId, never[]>> {
    return Promise.resolve(new Map<JobId, never[]>());
  }

  put(job: Job): Job {
    this.rows.set(job.id, job);
    return job;
  }
}

function setUp(): {
  readonly table: JobTable;
  readonly clock: ManualClock;
  readonly events: EndedJobs;
  readonly waitForJob: WaitForJob;
} {
  const table = new JobTable();
  const clock = new ManualClock();
  const events = new EndedJobs({ logger: new RecordingLogger() });
  return {
    table,
    clock,
    events,
    waitForJob: new WaitForJob({ jobs: table, watch: new WatchJobs({ jobs: table, endedJobs: events, clock }), clock }),
  };
}

/** What a promise came to so far. */
function watch<T>(promise: Promise<T>): { value: T | "waiting" } {
  const seen: { value: T | "waiting" } = { value: "waiting" };
  void promise.then((value) => (seen.value = value));
  return seen;
}

describe("WaitForJob", () => {
  it("returns at once for a job that has ended, and for none", async () => {
    const { table, waitForJob } = setUp();
    const job = table.put(aJob({ status: "failed", phase: "ended" }));
    expect(await waitForJob.wait(job.id, 60_000)).to.equal(job);
    expect(await waitForJob.wait(aJob().id, 60_000)).to.equal(undefined);
  });

  it("returns at once when no time is given", async () => {
    const { table, waitForJob } = setUp();
    const job = table.put(aJob());
    expect(await waitForJob.wait(job.id, 0)).to.equal(job);
  });

  it("returns in the moment the job ends in this process", async () => {
    const { table, clock, events, waitForJob } = setUp();
    const job = table.put(aJob());
    const seen = watch(waitForJob.wait(job.id, 60_000));
    await clock.advance(100);
    const ended = table.put({ ...job, status: "completed", phase: "ended" });
    events.emitEnded({ job: ended, tracks: [], outputs: [] });
    await clock.advance(0);
    expect(seen.value).to.equal(ended);
    expect(clock.sleeping).to.equal(0);
  });

  it("is not woken by the end of other jobs", async () => {
    const { table, clock, events, waitForJob } = setUp();
    const job = table.put(aJob());
    const seen = watch(waitForJob.wait(job.id, 400));
    await clock.advance(0);
    events.emitEnded({ job: aJob({ status: "completed" }), tracks: [], outputs: [] });
    await clock.advance(0);
    expect([seen.value, table.reads]).to.deep.equal(["waiting", 1]);
    await clock.advance(400);
    expect(seen.value).to.equal(job);
  });

  it("finds out within half a second when the job ends in another process", async () => {
    const { table, clock, waitForJob } = setUp();
    const job = table.put(aJob());
    const seen = watch(waitForJob.wait(job.id, 60_000));
    await clock.advance(700);
    const ended = table.put({ ...job, status: "completed", phase: "ended" });
    await clock.advance(299);
    expect(seen.value).to.equal("waiting");
    await clock.advance(1);
    expect(seen.value).to.equal(ended);
  });

  it("returns the current job when the time is over", async () => {
    const { table, clock, waitForJob } = setUp();
    const job = table.put(aJob());
    const seen = watch(waitForJob.wait(job.id, 1_200));
    await clock.advance(600);
    const processing = table.put({ ...job, status: "processing" });
    await clock.advance(599);
    expect(seen.value).to.equal("waiting");
    await clock.advance(1);
    expect(seen.value).to.equal(processing);
  });

  it("reads what many wait for together, twice a second, and only what ended when one of them ends here", async () => {
    const { table, clock, events, waitForJob } = setUp();
    const jobs = Array.from({ length: 100 }, () => table.put(aJob()));
    const all = jobs.map((job) => watch(waitForJob.wait(job.id, 60_000)));
    await clock.advance(0);
    table.reads = 0;
    await clock.advance(10_000);
    expect(table.reads).to.equal(20);
    for (const job of jobs.slice(1)) {
      const ended = table.put({ ...job, status: "completed", phase: "ended" });
      events.emitEnded({ job: ended, tracks: [], outputs: [] });
    }
    await clock.advance(0);
    expect(table.reads).to.equal(20 + 99);
    expect(all.filter(({ value }) => value === "waiting")).to.have.length(1);
    table.put({ ...(jobs[0] as Job), status: "failed", phase: "ended" });
    await clock.advance(500);
    expect(all[0]?.value).to.include({ status: "failed" });
    expect(clock.sleeping).to.equal(0);
  });

  it("gives up when the caller has gone", async () => {
    const { table, clock, waitForJob } = setUp();
    const job = table.put(aJob());
    const gone = new AbortController();
    const seen = watch(waitForJob.wait(job.id, 60_000, gone.signal));
    await clock.advance(100);
    gone.abort();
    await clock.advance(0);
    expect(seen.value).to.equal(job);
    expect(clock.sleeping).to.equal(0);
  });

  it("does not sleep through an end that comes while it looks", async () => {
    const { table, clock, events, waitForJob } = setUp();
    const job = table.put(aJob());
    const ended: Job = { ...job, status: "completed", phase: "ended" };
    const findJobs = table.findJobs.bind(table);
    table.findJobs = async (ids) => {
      const seen = await findJobs(ids);
      if (table.reads === 1) events.emitEnded({ job: table.put(ended), tracks: [], outputs: [] });
      return seen;
    };
    const seen = watch(waitForJob.wait(job.id, 60_000));
    await clock.advance(0);
    expect(seen.value).to.equal(ended);
  });

  it("leaves no listener behind, also when the storage fails", async () => {
    const { table, events, waitForJob } = setUp();
    let listening = 0;
    const onEnded = events.onEnded.bind(events);
    events.onEnded = (listener) => {
      listening++;
      const stop = onEnded(listener);
      return () => {
        listening--;
        stop();
      };
    };
    table.findJobs = () => Promise.reject(new Error("no storage"));
    const failed = await waitForJob.wait(aJob().id, 1_000).catch((error: Error) => error.message);
    expect([failed, listening]).to.deep.equal(["no storage", 0]);
  });
});

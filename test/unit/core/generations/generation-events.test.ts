import { setImmediate as nextTurn } from "node:timers/promises";
import { expect } from "chai";
import { InvalidRequestError, OperationRefusedError } from "../../../../core/errors.js";
import { GenerationEvents } from "../../../../core/generations/generation-events.js";
import type { GenerationEvent, ListeningDeps } from "../../../../core/generations/listening.js";
import { EndedJobs } from "../../../../core/jobs/ended-jobs.js";
import type { Job, JobKind } from "../../../../core/jobs/job.js";
import type { NumberedEnd } from "../../../../core/ports/job-store.js";
import { aJob, NOON } from "../../../support/builders.js";
import { ManualClock } from "../../../support/doubles/manual-clock.js";
import { RecordingLogger } from "../../../support/doubles/recording-logger.js";

/** Ended jobs with their numbers, as every process sees them. */
class Ends {
  readonly numbered: NumberedEnd[] = [];
  readonly committed: Job[] = [];
  reads = 0;
  failure: Error | null = null;

  readonly jobs: ListeningDeps["jobs"] = {
    numberEnds: async (limit) => {
      await this.read();
      const found = this.committed.splice(0, limit);
      for (const job of found) this.numbered.push({ number: this.numbered.length + 1, job });
      return found.length;
    },
    listEnds: async (after, limit) => {
      await this.read();
      return this.numbered.filter(({ number }) => number > after).slice(0, limit);
    },
    lastEndNumber: () => Promise.resolve(this.numbered.length),
    endNumberBefore: (moment) => {
      const first = this.numbered.find(({ job }) => (job.completedAt ?? 0) >= moment);
      return Promise.resolve(first === undefined ? this.numbered.length : first.number - 1);
    },
  };

  private async read(): Promise<void> {
    this.reads++;
    await nextTurn();
    if (this.failure !== null) throw this.failure;
  }
}

function setUp(): {
  readonly ends: Ends;
  readonly clock: ManualClock;
  readonly logger: RecordingLogger;
  readonly events: GenerationEvents;
  /** Commits the end of a job; `here`: in this process, which is then notified. */
  end(where?: "here" | "elsewhere", overrides?: Partial<Job>): Job;
} {
  const [ends, clock, logger] = [new Ends(), new ManualClock(NOON), new RecordingLogger()];
  const endedJobs = new EndedJobs({ logger });
  const read = { withTracks: async (jobs: readonly Job[]) => jobs.map((job) => ({ job, tracks: [], outputs: [] })) };
  const events = new GenerationEvents({ jobs: ends.jobs, read, endedJobs, clock, logger });
  return {
    ends,
    clock,
    logger,
    events,
    end(where = "elsewhere", overrides = {}) {
      const job = aJob({ status: "completed", phase: "ended", dueAt: null, completedAt: clock.now(), ...overrides });
      ends.committed.push(job);
      if (where === "here") endedJobs.emitEnded({ job, tracks: [], outputs: [] });
      return job;
    },
  };
}

/** Lets what is under way run up to its next wait for time. */
async function settled(): Promise<void> {
  for (let turns = 0; turns < 30; turns++) await nextTurn();
}

const idsOf = (heard: readonly GenerationEvent[]): string[] => heard.map(({ generation }) => generation.id);

describe("GenerationEvents", () => {
  it("hears of a job that ends in this process at once, and of others within a second", async () => {
    const { events, clock, end } = setUp();
    const heard: GenerationEvent[] = [];
    await events.on("job.ended", (event) => void heard.push(event)).ready;
    await settled();
    const here = end("here");
    await settled();
    expect(idsOf(heard)).to.deep.equal([here.id]);
    const elsewhere = end("elsewhere");
    await settled();
    expect(heard).to.have.length(1);
    await clock.advance(1_000);
    await settled();
    expect(idsOf(heard)).to.deep.equal([here.id, elsewhere.id]);
    await events.stop();
  });

  it("gives a generation without internals, the webhook's type and a cursor", async () => {
    const { events, end } = setUp();
    const heard: GenerationEvent[] = [];
    await events.on("job.ended", (event) => void heard.push(event)).ready;
    const job = end("here", { kind: "stem_split", modelId: "stem_split", creditsCharged: 3 });
    await settled();
    const { id, accountId, kind, modelId, status, creditsCharged, request, error, createdAt, completedAt } = job;
    const members = { id, accountId, kind, modelId, status, creditsCharged, request, error, createdAt, completedAt };
    expect(heard).to.deep.equal([
      { cursor: "1", type: "stem_split.completed", generation: { ...members, tracks: [], outputs: [] } },
    ]);
    await events.stop();
  });

  for (const [name, expected] of [
    ["job.ended", ["generation.completed", "generation.failed", "stem_split.completed", "vocal_removal.failed"]],
    ["job.completed", ["generation.completed", "stem_split.completed"]],
    ["job.failed", ["generation.failed", "vocal_removal.failed"]],
    ["generation.failed", ["generation.failed"]],
    ["stem_split.completed", ["stem_split.completed"]],
  ] as const) {
    it(`${name} is ${expected.join(", ")}`, async () => {
      const { events, end } = setUp();
      const heard: string[] = [];
      await events.on(name, ({ type }) => void heard.push(type)).ready;
      for (const [kind, status] of [
        ["music", "completed"],
        ["music", "failed"],
        ["stem_split", "completed"],
        ["vocal_removal", "failed"],
      ] as const satisfies readonly (readonly [JobKind, Job["status"]])[]) {
        end("here", { kind, status });
      }
      await settled();
      expect(heard).to.deep.equal(expected);
      await events.stop();
    });
  }

  it("hears by default what ends from the call on, also before its first look, and nothing older", async () => {
    const { events, clock, end } = setUp();
    end("elsewhere");
    clock.set(NOON + 5);
    const heard: GenerationEvent[] = [];
    const off = events.on("job.ended", (event) => void heard.push(event));
    const during = end("elsewhere");
    await off.ready;
    await settled();
    expect(idsOf(heard)).to.deep.equal([during.id]);
    await events.stop();
  });

  it("continues behind a cursor, in order and over many pages", async () => {
    const { events, end } = setUp();
    const jobs = Array.from({ length: 1_234 }, () => end("elsewhere"));
    const heard: GenerationEvent[] = [];
    events.on("job.ended", (event) => void heard.push(event), { after: "0" });
    await settled();
    expect(idsOf(heard)).to.deep.equal(jobs.map(({ id }) => id));
    const again: GenerationEvent[] = [];
    events.on("job.ended", (event) => void again.push(event), { after: heard[1_000]?.cursor ?? "" });
    await settled();
    expect(idsOf(again)).to.deep.equal(jobs.slice(1_001).map(({ id }) => id));
    await events.stop();
  });

  for (const [what, listener] of [
    ["throws", () => expect.fail("no")],
    ["rejects", () => Promise.reject(new Error("no"))],
  ] as const) {
    it(`calls a listener that ${what} again with the same event, after longer and longer pauses`, async () => {
      const { events, clock, logger, end } = setUp();
      const heard: string[] = [];
      let failures = 0;
      await events.on("job.ended", ({ generation }) => {
        heard.push(generation.id);
        return failures++ < 8 ? listener() : undefined;
      }).ready;
      const [first, second] = [end("here"), end("here")];
      await settled();
      for (const [pauseMs, calls] of [
        [999, 1],
        [1, 2],
        [1_999, 2],
        [1, 3],
        [4_000, 4],
        [8_000, 5],
        [16_000, 6],
        [32_000, 7],
        [60_000, 8],
        [60_000, 10],
      ] as const) {
        await clock.advance(pauseMs);
        await settled();
        expect(heard.length, `after ${pauseMs} ms`).to.equal(calls);
      }
      expect(heard).to.deep.equal([...Array.from({ length: 9 }, () => first.id), second.id]);
      const lines = logger.lines.filter(({ message }) => message.startsWith("A listener failed"));
      expect(lines).to.have.length(8);
      expect(lines[0]?.fields).to.include({ job_id: first.id, cursor: "1", event: "job.ended" });
      await events.stop();
    });
  }

  it("a listener that fails or is slow delays no other, and each has its own place", async () => {
    const { events, end } = setUp();
    const heard: string[] = [];
    await events.on("job.ended", () => Promise.reject(new Error("never"))).ready;
    await events.on("job.ended", () => new Promise(() => undefined)).ready;
    await events.on("job.ended", ({ generation }) => void heard.push(generation.id)).ready;
    const jobs = [end("here"), end("here")];
    await settled();
    expect(heard).to.deep.equal(jobs.map(({ id }) => id));
  });

  it("calls a listener with one event at a time", async () => {
    const { events, end } = setUp();
    const releases: (() => void)[] = [];
    await events.on("job.ended", () => new Promise<void>((resolve) => releases.push(resolve))).ready;
    end("here");
    end("here");
    await settled();
    expect(releases).to.have.length(1);
    releases[0]?.();
    await settled();
    expect(releases).to.have.length(2);
  });

  it("reads nothing without listeners, and nothing more after the last was ended", async () => {
    const { ends, events, clock, end } = setUp();
    end("here");
    await clock.advance(10_000);
    expect(ends.reads).to.equal(0);
    const heard: GenerationEvent[] = [];
    const off = events.on("job.ended", (event) => void heard.push(event));
    await off.ready;
    await settled();
    off();
    const { reads } = ends;
    end("here");
    await clock.advance(10_000);
    await settled();
    expect([heard, ends.reads]).to.deep.equal([[], reads]);
  });

  it("may be ended by the listener itself: nothing comes after that", async () => {
    const { events, end } = setUp();
    const heard: string[] = [];
    const off = events.on("job.ended", ({ generation }) => {
      heard.push(generation.id);
      off();
    });
    await off.ready;
    const first = end("here");
    end("here");
    await settled();
    expect(heard).to.deep.equal([first.id]);
  });

  it("stop waits for a running listener, no longer than it is given, and ends retries", async () => {
    const { events, clock, end } = setUp();
    let release = (): void => undefined;
    await events.on("job.ended", () => new Promise<void>((resolve) => (release = resolve))).ready;
    await events.on("job.ended", () => Promise.reject(new Error("no"))).ready;
    end("here");
    await settled();
    const states: string[] = [];
    void events.stop().then(() => states.push("stopped"));
    const bounded = events.stop(500).then(() => states.push("waited"));
    await settled();
    expect(states).to.deep.equal([]);
    await clock.advance(500);
    await bounded;
    expect(states).to.deep.equal(["waited"]);
    release();
    await settled();
    expect(states).to.deep.equal(["waited", "stopped"]);
    await events.on("job.ended", () => expect.fail("It has stopped.")).ready;
  });

  it("stop waits for a running listener whose listening was ended before", async () => {
    const { events, end } = setUp();
    let release = (): void => undefined;
    const off = events.on("job.ended", () => new Promise<void>((resolve) => (release = resolve)));
    await off.ready;
    end("here");
    await settled();
    off();
    let isStopped = false;
    void events.stop().then(() => (isStopped = true));
    await settled();
    expect(isStopped).to.equal(false);
    release();
    await settled();
    expect(isStopped).to.equal(true);
  });

  it("tries again while the storage cannot be reached, and misses nothing", async () => {
    const { ends, events, clock, logger, end } = setUp();
    ends.failure = new Error("no storage");
    const heard: GenerationEvent[] = [];
    const off = events.on("job.ended", (event) => void heard.push(event));
    const job = end("elsewhere");
    await settled();
    ends.failure = null;
    await clock.advance(1_000);
    await off.ready;
    await settled();
    expect(idsOf(heard)).to.deep.equal([job.id]);
    expect(logger.lines.map(({ message }) => message)).to.deep.equal(["Ended jobs could not be read for a listener"]);
    await events.stop();
  });

  for (const after of ["", "x", "-1", "1.5", "01", "1e3", "9".repeat(16)]) {
    it(`refuses "${after}" as a cursor`, () => {
      const { events } = setUp();
      expect(() => events.on("job.ended", () => undefined, { after })).to.throw(InvalidRequestError, "after");
    });
  }

  it("ends by name where the cursor is ahead of all events", async () => {
    const { events, logger, end } = setUp();
    end("elsewhere");
    const heard: GenerationEvent[] = [];
    const off = events.on("job.ended", (event) => void heard.push(event), { after: "2" });
    expect(await off.ready.catch((error: unknown) => error)).to.be.instanceOf(OperationRefusedError);
    end("here");
    end("here");
    await settled();
    expect(heard).to.deep.equal([]);
    expect(logger.lines.map(({ message }) => message)).to.deep.equal([
      "A listener was ended: its cursor is ahead of all events",
    ]);
  });
});

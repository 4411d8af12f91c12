import { expect } from "chai";
import { InvalidRequestError, JobNotFoundError, RateLimitedError } from "../../../core/errors.js";
import type { JobUpdate } from "../../../core/generations/follow-jobs.js";
import type { GenerationForms, ShownGeneration } from "../../../core/generations/read-generations.js";
import type { JobId } from "../../../core/ids.js";
import type { ShownTrack } from "../../../core/library/track.js";
import type { Transaction } from "../../../core/ports/unit-of-work.js";
import { aJob, anId, aTrack } from "../../support/builders.js";
import { submitAccepts } from "../../support/doubles/scripted-provider.js";
import { memoryWorkers, type MemoryWorkers } from "../../support/memory-workers.js";

/** Generations as they are read, each time. */
const UNKEPT: GenerationForms<ShownGeneration> = { kept: () => [], of: (generation) => generation };

const failure = (work: Promise<unknown>): Promise<unknown> => work.catch((error: unknown) => error);

describe("What an account reads of its generations", () => {
  let kit: MemoryWorkers;
  beforeEach(async () => {
    kit = await memoryWorkers();
  });
  const page = (request = {}, accountId = kit.accountId) =>
    kit.core.api.readGenerations.page(accountId, request, UNKEPT);

  it("are pages, the newest first, with their tracks once they completed", async () => {
    const ids: JobId[] = [];
    for (let count = 0; count < 3; count++) {
      ids.unshift(await kit.accept());
      await kit.clock.advance(1);
    }
    await kit.start();
    const late = await kit.accept();
    const { items, next } = await page();
    expect(items.map(({ job: { id, status }, tracks }) => [id, status, tracks.length])).to.deep.equal([
      [late, "queued", 0],
      ...ids.map((id) => [id, "completed", 1]),
    ]);
    expect(next).to.equal(null);
    const first = await page({ limit: 3 });
    expect(first.items.map(({ job }) => job.id)).to.deep.equal([late, ...ids.slice(0, 2)]);
    const rest = await page({ limit: 3, cursor: first.next ?? undefined });
    expect(rest.items.map(({ job, tracks }) => [job.id, tracks.length])).to.deep.equal([[ids[2], 1]]);
    const { id: other } = await kit.storage.addAccount();
    expect(await page({}, other)).to.deep.equal({ items: [], next: null });
    expect(await failure(page({ cursor: first.next ?? undefined }, other))).to.be.instanceOf(InvalidRequestError);
  });

  it("have 20 on a page where no limit is given, and no split", async () => {
    const jobs = Array.from({ length: 22 }, (_, index) => aJob({ accountId: kit.accountId, createdAt: index }));
    const split = aJob({ accountId: kit.accountId, kind: "stem_split", createdAt: 99 });
    await kit.storage.inTransaction((tx) => kit.storage.jobs.insertJobs(tx, [...jobs, split]));
    const newest = jobs.toReversed().map(({ id }) => id);
    const first = await page();
    expect(first.items.map(({ job }) => job.id)).to.deep.equal(newest.slice(0, 20));
    const rest = await page({ cursor: first.next ?? undefined });
    expect(rest.items.map(({ job }) => job.id)).to.deep.equal(newest.slice(20));
    expect((await page({ limit: 50 })).items).to.have.length(22);
  });

  it("are single generations of its own", async () => {
    const id = await kit.accept();
    const { readGenerations: read } = kit.core.api;
    expect(await read.get(kit.accountId, id, UNKEPT)).to.deep.include({ tracks: [] });
    await kit.start();
    const shown = await read.get(kit.accountId, id, UNKEPT);
    expect([shown.job.status, shown.tracks.length]).to.deep.equal(["completed", 1]);
    const split = aJob({ accountId: kit.accountId, kind: "stem_split" });
    await kit.storage.inTransaction((tx) => kit.storage.jobs.insertJobs(tx, [split]));
    for (const [account, unknown] of [
      [anId("acct"), id],
      [kit.accountId, anId("job")],
      [kit.accountId, "nonsense"],
      [kit.accountId, split.id],
    ] as const)
      expect(await failure(read.get(account, unknown, UNKEPT))).to.be.instanceOf(JobNotFoundError);
  });

  it("are kept in their form until something of them changes that is shown", async () => {
    const { readGenerations: read } = kit.core.api;
    const kept = new Map<string, string>();
    let made = 0;
    const forms: GenerationForms<string> = {
      kept: (states) => states.map(({ id: jobId, version }) => kept.get(`${jobId} ${version}`)),
      of: ({ job: { id: jobId, status } }, version) => {
        const form = `${status}, form ${++made}`;
        if (version !== null) kept.set(`${jobId} ${version}`, form);
        return form;
      },
    };
    const both = async (): Promise<unknown[]> => {
      const { items } = await read.page(kit.accountId, {}, forms);
      return [...items, await read.get(kit.accountId, id, forms)];
    };
    const id = await kit.accept();
    expect(await both()).to.deep.equal(["queued, form 1", "queued, form 1"]);
    await kit.start();
    expect(await both()).to.deep.equal(["completed, form 2", "completed, form 2"]);
    expect(await both()).to.deep.equal(["completed, form 2", "completed, form 2"]);
    const [track] = (await read.get(kit.accountId, id, UNKEPT)).tracks as [ShownTrack];
    const change = (work: (tx: Transaction) => Promise<unknown>): Promise<unknown> => kit.storage.inTransaction(work);
    await change((tx) => kit.storage.library.shareTrack(tx, track.id, "token"));
    expect(await both()).to.deep.equal(["completed, form 3", "completed, form 3"]);
    await change((tx) => kit.storage.library.unshareTrack(tx, track.id));
    expect(await both()).to.deep.equal(["completed, form 4", "completed, form 4"]);
    await change((tx) => kit.storage.erasures.eraseTrack(tx, track.id, kit.clock.now()));
    expect(await both()).to.deep.equal(["completed, form 5", "completed, form 5"]);
    const fence = (await read.find(id))?.job.fence ?? 0;
    const refunded = [{ id, fence, changes: { creditsCharged: 0 } }];
    await change((tx) => kit.storage.jobs.updateJobs(tx, refunded));
    expect(await both()).to.deep.equal(["completed, form 6", "completed, form 6"]);
  });

  it("are jobs of any kind, with the files that they have", async () => {
    const { readGenerations: read } = kit.core.api;
    const id = await kit.accept();
    await kit.start();
    const split = aJob({ accountId: kit.accountId, kind: "stem_split", status: "completed" });
    const failed = aJob({ accountId: kit.accountId, kind: "stem_split", status: "failed" });
    const output = { label: "drums", audioKey: "a/b.wav", contentType: "audio/wav", sizeBytes: 1, durationSeconds: 1 };
    await kit.storage.inTransaction(async (tx) => {
      await kit.storage.jobs.insertJobs(tx, [split, failed]);
      await kit.storage.jobs.insertOutputs(
        tx,
        [split, failed].map((job) => ({ jobId: job.id, outputs: [output] })),
      );
      await kit.storage.library.insertTracks(tx, [aTrack({ accountId: kit.accountId, jobId: split.id })]);
    });
    const music = await read.getJob(kit.accountId, id);
    expect([music.job.id, music.tracks.length, music.outputs]).to.deep.equal([id, 1, []]);
    const stems = await read.getJob(kit.accountId, split.id);
    expect([stems.tracks, stems.outputs]).to.deep.equal([[], [output]]);
    expect((await read.getJob(kit.accountId, failed.id)).outputs).to.deep.equal([]);
    expect(await failure(read.getJob(anId("acct"), id))).to.be.instanceOf(JobNotFoundError);
    expect(await failure(read.getJob(kit.accountId, "nonsense"))).to.be.instanceOf(JobNotFoundError);
    const all = await read.withTracks([music.job, stems.job, (await read.find(failed.id))?.job ?? music.job]);
    expect(all.map(({ tracks, outputs }) => [tracks.length, outputs.length])).to.deep.equal([
      [1, 0],
      [0, 1],
      [0, 0],
    ]);
  });
});

describe("Following a job", () => {
  let kit: MemoryWorkers;
  let updates: JobUpdate[];
  beforeEach(async () => {
    kit = await memoryWorkers({ options: { followedJobsPerAccount: 2 } });
    kit.provider.behaviour = submitAccepts(2_000);
    updates = [];
  });
  const never = new AbortController().signal;
  const follow = (id: string, after: string | null = null, signal = never) =>
    kit.core.api.followJobs.follow(kit.accountId, id, after, signal);
  /** Reads updates as they come. */
  async function read(id: string, after: string | null = null, signal = never): Promise<Promise<void>> {
    const following = await follow(id, after, signal);
    return (async () => {
      for await (const update of following ?? []) updates.push(update);
    })();
  }
  const events = (): string[] => updates.flatMap((one) => (one.type === "event" ? [one.event.type] : []));

  it("shows what happened and where it stands, whenever that changes, to its end", async () => {
    const id = await kit.accept();
    const done = read(id);
    await kit.pass();
    expect(updates.map(({ type }) => type)).to.deep.equal(["event", "outlook"]);
    await kit.start();
    await kit.pass(10_000);
    await done;
    expect(updates.at(-1)).to.have.nested.property("found.job.status", "completed");
    expect(updates.at(-1)?.type).to.equal("ended");
    const seen = updates.flatMap((one) => (one.type === "event" ? [one.event.id] : []));
    expect(new Set(seen).size).to.equal(seen.length);
    expect(events()[0]).to.equal("accepted");
    expect(events().at(-1)).to.equal("completed");
  });

  it("begins behind the event that the account has", async () => {
    const id = await kit.accept();
    await kit.start();
    await kit.pass(10_000);
    await read(id);
    const all = updates.flatMap((one) => (one.type === "event" ? [one.event.id] : []));
    const middle = all[1] ?? "";
    updates = [];
    await read(id, middle);
    expect(updates.flatMap((one) => (one.type === "event" ? [one.event.id] : []))).to.deep.equal(all.slice(2));
    updates = [];
    await read(id, "unknown");
    expect(updates.flatMap((one) => (one.type === "event" ? [one.event.id] : []))).to.deep.equal(all);
    expect(await follow(id, "completed")).to.equal(null);
  });

  it("is of an account's own jobs, and of so many at once", async () => {
    const ids = [await kit.accept(), await kit.accept(), await kit.accept()];
    const stopping = new AbortController();
    const reading = [read(ids[0] ?? "", null, stopping.signal), read(ids[1] ?? "", null, stopping.signal)];
    await kit.pass();
    expect(await failure(follow(ids[2] ?? ""))).to.be.instanceOf(RateLimitedError);
    stopping.abort();
    await Promise.all(reading);
    expect(await follow(ids[2] ?? "")).not.to.equal(null);
    for (const unknown of [anId("job"), "nonsense"])
      expect(await failure(follow(unknown))).to.be.instanceOf(JobNotFoundError);
    const theirs = kit.core.api.followJobs.follow(anId("acct"), ids[0] ?? "", null, never);
    expect(await failure(theirs)).to.be.instanceOf(JobNotFoundError);
  });
});

import { expect } from "chai";
import type { JobId, TrackId } from "../../../core/ids.js";
import type { Job, JobOutput } from "../../../core/jobs/job.js";
import type { JobStore } from "../../../core/ports/job-store.js";
import { aJob, aJobRequest, anId, NOON } from "../../support/builders.js";
import { ended, jobStoreKit, type OpenedJobs } from "./kit.js";

export function endedJobs(opened: OpenedJobs): void {
  const { add, update } = jobStoreKit(opened);

  describe("ends", () => {
    const hasEnded = (completedAt: number, overrides: Partial<Job> = {}): Job =>
      aJob({ ...ended("completed"), completedAt, ...overrides });
    /** The number up to which all ends of earlier tests are numbered. */
    async function numbered(): Promise<number> {
      while ((await opened().jobs.numberEnds(100)) > 0);
      return opened().jobs.lastEndNumber();
    }
    async function idsAfter(number: number, limit = 100): Promise<JobId[]> {
      return (await opened().jobs.listEnds(number, limit)).map(({ job }) => job.id);
    }

    it("are numbered once, by moment and id, and listed whole by their numbers", async () => {
      const last = await numbered();
      const tied = [hasEnded(NOON + 2), hasEnded(NOON + 2, ended("failed"))].sort((a, b) => (a.id < b.id ? -1 : 1));
      const [first, third] = [hasEnded(NOON + 1), hasEnded(NOON + 3)];
      const inOrder = [first, ...tied.map((job) => ({ ...job, completedAt: NOON + 2 })), third];
      await add(...[...inOrder].reverse(), aJob({ ...ended("queued") }), aJob({ ...ended("processing") }));
      expect(await opened().jobs.numberEnds(3)).to.equal(3);
      expect(await opened().jobs.numberEnds(3)).to.equal(1);
      expect(await opened().jobs.numberEnds(3)).to.equal(0);
      expect(await opened().jobs.lastEndNumber()).to.equal(last + 4);
      expect(await opened().jobs.listEnds(last, 10)).to.deep.equal(
        inOrder.map((job, index) => ({ number: last + index + 1, job })),
      );
      expect(await idsAfter(last + 1, 2)).to.deep.equal(inOrder.slice(1, 3).map(({ id }) => id));
      expect(await idsAfter(last + 4)).to.deep.equal([]);
    });

    it("that are committed later get higher numbers, whatever their moments", async () => {
      const last = await numbered();
      const [late, early] = [hasEnded(NOON + 9), hasEnded(NOON + 1)];
      await add(late);
      await opened().jobs.numberEnds(10);
      await add(early);
      await opened().jobs.numberEnds(10);
      expect(await idsAfter(last)).to.deep.equal([late.id, early.id]);
    });

    it("get each number once from several calls at the same time", async () => {
      const last = await numbered();
      const jobs = Array.from({ length: 30 }, (_, index) => hasEnded(NOON + index));
      await add(...jobs);
      const given = await Promise.all(Array.from({ length: 4 }, () => opened().jobs.numberEnds(30)));
      expect(given.reduce((sum, count) => sum + count)).to.equal(30);
      const ends = await opened().jobs.listEnds(last, 100);
      expect(ends.map(({ number }) => number)).to.deep.equal(jobs.map((_, index) => last + 1 + index));
      expect(new Set(ends.map(({ job }) => job.id))).to.deep.equal(new Set(jobs.map(({ id }) => id)));
    });

    it("since a moment begin behind the number before the first of them", async () => {
      const last = await numbered();
      const later = NOON + 1_000_000;
      expect(await opened().jobs.endNumberBefore(later)).to.equal(last);
      await add(hasEnded(later - 1), hasEnded(later), hasEnded(later + 1));
      await opened().jobs.numberEnds(10);
      expect(await opened().jobs.endNumberBefore(later)).to.equal(last + 1);
      expect(await opened().jobs.endNumberBefore(later + 2)).to.equal(last + 3);
    });
  });

  describe("outputs", () => {
    const addOutputs = (...created: Parameters<JobStore["insertOutputs"]>[1]): Promise<void> =>
      opened().inTransaction((tx) => opened().jobs.insertOutputs(tx, created));
    const anOutput = (label: string, durationSeconds: number | null = 2.5): JobOutput => ({
      label,
      audioKey: `${anId("job")}/1/0-stem.wav`,
      contentType: "audio/wav",
      sizeBytes: 0,
      durationSeconds,
    });

    it("are stored whole, in order, by job", async () => {
      const [one, other, none] = [anId("job"), anId("job"), anId("job")];
      const outputs = [anOutput("vocals"), anOutput("ö 🎼", null), anOutput("drums")];
      const others = [anOutput("vocals")];
      await addOutputs({ jobId: one, outputs }, { jobId: other, outputs: others });
      expect(await opened().jobs.outputsOf([none, other, one])).to.deep.equal(
        new Map([
          [other, others],
          [one, outputs],
        ]),
      );
    });

    it("of a job are written once", async () => {
      const created = { jobId: anId("job"), outputs: [anOutput("vocals")] };
      await addOutputs(created);
      expect(await addOutputs(created).catch((error: unknown) => error)).to.be.instanceOf(Error);
    });
  });

  describe("jobs that work from a track", () => {
    const from = (trackId: TrackId, overrides: Partial<Job> = {}): Job =>
      aJob({ request: aJobRequest({ sourceTrackId: trackId }), ...overrides });
    const split = { kind: "stem_split", operation: "stem_split" } as const;
    const ended = { status: "completed", phase: "ended", dueAt: null, completedAt: NOON } as const;

    it("are found while they are queued or processing, of any account", async () => {
      const trackId = anId("trk");
      const live = (): Promise<Pick<Job, "id" | "accountId"> | null> =>
        opened().inTransaction((tx) => opened().jobs.liveJobFrom(tx, trackId));
      const job = from(trackId, split);
      await add(from(trackId, ended), from(anId("trk")), aJob());
      expect(await live()).to.equal(null);
      await add(job);
      expect(await live()).to.deep.equal({ id: job.id, accountId: job.accountId });
      await update({ id: job.id, fence: job.fence, changes: { status: "processing", phase: "rendering" } });
      expect(await live()).to.deep.equal({ id: job.id, accountId: job.accountId });
      await update({ id: job.id, fence: job.fence, changes: ended });
      expect(await live()).to.equal(null);
    });

    it("lose the outputs of an account's splits, and no others", async () => {
      const [trackId, accountId] = [anId("trk"), anId("acct")];
      const [one, two, music, foreign, unrelated] = [
        from(trackId, { ...split, ...ended, accountId }),
        from(trackId, { ...split, ...ended, accountId, kind: "vocal_removal" }),
        from(trackId, { ...ended, accountId }),
        from(trackId, { ...split, ...ended }),
        from(anId("trk"), { ...split, ...ended, accountId }),
      ];
      const all = [one, two, music, foreign, unrelated];
      const output = { label: "vocals", contentType: "audio/wav", sizeBytes: 1, durationSeconds: null };
      const outputOf = ({ id }: Job): JobOutput => ({ ...output, audioKey: `${id}/1/0-vocals.wav` });
      await add(...all);
      await opened().inTransaction((tx) =>
        opened().jobs.insertOutputs(
          tx,
          all.map((job) => ({ jobId: job.id, outputs: [outputOf(job)] })),
        ),
      );
      const remove = (): Promise<JobOutput[]> =>
        opened().inTransaction((tx) => opened().jobs.deleteSplitOutputs(tx, trackId, accountId));
      expect(await remove()).to.have.deep.members([outputOf(one), outputOf(two)]);
      expect(await remove()).to.deep.equal([]);
      const left = await opened().jobs.outputsOf(all.map(({ id }) => id));
      expect([...left.keys()]).to.have.members([music.id, foreign.id, unrelated.id]);
    });
  });
}

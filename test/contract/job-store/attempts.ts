import { expect } from "chai";
import type { Job, JobAttempt } from "../../../core/jobs/job.js";
import type { AttemptUpdate } from "../../../core/ports/job-store.js";
import { aHash, aJob, aJobRequest, anAttempt, anId, aTrack, NOON } from "../../support/builders.js";
import { jobStoreKit, type OpenedJobs } from "./kit.js";

export function jobAttempts(opened: OpenedJobs): void {
  const { add, aProviderId } = jobStoreKit(opened);

  describe("attempts", () => {
    const addAttempts = (...attempts: readonly JobAttempt[]): Promise<void> =>
      opened().inTransaction((tx) => opened().jobs.insertAttempts(tx, attempts));
    const change = (...updates: readonly AttemptUpdate[]): Promise<void> =>
      opened().inTransaction((tx) => opened().jobs.updateAttempts(tx, updates));
    /** With a distinct value for every member. */
    const full = {
      state: "accepted",
      handle: { version: 1, data: { task: "🎧" } },
      result: { state: "completed", tracks: [] },
      files: { tracks: [], outputs: [], missing: ["a cover"] },
      callEndsAt: NOON + 1,
      acceptedAt: NOON + 2,
      finishedAt: NOON + 3,
      deadlineAt: NOON + 4,
      overdueSince: NOON + 5,
      endReportedAt: NOON + 6,
      cancelDueAt: NOON + 7,
      endedAt: NOON + 8,
      outcome: "unavailable",
      message: "503 — “später”",
      cost: { amount: 0.125, unit: "USD" },
      billable: "unknown",
      loss: "deadline",
    } as const satisfies AttemptUpdate["changes"];

    it("store every member and are listed by job in order", async () => {
      const jobId = anId("job");
      const second = anAttempt({ jobId, number: 2, modelId: null });
      const first = anAttempt({ jobId, number: 1, ...full });
      await addAttempts(second, first, anAttempt());
      expect(await opened().jobs.listAttempts(jobId)).to.deep.equal([first, second]);
      expect(await opened().inTransaction((tx) => opened().jobs.attemptsIn(tx, [jobId, anId("job")]))).to.deep.equal(
        new Map([[jobId, [first, second]]]),
      );
      expect(await opened().jobs.listAttempts(anId("job"))).to.deep.equal([]);
    });

    it("store the tracks of stored files with waveform and lyrics", async () => {
      const words = [{ text: "Regen", startSeconds: 0.25, endSeconds: 1 }];
      const waveform = Uint8Array.from({ length: 400 }, (_, index) => index % 256);
      const tracks = [{ ...aTrack({ waveform }), lyrics: { text: "Regen\nauf Blech", words } }, aTrack()];
      const attempt = anAttempt({ files: { tracks, outputs: [], missing: [] } });
      await addAttempts(attempt);
      const [kept] = await opened().jobs.listAttempts(attempt.jobId);
      expect(kept).to.deep.equal(attempt);
      await opened().inTransaction((tx) => opened().library.insertTracks(tx, kept?.files?.tracks ?? []));
      const id = tracks[0]?.id ?? anId("trk");
      expect((await opened().library.findTracks([id])).get(id)?.waveform).to.deep.equal(Buffer.from(waveform));
    });

    it("are updated by number, in the named members only; null clears", async () => {
      const jobId = anId("job");
      const [first, second] = [anAttempt({ jobId }), anAttempt({ jobId, number: 2 })];
      await addAttempts(first, second);
      await change(
        { jobId, number: 2, changes: full },
        { jobId, number: 1, changes: {} },
        { jobId, number: 7, changes: full },
      );
      expect(await opened().jobs.listAttempts(jobId)).to.deep.equal([first, { ...second, ...full }]);
      await change({
        jobId,
        number: 2,
        changes: { deadlineAt: null, handle: null, state: "abandoned", cost: undefined },
      });
      expect(await opened().jobs.listAttempts(jobId)).to.deep.equal([
        first,
        { ...second, ...full, deadlineAt: null, handle: null, state: "abandoned" },
      ]);
    });

    it("are returned with the claim of their job", async () => {
      const job = aJob({ providerId: aProviderId(), phase: "rendering", status: "processing" });
      await add(job);
      const attempt = anAttempt({ jobId: job.id, ...full });
      await addAttempts(attempt);
      const request = {
        providerId: job.providerId,
        phases: ["rendering"],
        limit: 5,
        now: NOON,
        owner: anId("prc"),
        leaseUntil: NOON + 1,
      } as const;
      expect((await opened().jobs.claimJobs(request)).map(({ attempts }) => attempts)).to.deep.equal([[attempt]]);
    });

    it("past their deadline return their jobs, the longest overdue first; closed ones do not", async () => {
      const past = NOON - 2_000_000_000;
      const attempts = [3, 1, 2].map((moment) => anAttempt({ deadlineAt: past + moment }));
      await addAttempts(...attempts, anAttempt({ deadlineAt: past + 9 }), anAttempt({ deadlineAt: null }));
      const found = await opened().jobs.findOverdueAttempts(past + 3, 10);
      expect(found).to.deep.equal([attempts[1]?.jobId, attempts[2]?.jobId, attempts[0]?.jobId]);
      expect(await opened().jobs.findOverdueAttempts(past + 3, 1)).to.deep.equal([attempts[1]?.jobId]);
    });

    it("to be cancelled are claimed when due, the longest due first, and become due again later", async () => {
      const providerId = aHash().slice(0, 8);
      const toCancel = (cancelDueAt: number | null, provider = providerId): JobAttempt =>
        anAttempt({ providerId: provider, state: "abandoned", cancelDueAt });
      const attempts = [3, 1, 2].map((moment) => toCancel(NOON + moment));
      await addAttempts(...attempts, toCancel(NOON + 9), toCancel(null), toCancel(NOON, "another"));
      const claim = (limit: number): Promise<string[]> =>
        opened()
          .jobs.claimCancels(providerId, NOON + 3, NOON + 60, limit)
          .then((claimed) => claimed.map(({ id }) => id));
      expect(await claim(2)).to.deep.equal([attempts[1]?.id, attempts[2]?.id]);
      expect(await claim(9)).to.deep.equal([attempts[0]?.id]);
      expect(await claim(9)).to.deep.equal([]);
      expect((await opened().jobs.claimCancels(providerId, NOON + 60, NOON + 90, 9)).length).to.equal(4);
    });

    it("that are finished return their durations, the last first", async () => {
      const providerId = aHash().slice(0, 8);
      const rendered = (finishedAt: number, acceptedAt: number | null, modelId = "a/b"): JobAttempt =>
        anAttempt({ providerId, modelId, state: "settled", startedAt: NOON, acceptedAt, finishedAt });
      const [long, free] = [30, null].map((durationSeconds) => aJob({ request: aJobRequest({ durationSeconds }) }));
      await add(long as Job, free as Job);
      await addAttempts(
        { ...rendered(NOON + 30, NOON + 10), jobId: (long as Job).id },
        { ...rendered(NOON + 50, NOON + 50), jobId: (free as Job).id },
        rendered(NOON + 90, NOON + 5, "c/d"),
        anAttempt({ providerId, modelId: "a/b" }),
      );
      const times = [
        { ms: 50, lengthSeconds: null },
        { ms: 20, lengthSeconds: 30 },
      ];
      expect(await opened().jobs.renderTimes(providerId, "a/b", 10)).to.deep.equal(times);
      expect(await opened().jobs.renderTimes(providerId, "a/b", 1)).to.deep.equal(times.slice(0, 1));
      expect(await opened().jobs.renderTimes(providerId, "e/f", 1)).to.deep.equal([]);
    });

    it("are refused with a number that exists", async () => {
      const attempt = anAttempt();
      await addAttempts(attempt);
      const outcome = addAttempts(anAttempt({ jobId: attempt.jobId, number: 1 }));
      expect(await outcome.catch((error: unknown) => error)).to.be.instanceOf(Error);
      expect(await opened().jobs.listAttempts(attempt.jobId)).to.deep.equal([attempt]);
    });
  });
}

import { expect } from "chai";
import type { Job, JobAttempt } from "../../../../core/jobs/job.js";
import { type JobOutlook, Outlooks } from "../../../../core/providers/outlook.js";
import { aJob, aJobRequest, anAttempt, anId, NOON } from "../../../support/builders.js";
import { ManualClock } from "../../../support/doubles/manual-clock.js";

const LENGTH = 30;
const USUAL_MS = 20_000;
const NOTHING: JobOutlook = {
  state: "ended",
  waitingBefore: null,
  percent: null,
  queuePosition: null,
  startsAt: null,
  endsAt: null,
};

interface Given {
  readonly job?: Partial<Job>;
  readonly attempt?: Partial<JobAttempt>;
  readonly beginsInMs?: number | null;
  readonly usualMs?: number | null;
}

const RENDERING = { status: "processing", phase: "rendering", attempt: 1 } as const;
const ACCEPTED = { state: "accepted", acceptedAt: NOON - 5_000, startedAt: NOON - 6_000 } as const;

describe("The outlook of a job", () => {
  async function outlookOf({ job = {}, attempt, beginsInMs = 0, usualMs = USUAL_MS }: Given): Promise<JobOutlook> {
    const clock = new ManualClock(NOON);
    const outlooks = new Outlooks({
      clock,
      jobs: { countWaitingBefore: (_provider, dueAt) => Promise.resolve(dueAt === NOON ? 4 : 0) },
      backlog: { beginsInMs: (_route, waiting) => Promise.resolve(waiting === 4 ? beginsInMs : 0) },
      renderTimes: {
        usualMs: (_provider, model, length) =>
          Promise.resolve(model === "synth/v1" && length === LENGTH ? usualMs : null),
      },
    });
    const request = aJobRequest({ durationSeconds: LENGTH });
    const of = aJob({ servedModelId: "synth/v1", dueAt: NOON, createdAt: NOON, request, ...job });
    return outlooks.of(of, attempt === undefined ? [] : [anAttempt({ jobId: of.id, ...attempt })]);
  }

  const CASES: readonly (readonly [string, Given, Partial<JobOutlook>])[] = [
    ["of one that ended is none", { job: { status: "completed", phase: "ended", dueAt: null } }, {}],
    [
      "of one that waits is by those before it",
      { beginsInMs: 8_000 },
      { state: "waiting", waitingBefore: 4, startsAt: NOON + 8_000, endsAt: NOON + 28_000 },
    ],
    ["of one whose turn is not known has no moments", { beginsInMs: null }, { state: "waiting", waitingBefore: 4 }],
    [
      "of one that is tried again later begins no earlier than that",
      { job: { attempt: 1, dueAt: NOON + 9_000 } },
      { state: "retrying", waitingBefore: 0, startsAt: NOON + 9_000, endsAt: NOON + 29_000 },
    ],
    [
      "of one that a worker is about to submit is that it begins now",
      { job: { attempt: 1, dueAt: NOON + 30_000, leaseOwner: anId("prc"), status: "processing" } },
      { state: "waiting", waitingBefore: 0, startsAt: NOON, endsAt: NOON + USUAL_MS },
    ],
    [
      "of one that is submitted counts from the call",
      { job: { ...RENDERING, phase: "submitting" }, attempt: { state: "intended", startedAt: NOON - 1_000 } },
      { state: "submitting", endsAt: NOON + 19_000 },
    ],
    [
      "of one that renders counts from its acceptance",
      { job: RENDERING, attempt: ACCEPTED },
      { state: "rendering", endsAt: NOON + 15_000 },
    ],
    [
      "of one that renders is by what its provider says, where it says enough",
      { job: RENDERING, attempt: { ...ACCEPTED, progress: { percent: 20, queuePosition: null, at: NOON - 1_000 } } },
      { state: "rendering", percent: 20, endsAt: NOON + 15_000 },
    ],
    [
      "of one that has hardly begun is by the usual time",
      { job: RENDERING, attempt: { ...ACCEPTED, progress: { percent: 1, queuePosition: 2, at: NOON } } },
      { state: "rendering", percent: 1, queuePosition: 2, endsAt: NOON + 15_000 },
    ],
    [
      "of one that takes longer than usual has no end",
      { job: RENDERING, attempt: ACCEPTED, usualMs: 5_000 },
      { state: "rendering" },
    ],
    [
      "of one whose model has no past has no end",
      { job: RENDERING, attempt: ACCEPTED, usualMs: null },
      { state: "rendering" },
    ],
    [
      "of a split has no end",
      { job: { ...RENDERING, servedModelId: null }, attempt: ACCEPTED },
      { state: "rendering" },
    ],
  ];
  for (const [what, given, expected] of CASES) {
    it(what, async () => {
      expect(await outlookOf(given)).to.deep.equal({ ...NOTHING, ...expected });
    });
  }
});

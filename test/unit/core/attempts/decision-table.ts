import { expect } from "chai";
import { decide } from "../../../../core/attempts/decide.js";
import type { ExecutionEvent } from "../../../../core/attempts/events.js";
import { phaseOf } from "../../../../core/attempts/attempt-states.js";
import type { ExecutionPolicy } from "../../../../core/attempts/policy.js";
import type { Transition } from "../../../../core/attempts/transition.js";
import type { Job, JobAttempt, JobState } from "../../../../core/jobs/job.js";
import type { AttemptChanges } from "../../../../core/ports/job-store.js";
import { ProviderFailure, type Completed, type ProviderFailureKind } from "../../../../core/ports/music-provider.js";
import type { Route } from "../../../../core/providers/routes.js";
import { aJob, anAttempt, anId, NOON } from "../../../support/builders.js";
import { A_POLICY, someFiles } from "../../../support/reports.js";

const SECOND = 1_000;
const MINUTE = 60 * SECOND;

/** When the first lease of these jobs ends. */
export const LEASE_MS = 30 * SECOND;
export const FENCE = 3;
export const HANDLE = { version: 1, data: { task: "t1" } } as const;
export const A_LINK: Completed = {
  state: "completed",
  tracks: [
    {
      title: "Rain",
      bpm: null,
      tags: { mood: [], activity: [], genre: [], other: [] },
      assets: [
        {
          role: "mix",
          label: "full",
          contentType: "audio/mpeg",
          durationSeconds: 30,
          source: { kind: "url", url: "https://files.example/a.mp3" },
        },
      ],
    },
  ],
};
export const A_ROUTE: Route = { providerId: "other", servedModelId: "other/v1", operation: "music_other_full" };
/** A provider that can be asked to cancel, and no more. */
export const POLICY: ExecutionPolicy = { ...A_POLICY, capabilities: { ...A_POLICY.capabilities, cancel: true } };
/** A provider that creates one result per job, however often it is submitted. */
export const IDEMPOTENT: ExecutionPolicy = {
  ...POLICY,
  capabilities: { ...POLICY.capabilities, idempotentSubmit: true },
};
export const WITH_LOOKUP: ExecutionPolicy = { ...POLICY, capabilities: { ...POLICY.capabilities, lookup: true } };

const intendedAt = NOON - MINUTE;
const waits = { startedAt: intendedAt, callEndsAt: NOON + MINUTE, deadlineAt: NOON + 9 * MINUTE };
const taken = {
  ...waits,
  acceptedAt: NOON - 30 * SECOND,
  deadlineAt: NOON + 59 * MINUTE,
  handle: HANDLE,
  outcome: "accepted",
  billable: "unknown",
} as const;
const justNow = NOON - SECOND;
const created = { ...taken, finishedAt: justNow, outcome: "completed", billable: "yes", endedAt: justNow } as const;
const over = { startedAt: intendedAt, callEndsAt: NOON + MINUTE, endedAt: NOON - SECOND } as const;

/** An attempt in each state; a finished one with its result behind a link, or in the memory of the worker alone. */
export const ATTEMPTS = {
  intended: { state: "intended", ...waits },
  unknown: { state: "unknown", ...waits, outcome: "outcome_unknown", billable: "unknown", endedAt: NOON - SECOND },
  accepted: { state: "accepted", ...taken },
  finished: { state: "finished", ...created, result: A_LINK },
  "in memory": { state: "finished", ...created, handle: null, result: null },
  stored: { state: "stored", ...created, files: someFiles({ id: anId("job"), accountId: anId("acct"), fence: FENCE }) },
  refused: { state: "refused", ...over, outcome: "unavailable", billable: "no" },
  failed: { state: "failed", ...over, outcome: "timeout", billable: "unknown", loss: "provider_failed" },
  abandoned: { state: "abandoned", ...over, outcome: "outcome_unknown", billable: "unknown", loss: "unknown" },
  settled: { ...created, state: "settled", deadlineAt: null, handle: null },
} as const satisfies Readonly<Record<string, Partial<JobAttempt>>>;

/** What a job under way has: no attempt, or one in this state. */
export const LIVE = [
  "none",
  "intended",
  "unknown",
  "accepted",
  "finished",
  "in memory",
  "stored",
  "refused",
  "failed",
  "abandoned",
] as const;
export const ENDED = ["none", "refused", "failed", "abandoned", "settled"] as const;
export type Has = (typeof LIVE)[number] | (typeof ENDED)[number];

/** Who has the lease: the reporter, another worker, or none. */
export const LEASES = ["reporter", "another", "none"] as const;
export type LeaseHeld = (typeof LEASES)[number];

export interface Before {
  readonly job: Job;
  readonly attempts: readonly JobAttempt[];
}

export function attemptsOf(job: Pick<JobState, "id">, states: readonly Partial<JobAttempt>[]): JobAttempt[] {
  return states.map((state, index) => anAttempt({ jobId: job.id, number: index + 1, ...state }));
}

/** A live job with these attempts, as it is while the lease is held so. */
export function liveJob(states: readonly Partial<JobAttempt>[], held: LeaseHeld, changes: Partial<Job> = {}): Before {
  const id = anId("job");
  const attempts = attemptsOf({ id }, states);
  const phase = phaseOf(attempts);
  const job = aJob({
    id,
    createdAt: NOON - 2 * MINUTE,
    phase,
    status: phase === "waiting" && held === "none" ? "queued" : "processing",
    attempt: attempts.length,
    fence: FENCE,
    leaseOwner: held === "none" ? null : anId("prc"),
    dueAt: NOON + LEASE_MS,
    ...changes,
  });
  return { job, attempts };
}

/** A job that has ended: completed with its settled attempt, or failed. */
export function endedJob(states: readonly Partial<JobAttempt>[]): Before {
  const status = states.some(({ state }) => state === "settled") ? "completed" : "failed";
  const end = { status, phase: "ended", dueAt: null, completedAt: NOON - 1, endedBy: "rpt_1" } as const;
  return liveJob(states, "none", { ...end, fence: FENCE + 1 });
}

/** What decide makes of an event. A reporter without the lease had it under an older fence. */
export function decided(
  { job, attempts }: Before,
  held: LeaseHeld,
  event: ExecutionEvent,
  policy = POLICY,
  now = NOON,
): Transition {
  const fence = held === "reporter" ? job.fence : FENCE - 1;
  const isOverruling = ["cancel_requested", "cancel_reported", "cancelled", "deadline"].includes(event.type);
  return decide(job, attempts, { event, fence: isOverruling ? null : fence, policy }, now);
}

export function aFailure(kind: ProviderFailureKind, providerCode?: string): ProviderFailure {
  return new ProviderFailure(kind, `scripted: ${kind}`, { providerCode });
}

/**
 * A transition in one line: what the reporter does next; what becomes of attempt 1 and of the others; the phase and the
 * status where they change; whether the lease is released; how many seconds after noon the job is due; what is counted;
 * how the job ends.
 */
export function summaryOf({ job }: Before, transition: Transition): string {
  const { next, job: changes, attempts, newAttempt, ending, notify } = transition;
  const of = attempts.map(({ number, changes: changed }) => {
    const summary = attemptSummary(changed);
    return number === 1 ? summary : `#${number} ${summary}`;
  });
  const added = newAttempt === null ? [] : [`#${newAttempt.number} ${newAttempt.state}`];
  const { phase, status, leaseOwner, dueAt, crashes, collectionsBegun, refusals, providerId } = changes;
  const said = [
    ...of,
    ...added,
    phase === undefined || phase === job.phase ? null : phase,
    status === undefined || status === job.status ? null : status,
    leaseOwner === null ? "free" : null,
    dueAt === undefined || dueAt === null ? null : `due ${(dueAt - NOON) / SECOND}`,
    crashes === undefined ? null : `crashes ${crashes}`,
    collectionsBegun === undefined ? null : `begun ${collectionsBegun}`,
    refusals === undefined || refusals === job.refusals ? null : `refusals ${refusals}`,
    providerId === undefined ? null : `to ${providerId}`,
    typeof changes.cancelRequestedAt === "number" ? "wanted no more" : null,
    notify === null ? null : "notify",
    ending === null ? null : ending.status === "completed" ? "completes" : `fails ${ending.error.code}`,
  ].filter((one) => one !== null);
  return said.length === 0 ? next : `${next}: ${said.join(", ")}`;
}

function attemptSummary(all: AttemptChanges): string {
  if (Object.keys(all).join() !== "cancelDueAt") return movedSummary(all);
  return all.cancelDueAt === null ? "not asked again to cancel" : "asked to cancel";
}

function movedSummary({ state, loss, cancelDueAt, endReportedAt, overdueSince, ...changes }: AttemptChanges): string {
  const words = [
    ...(state === undefined ? [] : [state]),
    ...(typeof endReportedAt === "number" ? ["doubted"] : []),
    ...(typeof overdueSince === "number" ? ["overdue"] : []),
  ];
  const said = typeof changes.message === "string" ? "trouble noted" : "no doubts";
  const rest = "handle" in changes ? "another handle" : said;
  const why = typeof loss === "string" ? ` as ${loss}` : "";
  const cancel = typeof cancelDueAt === "number" ? " and cancelled upstream" : "";
  return `${words.length === 0 ? rest : words.join(" ")}${why}${cancel}`;
}

/** One line where it does not matter who has the lease, else one each: the reporter, another worker, none. */
export type Expected = string | readonly [reporter: string, another: string, none: string];

/** What counts only for the worker that has the lease. */
export function byHolder(line: string): Expected {
  return [line, "stale", "stale"];
}

/**
 * What an event makes of a job with one attempt, by the attempt's state; states with the same line share it. `others`:
 * all that are not named.
 */
export interface DecisionTable {
  readonly title: string;
  readonly event: ExecutionEvent;
  readonly policy?: ExecutionPolicy;
  readonly now?: number;
  readonly expected: Readonly<Record<string, Expected>>;
}

/** Tests each line of the tables, for each of these states. */
export function testTables(
  tables: readonly DecisionTable[],
  states: readonly Has[],
  before: (has: Has, held: LeaseHeld) => Before,
): void {
  for (const { title, event, policy, now, expected } of tables) {
    describe(title, () => {
      const { others, ...named } = expected;
      const lines = new Map<string, Expected>();
      for (const [key, line] of Object.entries(named)) for (const has of key.split(", ")) lines.set(has, line);

      it("is decided for each state of an attempt", () => {
        const isComplete = others !== undefined || states.every((has) => lines.has(has));
        expect([isComplete, [...lines.keys()].filter((has) => !states.includes(has as Has))]).to.deep.equal([true, []]);
      });
      for (const has of states) {
        const line = lines.get(has) ?? others ?? "";
        it(`${has}: ${typeof line === "string" ? line : line.join(" | ")}`, () => {
          const actual = LEASES.map((held) => {
            const situation = before(has, held);
            return summaryOf(situation, decided(situation, held, event, policy, now));
          });
          expect(actual).to.deep.equal(typeof line === "string" ? [line, line, line] : line);
        });
      }
    });
  }
}

/** One event of each type. */
export const EVENTS: { readonly [Type in ExecutionEvent["type"]]: Extract<ExecutionEvent, { type: Type }> } = {
  intended: { type: "intended", attemptId: anId("att"), number: 2, callEndsAt: NOON + MINUTE, usualRenderMs: null },
  not_called: { type: "not_called", number: 1, message: "The process stops." },
  accepted: { type: "accepted", number: 1, handle: HANDLE, nextPollMs: 5_000 },
  submission_failed: {
    type: "submission_failed",
    number: 1,
    failure: aFailure("failed"),
    fallback: null,
    isAborted: false,
  },
  absent: { type: "absent", number: 1, fallback: null },
  unresolved: { type: "unresolved", number: 1, callbacksRead: [] },
  unbuildable: { type: "unbuildable", failure: aFailure("invalid_input") },
  moved: { type: "moved", route: A_ROUTE },
  running: { type: "running", number: 1, nextPollMs: 5_000, handle: null, callbacksRead: [] },
  poll_failed: { type: "poll_failed", number: 1, failure: aFailure("failed", "E1"), source: "poll", callbacksRead: [] },
  finished: { type: "finished", number: 1, result: A_LINK, cost: null },
  files_stored: { type: "files_stored", number: 1, files: ATTEMPTS.stored.files, cost: null },
  files_kept: { type: "files_kept", number: 1, files: ATTEMPTS.stored.files },
  files_unavailable: { type: "files_unavailable", number: 1, failure: null, again: "nowhere", cost: null },
  suspected: { type: "suspected", wasLost: true },
  collecting: { type: "collecting" },
  crashed: { type: "crashed" },
  released: { type: "released", afterMs: 5_000 },
  cancel_requested: { type: "cancel_requested" },
  cancel_reported: { type: "cancel_reported", number: 1, outcome: "cancelled" },
  cancelled: { type: "cancelled" },
  deadline: { type: "deadline" },
};

export function statesOf(has: Has): Partial<JobAttempt>[] {
  return has === "none" ? [] : [ATTEMPTS[has]];
}

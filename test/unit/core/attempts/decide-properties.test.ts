import { expect } from "chai";
import fc from "fast-check";
import { ATTEMPT_MOVES, isOpen } from "../../../../core/attempts/attempt-states.js";
import { decide } from "../../../../core/attempts/decide.js";
import type { ExecutionEvent } from "../../../../core/attempts/events.js";
import type { ExecutionPolicy } from "../../../../core/attempts/policy.js";
import { type AttemptState, isFinal, type JobAttempt } from "../../../../core/jobs/job.js";
import type { ProviderFailureKind } from "../../../../core/ports/music-provider.js";
import { aJob, anId, NOON } from "../../../support/builders.js";
import { expectSound, type JobAndAttempts, movesOf, written } from "./decision-invariants.js";
import {
  A_LINK,
  A_ROUTE,
  aFailure,
  ATTEMPTS,
  type Before,
  decided,
  ENDED,
  endedJob,
  HANDLE,
  type Has,
  LEASE_MS,
  LEASES,
  LIVE,
  liveJob,
  POLICY,
  statesOf,
} from "./decision-table.js";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const KINDS: readonly ProviderFailureKind[] = [
  "unavailable",
  "rate_limited",
  "timeout",
  "content_rejected",
  "invalid_input",
  "failed",
  "misconfigured",
  "out_of_credit",
  "model_unavailable",
  "outcome_unknown",
  "cancelled",
  "gone",
];

const FILES = ATTEMPTS.stored.files;
const NUMBER = fc.integer({ min: 1, max: 4 });
const FAILURE = fc
  .tuple(fc.constantFrom(...KINDS), fc.constantFrom(undefined, "E1"))
  .map(([kind, code]) => aFailure(kind, code));
/** What a plugin may report, nonsense included. */
const WAIT_MS = fc.oneof(fc.integer({ min: 0, max: HOUR }), fc.constantFrom(Number.NaN, Infinity, -1, 1e300));
const POLICIES: fc.Arbitrary<ExecutionPolicy> = fc
  .record({
    idempotentSubmit: fc.boolean(),
    lookup: fc.boolean(),
    lookupSettlesMs: fc.constantFrom(0, MINUTE),
    cancel: fc.boolean(),
    callbacks: fc.constantFrom("none", "hints", "signed"),
  })
  .map((capabilities) => ({ ...POLICY, capabilities }));

const EVENTS: fc.Arbitrary<ExecutionEvent> = fc.oneof(
  fc.record({ type: fc.constant("not_called" as const), number: NUMBER, message: fc.constant("stopped") }),
  fc.record({
    type: fc.constant("accepted" as const),
    number: NUMBER,
    handle: fc.constant(HANDLE),
    nextPollMs: WAIT_MS,
  }),
  fc.record({
    type: fc.constant("submission_failed" as const),
    number: NUMBER,
    failure: FAILURE,
    fallback: fc.constantFrom(null, null, A_ROUTE),
    isAborted: fc.boolean(),
  }),
  fc.record({ type: fc.constant("absent" as const), number: NUMBER, fallback: fc.constant(null) }),
  fc.record({ type: fc.constant("unresolved" as const), number: NUMBER, callbacksRead: fc.constant([]) }),
  fc.record({ type: fc.constant("unbuildable" as const), failure: FAILURE }),
  fc.record({ type: fc.constant("moved" as const), route: fc.constant(A_ROUTE) }),
  fc.record({
    type: fc.constant("running" as const),
    number: NUMBER,
    nextPollMs: WAIT_MS,
    handle: fc.constantFrom(null, HANDLE),
    callbacksRead: fc.constant([]),
  }),
  fc.record({
    type: fc.constant("poll_failed" as const),
    number: NUMBER,
    failure: fc.option(FAILURE),
    source: fc.constantFrom("poll", "callback"),
    callbacksRead: fc.constant([]),
  }),
  fc.record({
    type: fc.constant("finished" as const),
    number: NUMBER,
    result: fc.constantFrom(null, A_LINK),
    cost: fc.constant(null),
    handle: fc.constantFrom(undefined, HANDLE),
  }),
  fc.record({
    type: fc.constant("files_stored" as const),
    number: NUMBER,
    files: fc.constant(FILES),
    cost: fc.constant(null),
  }),
  fc.record({ type: fc.constant("files_kept" as const), number: NUMBER, files: fc.constant(FILES) }),
  fc.record({
    type: fc.constant("files_unavailable" as const),
    number: NUMBER,
    failure: fc.option(FAILURE),
    again: fc.constantFrom("link", "provider", "nowhere"),
    cost: fc.constant(null),
  }),
  fc.record({ type: fc.constant("suspected" as const), wasLost: fc.boolean() }),
  fc.constantFrom<ExecutionEvent>({ type: "crashed" }, { type: "released", afterMs: 5_000 }),
  fc.constantFrom<ExecutionEvent>({ type: "deadline" }, { type: "deadline" }, { type: "cancelled" }),
  fc.constant({ type: "cancel_requested" as const }),
  fc.record({
    type: fc.constant("cancel_reported" as const),
    number: NUMBER,
    outcome: fc.constantFrom("cancelled", "requested", "too_late", null),
  }),
);

/** What happens to a job: a worker claims it, a worker records an intent, time passes, or something is reported. */
type Happening =
  | { readonly what: "claim" | "intent" }
  | { readonly what: "wait"; readonly ms: number }
  | { readonly what: "report"; readonly event: ExecutionEvent; readonly isLate: boolean };

const HAPPENINGS: fc.Arbitrary<Happening[]> = fc.array(
  fc.oneof(
    { weight: 2, arbitrary: fc.constant<Happening>({ what: "claim" }) },
    { weight: 2, arbitrary: fc.constant<Happening>({ what: "intent" }) },
    { weight: 1, arbitrary: fc.integer({ min: 1, max: 20 * MINUTE }).map((ms): Happening => ({ what: "wait", ms })) },
    {
      weight: 5,
      arbitrary: fc
        .tuple(EVENTS, fc.boolean())
        .map(([event, isLate]): Happening => ({ what: "report", event, isLate })),
    },
  ),
  { maxLength: 40, size: "max" },
);

/** One job in memory: each decision is checked and written. */
class World {
  now = NOON;
  current: JobAndAttempts = { job: aJob(), attempts: [] };
  endings = 0;

  constructor(private readonly policy: ExecutionPolicy) {}

  happen(happening: Happening): void {
    const { job } = this.current;
    if (happening.what === "wait") this.now += happening.ms;
    else if (happening.what === "claim") this.claim();
    else if (happening.what === "report") this.report(happening.event, happening.isLate ? job.fence - 1 : job.fence);
    else {
      const callEndsAt = this.now + MINUTE;
      const attempt = { attemptId: anId("att"), number: job.attempt + 1, callEndsAt, usualRenderMs: null };
      this.report({ type: "intended", ...attempt }, job.fence);
    }
  }

  /** What is said of an attempt is said of one that there is; nothing is reported by workers before the first claim. */
  report(said: ExecutionEvent, fence: number): void {
    const isOverruling = ["cancel_requested", "cancel_reported", "cancelled", "deadline"].includes(said.type);
    if (!isOverruling && this.current.job.fence === 0) return;
    const { job, attempts } = this.current;
    const named = attempts.length > 0 && "number" in said && said.type !== "intended";
    const event = named ? { ...said, number: 1 + (said.number % attempts.length) } : said;
    const report = { event, fence: isOverruling ? null : fence, policy: this.policy };
    const transition = decide(job, attempts, report, this.now);
    expectSound(this.current, transition, this.policy);
    if (transition.ending !== null) this.endings++;
    this.current = written(this.current, transition);
  }

  private claim(): void {
    const { job, attempts } = this.current;
    if (isFinal(job.status)) return;
    this.now = Math.max(this.now, job.dueAt ?? this.now);
    const lease = { fence: job.fence + 1, leaseOwner: anId("prc"), dueAt: this.now + LEASE_MS };
    this.current = { job: { ...job, status: "processing", ...lease }, attempts };
  }
}

describe("decide, whatever is reported, in whatever order", () => {
  it("is sound: moves, phases, losses, moments and endings", () => {
    fc.assert(
      fc.property(POLICIES, HAPPENINGS, (policy, happenings) => {
        const world = new World(policy);
        for (const happening of happenings) world.happen(happening);
        expect(world.endings).to.equal(isFinal(world.current.job.status) ? 1 : 0);
      }),
      { numRuns: 600 },
    );
  });

  it("keeps at most one attempt open at a provider that would create a second result for it", () => {
    fc.assert(
      fc.property(POLICIES, HAPPENINGS, (policy, happenings) => {
        const { capabilities } = policy;
        const world = new World({ ...policy, capabilities: { ...capabilities, idempotentSubmit: false } });
        for (const happening of happenings) {
          world.happen(happening);
          expect(world.current.attempts.filter(isOpen).length).to.be.lessThan(2);
        }
      }),
      { numRuns: 300 },
    );
  });

  it("ends the job once its deadlines are over, although no worker is left", () => {
    fc.assert(
      fc.property(POLICIES, HAPPENINGS, (policy, happenings) => {
        const world = new World(policy);
        for (const happening of happenings) world.happen(happening);
        // A queue's deadline, a render's, and the window of a last poll for each attempt that is still open.
        for (let checks = 0; checks < 40 && world.endings === 0; checks++) {
          world.now += 10 * MINUTE;
          world.report({ type: "deadline" }, 0);
        }
        const settled = world.current.attempts.filter(({ state }) => state === "settled");
        expect([world.endings, settled.length]).to.deep.equal([1, world.current.job.status === "completed" ? 1 : 0]);
      }),
      { numRuns: 300 },
    );
  });
});

describe("The table of an attempt's moves", () => {
  const idempotent = { ...POLICY, capabilities: { ...POLICY.capabilities, idempotentSubmit: true, lookup: true } };

  it("holds each move that some event makes, and no other", () => {
    const created = new Map<AttemptState, Set<AttemptState>>();
    const reported = fc.sample(EVENTS, { numRuns: 400, seed: 12 });
    const events = reported.map((event) => ("number" in event ? { ...event, number: 1 } : event));
    const twoAttempts = (has: Has): Before => liveJob([...statesOf(has), ATTEMPTS.intended], "reporter");
    const situations = [
      ...LIVE.flatMap((has) => LEASES.map((held) => ({ held, before: liveJob(statesOf(has), held) }))),
      ...LIVE.map((has) => ({ held: "reporter" as const, before: twoAttempts(has) })),
      ...ENDED.map((has) => ({ held: "none" as const, before: endedJob(statesOf(has)) })),
    ];
    for (const { held, before } of situations) {
      for (const event of events) {
        for (const policy of [POLICY, idempotent]) {
          for (const move of movesOf(before, decided(before, held, event, policy)))
            note(created, move.before, move.after);
        }
      }
    }
    expect(sorted(Object.fromEntries(created))).to.deep.equal(sorted(ATTEMPT_MOVES));
  });
});

function note(created: Map<AttemptState, Set<AttemptState>>, before: JobAttempt, after: JobAttempt): void {
  created.set(before.state, (created.get(before.state) ?? new Set()).add(after.state));
}

/** States without a move are left out. */
function sorted(moves: Readonly<Record<string, Iterable<AttemptState>>>): Record<string, string[]> {
  const entries = Object.entries(moves).map(([from, to]) => [from, [...to].sort()] as const);
  return Object.fromEntries(entries.filter(([, to]) => to.length > 0));
}

import { expect } from "chai";
import fc from "fast-check";
import type { AccountId } from "../../../core/ids.js";
import type { Job, JobKind, JobStatus } from "../../../core/jobs/job.js";
import type { CreditsQuery, RequestCredits } from "../../../core/ports/request-log-store.js";
import { aJob, aJobRequest, anId, NOON } from "../../support/builders.js";
import type { StorageWith } from "../../support/storage-under-test.js";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const HOUR = NOON - (NOON % HOUR_MS);
const KINDS: readonly JobKind[] = ["music", "stem_split", "vocal_removal"];
const ENDS = [null, "completed", "failed"] as const;

type Storage = Pick<StorageWith<"jobs" | "requestLog">, "jobs" | "requestLog" | "inTransaction">;

/** Moments at, before and after the beginning of hours, and any other. */
const aMoment = (): fc.Arbitrary<number> =>
  fc
    .record({ hours: fc.integer({ min: 0, max: 30 }), ms: fc.oneof(fc.constantFrom(0, -1, 1), fc.nat(HOUR_MS)) })
    .map(({ hours, ms }) => HOUR + hours * HOUR_MS + ms);

interface Fate {
  readonly requestedAt: number | null;
  readonly client: string | null;
  readonly kind: JobKind;
  readonly credits: number;
  /** How it ends while it is looked at; null: it stays alive. */
  readonly end: (typeof ENDS)[number];
  /** It had ended when it came. */
  readonly isOld: boolean;
}

const aFate = (): fc.Arbitrary<Fate> =>
  fc.record({
    requestedAt: fc.oneof({ weight: 8, arbitrary: aMoment() }, { weight: 1, arbitrary: fc.constant(null) }),
    client: fc.constantFrom(null, "cli", "*", "=cli"),
    kind: fc.constantFrom(...KINDS),
    credits: fc.integer({ min: 1, max: 9 }),
    end: fc.constantFrom(...ENDS),
    isOld: fc.boolean(),
  });

const aFilter = (): fc.Arbitrary<Omit<CreditsQuery, "accountId">> =>
  fc.record({
    from: fc.oneof(fc.constant(0), aMoment()),
    to: fc.oneof(fc.constant(Number.MAX_SAFE_INTEGER), aMoment()),
    client: fc.constantFrom(undefined, undefined, "cli", "*", "=cli", "none"),
    kind: fc.constantFrom(undefined, undefined, ...KINDS),
  });

/** One by one. */
function summed(
  jobs: readonly { readonly fate: Fate; readonly status: JobStatus }[],
  { from, to, client, kind }: Omit<CreditsQuery, "accountId">,
): RequestCredits {
  let [used, refunded] = [0, 0];
  for (const { fate, status } of jobs) {
    if (fate.requestedAt === null || fate.requestedAt < from || fate.requestedAt >= to) continue;
    if ((client !== undefined && fate.client !== client) || (kind !== undefined && fate.kind !== kind)) continue;
    used += fate.credits;
    if (status === "failed") refunded += fate.credits;
  }
  return { used, refunded };
}

function jobOf(accountId: AccountId, { requestedAt, client, kind, credits, end, isOld }: Fate): Job {
  const hasEnded = isOld && end !== null;
  return aJob({
    ...{ accountId, kind, requestedAt, requestId: requestedAt === null ? null : anId("req") },
    ...{ reserved: { monthly: credits, pack: 0 }, createdAt: (requestedAt ?? HOUR) + 3 },
    request: aJobRequest({ client }),
    ...(hasEnded ? { status: end, phase: "ended", dueAt: null, fence: 2 } : { status: "queued", fence: 1 }),
  });
}

/** @param runs random jobs whose credits are summed */
export function requestCredits(opened: () => Storage, runs: number): void {
  const insertJobs = (...jobs: readonly Job[]): Promise<void> =>
    opened().inTransaction((tx) => opened().jobs.insertJobs(tx, jobs));
  /** @returns how many were written */
  const end = (jobs: readonly Job[], status: "completed" | "failed"): Promise<number> =>
    opened().inTransaction((tx) =>
      opened().jobs.updateJobs(
        tx,
        jobs.map(({ id, fence }) => ({
          ...{ id, fence },
          changes: { status, phase: "ended", fence: fence + 1, dueAt: null } as const,
        })),
      ),
    );
  const sum = (accountId: AccountId, filter: Partial<CreditsQuery> = {}): Promise<RequestCredits> =>
    opened().requestLog.sumCredits({ accountId, from: 0, to: Number.MAX_SAFE_INTEGER, ...filter });

  it("are those of a plain sum of the jobs, before, while and after these end, for any window and filter", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(aFate(), { minLength: 1, maxLength: 30 }),
        fc.array(aFilter(), { minLength: 1, maxLength: 6 }),
        async (fates, filters) => {
          const accountId = anId("acct");
          let jobs = fates.map((fate) => ({ fate, job: jobOf(accountId, fate) }));
          await insertJobs(...jobs.map(({ job }) => job));
          for (const status of [null, "completed", "failed"] as const) {
            if (status !== null) {
              const ending = jobs.filter(({ fate, job }) => job.status === "queued" && fate.end === status);
              await end(
                ending.map(({ job }) => job),
                status,
              );
              jobs = jobs.map((one) => (ending.includes(one) ? { ...one, job: { ...one.job, status } } : one));
            }
            for (const filter of filters) {
              const expected = summed(
                jobs.map(({ fate, job }) => ({ fate, status: job.status })),
                filter,
              );
              expect(await sum(accountId, filter), JSON.stringify(filter)).to.deep.equal(expected);
            }
          }
        },
      ),
      { numRuns: runs },
    );
  });

  const aLiveJob = (accountId: AccountId, fate: Partial<Fate> = {}): Job =>
    jobOf(accountId, {
      ...{ requestedAt: HOUR + 5, client: "cli", kind: "music", credits: 1, end: null, isOld: false },
      ...fate,
    });

  it("are summed once: a job that has ended, and one whose fence is another, end nothing", async () => {
    const accountId = anId("acct");
    const [ended, claimed] = [aLiveJob(accountId), aLiveJob(accountId, { credits: 20 })];
    await insertJobs(ended, claimed);
    expect(await end([ended, { ...claimed, fence: 7 }], "failed")).to.equal(1);
    expect(await end([ended, { ...ended, fence: ended.fence + 1 }], "failed")).to.equal(1);
    expect(await sum(accountId)).to.deep.equal({ used: 21, refunded: 1 });
    expect(await sum(accountId, { client: "cli" })).to.deep.equal({ used: 21, refunded: 1 });
  });

  it("of many jobs of several accounts are the same when many transactions end them at once", async () => {
    const accountIds = [anId("acct"), anId("acct"), anId("acct")];
    const jobs = Array.from({ length: 360 }, (_, index) =>
      aLiveJob(accountIds[index % 3] as AccountId, {
        requestedAt: HOUR + (index % 5) * HOUR_MS,
        client: ["cli", "shop", null][index % 7] ?? null,
      }),
    );
    await insertJobs(...jobs);
    // Some more than one statement takes, most a few.
    const groups = [
      jobs.slice(0, 120),
      ...Array.from({ length: 24 }, (_, group) => jobs.slice(120 + group * 10, 130 + group * 10)),
    ];
    await Promise.all(groups.map((group, index) => end(group, index % 2 === 0 ? "completed" : "failed")));
    for (const accountId of accountIds) expect(await sum(accountId)).to.deep.equal({ used: 120, refunded: 40 });
  });

  it("of a transaction that was rolled back are not summed", async () => {
    const accountId = anId("acct");
    const job = aLiveJob(accountId);
    await insertJobs(job);
    const failure = new Error("scripted");
    const { inTransaction, jobs } = opened();
    const work = inTransaction(async (tx) => {
      await jobs.updateJobs(tx, [
        { id: job.id, fence: job.fence, changes: { status: "failed", fence: job.fence + 1 } },
      ]);
      throw failure;
    });
    expect(await work.catch((error: unknown) => error)).to.equal(failure);
    expect(await sum(accountId)).to.deep.equal({ used: 1, refunded: 0 });
  });

  it("of hours that are over for long are deleted, up to the limit", async () => {
    const accountId = anId("acct");
    const longAgo = HOUR - 1_000 * DAY_MS;
    const deleteOld = (begunBefore: number, limit: number): Promise<number> =>
      opened().inTransaction((tx) => opened().requestLog.deleteOldCredits(tx, begunBefore, limit));
    while ((await deleteOld(longAgo, 1_000)) > 0) continue;
    const jobs = [0, 1, 2].map((hours) =>
      aLiveJob(accountId, { requestedAt: longAgo + hours * HOUR_MS, client: null }),
    );
    await insertJobs(...jobs);
    await end(jobs, "failed");
    expect(await deleteOld(longAgo, 10)).to.equal(0);
    expect(await deleteOld(longAgo + HOUR_MS + 1, 1)).to.equal(1);
    expect(await sum(accountId)).to.deep.equal({ used: 2, refunded: 2 });
    expect(await deleteOld(longAgo + HOUR_MS + 1, 10)).to.equal(1);
    expect(await deleteOld(longAgo + HOUR_MS + 1, 10)).to.equal(0);
    expect(await sum(accountId)).to.deep.equal({ used: 1, refunded: 1 });
  });

  it("have nothing left to sum up when every job was summed as it ended", async () => {
    const { inTransaction, requestLog } = opened();
    expect(await inTransaction((tx) => requestLog.sumNextCredits(tx, Date.now() + 2 * DAY_MS, 1))).to.equal(false);
  });
}

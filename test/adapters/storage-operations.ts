import { TABLE_PREFIX } from "../../adapters/storage/sql/index.js";
import type { Account, ApiKey } from "../../core/ports/account.js";
import { RETAINED_KINDS } from "../../core/ports/growth-store.js";
import type { IdempotencyRecord } from "../../core/ports/idempotency-store.js";
import type { Job, JobOutput } from "../../core/jobs/job.js";
import {
  aBalance,
  aJob,
  aMovement,
  anAccount,
  anApiKey,
  anAttempt,
  anId,
  anIdempotencyRecord,
  aTrack,
  NOON,
} from "../support/builders.js";
import type { StorageUnderTest } from "../support/storage-under-test.js";
import { anUpload, ERASURE_OPERATIONS } from "./erasure-operations.js";
import type { KnownRows } from "./known-rows.js";

/** Tables that grow without bound. */
export const BIG_TABLES = [
  "accounts",
  "api_keys",
  "balances",
  "ledger_entries",
  "idempotency_records",
  "jobs",
  "job_attempts",
  "tracks",
  "track_tags",
  "track_assets",
  "track_lyrics",
  "job_outputs",
  "provider_callbacks",
  "webhook_endpoints",
  "webhook_events",
  "webhook_deliveries",
  "webhook_tries",
  "uploads",
  "job_sources",
  "file_deletions",
  "ledger_checkpoints",
  "ledger_openings",
].map((name) => TABLE_PREFIX + name);

const AN_OUTPUT: JobOutput = {
  label: "vocals",
  audioKey: "job/1/0-stem.wav",
  contentType: "audio/wav",
  sizeBytes: 1,
  durationSeconds: 1,
};
const A_CALLBACK = {
  providerId: "synth",
  attempt: null,
  digest: "0".repeat(64),
  headers: {},
  query: {},
  body: new Uint8Array(),
  receivedAt: NOON,
};

/** Where this part of the ledger begins, as the SQL storage writes it. */
function placeIn(part: string): string {
  return JSON.stringify({ part, after: "", begun: null, jobsAfter: "" });
}

/**
 * Every operation of the stores of jobs and credits that reads or changes rows, except the audit as a whole and the
 * counts of a start.
 */
export const OPERATIONS: Readonly<Record<string, (storage: StorageUnderTest, known: KnownRows) => Promise<unknown>>> = {
  findAccounts: ({ accounts }, { account }) => accounts.findAccounts([account.id]),
  findByExternalIds: ({ accounts }, { account }) => accounts.findByExternalIds([String(account.externalId)]),
  updateAccount: (storage, { account }) =>
    storage.inTransaction((tx) => storage.accounts.updateAccount(tx, account.id, { tier: "pro" })),
  findKeyHolders: ({ accounts }, { key }) => accounts.findKeyHolders([key.tokenHash]),
  listKeys: ({ accounts }, { account }) => accounts.listKeys(account.id),
  revokeKey: (storage, { key }) => storage.inTransaction((tx) => storage.accounts.revokeKey(tx, key.id, NOON)),
  revokeKeys: (storage, { account }) =>
    storage.inTransaction((tx) => storage.accounts.revokeKeys(tx, account.id, NOON)),
  listSuspended: ({ accounts }) => accounts.listSuspended(),
  "listAccounts suspended": ({ accounts }) => accounts.listAccounts({ isSuspended: true, limit: 1 }),
  insertKeys: (storage) => storage.inTransaction((tx) => storage.accounts.insertKeys(tx, [anApiKey()])),
  noteKeyUses: (storage, { key }) =>
    storage.inTransaction((tx) => storage.accounts.noteKeyUses(tx, [{ id: key.id, usedAt: NOON, unlessAfter: NOON }])),
  activityIn: ({ activity }) => activity.activityIn({ from: NOON + 60_000, to: NOON + 120_000 }),
  ...ERASURE_OPERATIONS,
  lockBalances: (storage, { account }) => storage.inTransaction((tx) => storage.ledger.lockBalances(tx, [account.id])),
  tryLockBalances: (storage, { account }) =>
    storage.inTransaction((tx) => storage.ledger.tryLockBalances(tx, [account.id])),
  findBalances: ({ ledger }, { account }) => ledger.findBalances([account.id]),
  apply: (storage) => storage.apply(aMovement(aBalance(), { pack: 1 })),
  findByReference: (storage, { reference }) =>
    storage.inTransaction((tx) => storage.ledger.findByReference(tx, reference)),
  entriesOfJob: ({ ledger }, { job }) => ledger.entriesOfJob(job.id),
  listEntries: ({ ledger }, { account }) => ledger.listEntries(account.id, 10),
  findRecords: (storage, { record }) => storage.inTransaction((tx) => storage.idempotency.findRecords(tx, [record])),
  readRecords: ({ idempotency }, { record }) => idempotency.readRecords([record]),
  freeKeys: (storage, { record }) => storage.inTransaction((tx) => storage.idempotency.freeKeys(tx, [record], NOON)),
  insertRecords: (storage) =>
    storage.inTransaction((tx) => storage.idempotency.insertRecords(tx, [anIdempotencyRecord()])),
  updateResponse: (storage, { record }) =>
    storage.inTransaction((tx) => storage.idempotency.updateResponse(tx, record, { status: 202, body: "" })),
  deleteExpired: (storage) =>
    storage.inTransaction((tx) => storage.idempotency.deleteExpired(tx, NOON + 24 * 3_600_000, 10)),
  insertJobs: (storage) => storage.inTransaction((tx) => storage.jobs.insertJobs(tx, [aJob()])),
  findByReferences: (storage, { job: { accountId } }) =>
    storage.inTransaction((tx) => storage.jobs.findByReferences(tx, [{ accountId, reference: "order 17" }])),
  findJobs: ({ jobs }, { job }) => jobs.findJobs([job.id]),
  lockJobs: (storage, { job }) => storage.inTransaction((tx) => storage.jobs.lockJobs(tx, [job.id])),
  tryLockJobs: (storage, { job }) => storage.inTransaction((tx) => storage.jobs.tryLockJobs(tx, [job.id])),
  findShownJobs: ({ jobs }, { job }) => jobs.findShownJobs([job.id]),
  listShownJobs: ({ jobs }, { account }) => jobs.listShownJobs({ accountId: account.id, kind: "music", limit: 20 }),
  newestShownStates: ({ jobs }, { account }) => jobs.newestShownStates([account.id, anId("acct")], "music", 21),
  "listShownJobs behind another job": ({ jobs }, { account }) => {
    const after = { createdAt: NOON, id: anId("job") };
    return jobs.listShownJobs({ accountId: account.id, kind: "music", after, limit: 20 });
  },
  "listJobs of an account": ({ jobs }, { account }) => jobs.listJobs({ accountId: account.id, limit: 20 }),
  "listJobs of an account and a status": ({ jobs }, { account }) =>
    jobs.listJobs({ accountId: account.id, status: "failed", limit: 20 }),
  "listJobs of a kind": ({ jobs }, { account }) => jobs.listJobs({ accountId: account.id, kind: "music", limit: 20 }),
  "listJobs of a kind, behind another job": ({ jobs }, { account }) => {
    const after = { createdAt: NOON, id: anId("job") };
    return jobs.listJobs({ accountId: account.id, kind: "music", after, limit: 20 });
  },
  "listJobs of all": ({ jobs }) => jobs.listJobs({ limit: 20 }),
  "listJobs of all with a status": ({ jobs }) => jobs.listJobs({ status: "queued", limit: 20 }),
  findOverdue: ({ jobs }) => jobs.findOverdue(NOON, 20),
  claimJobs: async (storage) => {
    await storage.inTransaction((tx) => storage.jobs.insertJobs(tx, [aJob({ dueAt: NOON })]));
    const phases = ["waiting", "rendering"] as const;
    await storage.jobs.claimJobs({
      providerId: "synth",
      phases,
      limit: 9,
      now: NOON,
      owner: anId("prc"),
      leaseUntil: NOON,
    });
  },
  "claimJobs alongside running jobs": async (storage, { leased }) => {
    await storage.inTransaction((tx) => storage.jobs.insertJobs(tx, [aJob({ dueAt: NOON })]));
    const claim = {
      providerId: "synth",
      phases: ["waiting"],
      limit: 9,
      now: NOON,
      owner: anId("prc"),
      leaseUntil: NOON,
    } as const;
    await storage.jobs.claimJobs({ ...claim, except: [leased.id, anId("job")] });
  },
  renewLeases: ({ jobs }, { leased }) => jobs.renewLeases(leased.leaseOwner, [leased.id], NOON),
  updateJobs: (storage, { leased }) =>
    storage.inTransaction((tx) =>
      storage.jobs.updateJobs(tx, [{ id: leased.id, fence: leased.fence, changes: { status: "failed" } }]),
    ),
  nextDueAt: ({ jobs }) => jobs.nextDueAt("synth"),
  insertAttempts: (storage) => storage.inTransaction((tx) => storage.jobs.insertAttempts(tx, [anAttempt()])),
  updateAttempts: (storage, { job }) =>
    storage.inTransaction((tx) =>
      storage.jobs.updateAttempts(tx, [
        { jobId: job.id, number: 1, changes: { state: "failed", deadlineAt: null, endedAt: NOON } },
      ]),
    ),
  attemptsIn: (storage, { job }) => storage.inTransaction((tx) => storage.jobs.attemptsIn(tx, [job.id])),
  requestsOf: (storage, { job }) => storage.inTransaction((tx) => storage.jobs.requestsOf(tx, [job.id])),
  findOverdueAttempts: ({ jobs }) => jobs.findOverdueAttempts(NOON, 20),
  "listJobs of a provider and a status, behind another job": ({ jobs }) =>
    jobs.listJobs({ providerId: "synth", status: "failed", after: { createdAt: NOON, id: anId("job") }, limit: 20 }),
  countWaitingBefore: ({ jobs }) => jobs.countWaitingBefore("synth", NOON, 1_000),
  renderTimes: ({ jobs }) => jobs.renderTimes("synth", "synth/v1", 100),
  "auditPage of accounts": ({ ledger }) => ledger.auditPage(null, 20),
  "auditPage of balances": ({ ledger }) => ledger.auditPage(placeIn("balances"), 20),
  "auditPage of entries": ({ ledger }) => ledger.auditPage(placeIn("entries"), 20),
  "auditPage of the rest of an account's entries": async ({ ledger }) => {
    const { next } = await ledger.auditPage(placeIn("entries"), 20);
    await ledger.auditPage(next, 20);
  },
  "auditPage of jobs": ({ ledger }) => ledger.auditPage(placeIn("jobs"), 20),
  "auditPage of new balances": ({ ledger }) => ledger.auditPage(placeIn("new-balances"), 20),
  "auditPage of new entries": ({ ledger }) => ledger.auditPage(placeIn("new-entries"), 20),
  "auditPage of the rest of an account's new entries": async ({ ledger }) => {
    const { next } = await ledger.auditPage(placeIn("new-entries"), 1);
    await ledger.auditPage(next, 20);
  },
  "auditPage of new jobs": ({ ledger }) => ledger.auditPage(placeIn("new-jobs"), 20),
  archivable: async ({ ledger }) => {
    const { next } = await ledger.archivable(null, NOON + 1, 20);
    await ledger.archivable(next, NOON + 1, 20);
  },
  "fold and unfold": async (storage, { account }) => {
    const entries = await storage.ledger.listEntries(account.id, 4);
    await storage.inTransaction((tx) => storage.ledger.fold(tx, account.id, entries, NOON));
    await storage.inTransaction((tx) => storage.ledger.unfold(tx, account.id, entries.slice(1)));
    await storage.inTransaction((tx) => storage.ledger.unfold(tx, account.id, entries));
  },
  listOpenings: ({ ledger }) => ledger.listOpenings("", 20),
  waitingSince: ({ jobs }) => jobs.waitingSince("synth"),
  countWork: ({ jobs }) => jobs.countWork("synth", 100),
  outputsOf: ({ jobs }, { job }) => jobs.outputsOf([job.id]),
  insertOutputs: (storage) =>
    storage.inTransaction((tx) => storage.jobs.insertOutputs(tx, [{ jobId: anId("job"), outputs: [AN_OUTPUT] }])),
  claimCancels: async (storage) => {
    const attempt = anAttempt({ state: "abandoned", cancelDueAt: NOON });
    await storage.inTransaction((tx) => storage.jobs.insertAttempts(tx, [attempt]));
    await storage.jobs.claimCancels("synth", NOON, NOON + 1, 10);
  },
  "unread callbacks": ({ callbacks }, { job }) => callbacks.unread(job.id, 10),
  "a callback": (storage, { job }) =>
    storage.inTransaction(async (tx) => {
      await storage.callbacks.countOf(tx, job.id);
      await storage.callbacks.insert(tx, { ...A_CALLBACK, id: anId("cbk"), jobId: job.id });
      await storage.callbacks.unreadIn(tx, [job.id]);
      await storage.callbacks.markRead(tx, [anId("cbk")], NOON);
    }),
  "old callbacks": (storage) => storage.inTransaction((tx) => storage.callbacks.deleteOld(tx, NOON, 10)),
  attemptsOf: ({ jobs }, { job }) => jobs.attemptsOf([job.id]),
  listEnded: ({ jobs }, { job }) => jobs.listEnded({ createdAt: NOON - 1, id: job.id }, NOON + 1, 10),
  numberEnds: ({ jobs }) => jobs.numberEnds(100),
  "listEnds behind many": async ({ jobs }) => {
    while ((await jobs.numberEnds(500)) > 0);
    await jobs.listEnds(Math.max(0, (await jobs.lastEndNumber()) - 20), 10);
  },
  endNumberBefore: ({ jobs }) => jobs.endNumberBefore(NOON + 1),
  deleteRequests: (storage) => storage.inTransaction((tx) => storage.jobs.deleteRequests(tx, NOON + 1_000, 10)),
  deleteAttempts: (storage) => storage.inTransaction((tx) => storage.jobs.deleteAttempts(tx, NOON + 1_000, 10)),
  "due of every kind": async ({ growth }) => {
    for (const kind of RETAINED_KINDS) await growth.due(kind, NOON + 1_000, 10);
  },
  listAttempts: ({ jobs }, { job }) => jobs.listAttempts(job.id),
  shownTracksOfJobs: ({ library }, { job }) => library.shownTracksOfJobs([job.id]),
  tracksOfJobs: ({ library }, { job }) => library.tracksOfJobs([job.id]),
};

/** @param size how many jobs there are: a long backlog alongside ended jobs, of accounts with 50 each */
export async function fillStorage(storage: Omit<StorageUnderTest, "close">, size: number): Promise<KnownRows> {
  const accounts = Array.from({ length: Math.ceil(size / 50) }, () => anAccount());
  const keys = accounts.map(({ id }) => anApiKey({ accountId: id }));
  const jobs = Array.from({ length: size }, (_, index) =>
    aJobAmongMany(accounts[index % accounts.length] as Account, index),
  );
  const records = jobs.map(({ accountId, id, createdAt }) => anIdempotencyRecord({ accountId, jobId: id, createdAt }));
  const ended = jobs.filter(({ phase }) => phase === "ended");
  const tracks = ended.map(({ id, accountId }) =>
    aTrack({ jobId: id, accountId, tags: { mood: ["calm"], activity: [], genre: ["jazz"], other: [] } }),
  );
  await storage.inTransaction(async (tx) => {
    await storage.accounts.insertAccounts(tx, accounts);
    await storage.accounts.insertKeys(tx, keys);
    await storage.jobs.insertJobs(tx, jobs);
    await storage.jobs.insertAttempts(
      tx,
      jobs.map(({ id }) => anAttempt({ jobId: id })),
    );
    await storage.idempotency.insertRecords(tx, records);
    await storage.library.insertTracks(tx, tracks);
    for (const { accountId } of ended) await storage.uploads.insertUpload(tx, anUpload(accountId, NOON));
    for (const account of accounts) {
      const own = jobs.filter(({ accountId }) => accountId === account.id);
      let before = aBalance({ accountId: account.id });
      const movements = own.map(({ id }, index) => {
        const isGrant = index % 2 === 0;
        const movement = aMovement(
          before,
          isGrant ? { monthly: 10, reference: `order ${id}` } : { monthly: 10, kind: "reserve", jobId: id },
        );
        before = movement.after;
        return movement;
      });
      await storage.ledger.apply(
        tx,
        movements.map(({ entries }) => ({ after: before, entries })),
      );
    }
  });
  const job = ended.find(({ id }) => jobs.findIndex((one) => one.id === id) % 2 === 1) as Job;
  const account = accounts.find(({ id }) => id === job.accountId) as Account;
  return {
    account,
    key: keys.find(({ accountId }) => accountId === account.id) as ApiKey,
    record: records.find(({ jobId }) => jobId === job.id) as IdempotencyRecord,
    job,
    leased: jobs.find(({ leaseOwner }) => leaseOwner !== null) as KnownRows["leased"],
    reference: `order ${(jobs.find(({ accountId }) => accountId === account.id) as Job).id}`,
  };
}

/** Of a hundred jobs 55 have ended, 30 are waiting, 5 are running and 10 are rendering at the provider. */
function aJobAmongMany(account: Account, index: number): Job {
  const createdAt = NOON + index;
  const common = { accountId: account.id, createdAt };
  const random = (index * 37) % 100;
  if (random < 30) return aJob(common);
  if (random < 35)
    return aJob({
      ...common,
      status: "processing",
      phase: "submitting",
      leaseOwner: anId("prc"),
      fence: 1,
      attempt: 1,
    });
  if (random < 45)
    return aJob({
      ...common,
      status: "processing",
      phase: "rendering",
      fence: 1,
      attempt: 1,
      dueAt: createdAt + 5_000,
    });
  const end = { phase: "ended", fence: 2, attempt: 1, dueAt: null, completedAt: createdAt + 1_000 } as const;
  return aJob({ ...common, ...end, status: random < 55 ? "failed" : "completed" });
}

import type { Balance, Movement } from "../../core/credits/balance.js";
import { postReservation } from "../../core/credits/reserve.js";
import { postSettlement } from "../../core/credits/settle.js";
import type { AccountId, JobId } from "../../core/ids.js";
import type { Job } from "../../core/jobs/job.js";
import type { JobUpdate } from "../../core/ports/job-store.js";
import { aJob, anApiKey, anId, anIdempotencyRecord, NOON } from "../support/builders.js";
import { sqliteStorage, type SqliteUnderTest } from "../support/databases.js";
import { type Bench, type Figure, perSecond } from "./figures.js";

const SECONDS = 1.5;
const ACCOUNTS = 100;

/**
 * The throughput of the storage alone: durable creates (idempotency record, job, ledger entry, balance) one by one and
 * in batches, settlements, claims and single reads.
 */
export const storage: Bench = {
  name: "storage",
  compares: "durable groups on SQLite with single transactions; claims and single reads",
  run: measure,
};

/** The balances of a batch, updated in memory and written once per account. */
class Movements {
  private readonly moved = new Map<AccountId, { after: Balance; entries: Movement["entries"][number][] }>();

  constructor(private readonly balances: ReadonlyMap<AccountId, Balance>) {}

  post(accountId: AccountId, decide: (balance: Balance) => ReturnType<typeof postReservation>): void {
    const moved = this.moved.get(accountId);
    const before = moved?.after ?? this.balances.get(accountId);
    if (before === undefined) throw new Error(`There is no balance of ${accountId}.`);
    const { balance, entry } = decide(before);
    if (moved === undefined) this.moved.set(accountId, { after: balance, entries: [entry] });
    else this.moved.set(accountId, { after: balance, entries: [...moved.entries, entry] });
  }

  get all(): Movement[] {
    return [...this.moved.values()];
  }
}

async function createGroup(storage: SqliteUnderTest, jobs: readonly Job[]): Promise<void> {
  const records = jobs.map((job) => anIdempotencyRecord({ accountId: job.accountId, jobId: job.id }));
  await storage.inTransaction(async (tx) => {
    await storage.idempotency.findRecords(tx, records);
    const balances = await storage.ledger.lockBalances(tx, [...new Set(jobs.map((job) => job.accountId))]);
    const movements = new Movements(balances);
    for (const job of jobs)
      movements.post(job.accountId, (balance) => postReservation(balance, job.id, job.reserved, NOON));
    await storage.idempotency.insertRecords(tx, records);
    await storage.jobs.insertJobs(tx, jobs);
    await storage.ledger.apply(tx, movements.all);
  });
}

async function settleGroup(storage: SqliteUnderTest, ids: readonly JobId[]): Promise<void> {
  await storage.inTransaction(async (tx) => {
    const jobs = [...(await storage.jobs.lockJobs(tx, ids)).values()];
    const movements = new Movements(
      await storage.ledger.lockBalances(tx, [...new Set(jobs.map((job) => job.accountId))]),
    );
    for (const job of jobs) {
      movements.post(job.accountId, (balance) => postSettlement(balance, job.id, job.reserved, "charge", NOON));
    }
    const updates = jobs.map((job): JobUpdate => ({
      id: job.id,
      fence: job.fence,
      changes: { status: "completed", phase: "ended", leaseOwner: null, dueAt: null, completedAt: NOON },
    }));
    await storage.jobs.updateJobs(tx, updates);
    await storage.ledger.apply(tx, movements.all);
  });
}

/** Runs `work` until the time is over. @returns units of work per second */
async function rate(work: () => Promise<number>): Promise<number> {
  let units = 0;
  const begun = performance.now();
  while (performance.now() - begun < SECONDS * 1000) units += await work();
  return units / ((performance.now() - begun) / 1000);
}

async function measure(): Promise<readonly Figure[]> {
  const figures: Figure[] = [];
  const show = (name: string, value: number, single?: number): void => {
    const baseline = single === undefined ? "" : perSecond(single);
    figures.push({
      name: `storage: ${name}`,
      value: perSecond(value),
      baseline,
      ratio: single === undefined ? null : value / single,
      target: null,
    });
  };
  const storage = await sqliteStorage.open();
  const accounts: AccountId[] = [];
  for (let result = 0; result < ACCOUNTS; result++)
    accounts.push((await storage.addAccount({}, { pack: 1_000_000_000 })).id);
  const created: JobId[] = [];
  let next = 0;
  const makeJobs = (count: number, accountIds: readonly AccountId[]): Job[] =>
    Array.from({ length: count }, () => {
      const job = aJob({
        accountId: accountIds[next++ % accountIds.length] as AccountId,
        reserved: { monthly: 0, pack: 5 },
      });
      created.push(job.id);
      return job;
    });
  const create = (count: number, accountIds = accounts) =>
    rate(async () => {
      await createGroup(storage, makeJobs(count, accountIds));
      return count;
    });

  await create(16);
  const single = await create(1);
  show("create, one transaction each", single);
  for (const count of [16, 64, 256]) show(`create, groups of ${count}`, await create(count), single);
  show("create, groups of 256, one account", await create(256, accounts.slice(0, 1)), single);

  const claimed = await rate(async () => {
    const request = {
      providerId: "synth",
      phases: ["waiting" as const],
      limit: 16,
      now: NOON,
      owner: anId("prc"),
      leaseUntil: NOON * 2,
    };
    return (await storage.jobs.claimJobs(request)).length;
  });
  show("claim, 16 at a time", claimed);
  const settle = (count: number) =>
    rate(async () => {
      const ids = created.splice(0, count);
      if (ids.length > 0) await settleGroup(storage, ids);
      return ids.length;
    });
  const settledSingly = await settle(1);
  show("settle, one transaction each", settledSingly);
  show("settle, groups of 256", await settle(256), settledSingly);

  const key = anApiKey({ accountId: accounts[0] as AccountId });
  await storage.inTransaction((tx) => storage.accounts.insertKeys(tx, [key]));
  const [job] = makeJobs(1, accounts) as [Job];
  await createGroup(storage, [job]);
  const hundred = async (read: () => Promise<unknown>): Promise<number> => {
    for (let count = 0; count < 100; count++) await read();
    return 100;
  };
  show("findKeyHolders of one hash", await rate(() => hundred(() => storage.accounts.findKeyHolders([key.tokenHash]))));
  show("findBalances of one id", await rate(() => hundred(() => storage.ledger.findBalances([job.accountId]))));
  show("findJobs of one id", await rate(() => hundred(() => storage.jobs.findJobs([job.id]))));
  show(
    "listJobs, 20 of an account",
    await rate(() => hundred(() => storage.jobs.listJobs({ accountId: job.accountId, limit: 20 }))),
  );
  show(
    "claim when nothing is due",
    await rate(() =>
      hundred(() =>
        storage.jobs.claimJobs({
          providerId: "none",
          phases: ["waiting"],
          limit: 8,
          now: NOON,
          owner: anId("prc"),
          leaseUntil: NOON,
        }),
      ),
    ),
  );
  await storage.close();
  return figures;
}

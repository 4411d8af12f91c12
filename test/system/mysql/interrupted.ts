import { expect } from "chai";
import { createConnection, type Connection } from "mysql2/promise";
import { MemoryJobQueue } from "../../../adapters/queue/memory/job-queue.js";
import { createStores, type KnexDatabase, openDatabase, type Stores } from "../../../adapters/storage/sql/index.js";
import type { Account } from "../../../core/ports/account.js";
import { AcceptJobs } from "../../../core/jobs/accept-jobs.js";
import type { AcceptCommand } from "../../../core/jobs/decide-acceptance.js";
import type { Job } from "../../../core/jobs/job.js";
import { anAttempt, anId, aTrack, NOON } from "../../support/builders.js";
import { SILENT, TEST_PORTS } from "../../support/databases.js";
import { storageUnderTest } from "../../support/storage-under-test.js";
import { aCompletion, reportsOn } from "../../support/reports.js";
import { aGivenKey, anAcceptCommand } from "../../unit/core/jobs/commands.js";

/** A process whose transactions fail, and its log of them. */
export class Interrupted {
  /** The driver's error of each failed run. */
  readonly failures: { readonly errno?: number; readonly code?: string; readonly name?: string }[] = [];
  /** Runs before each retry. */
  betweenTries: () => Promise<void> = () => Promise.resolve();

  private constructor(
    readonly database: KnexDatabase,
    readonly stores: Stores,
  ) {}

  static async open(url: string, lockWaitMs?: number): Promise<Interrupted> {
    const database = await openDatabase({ url, logger: SILENT, ...(lockWaitMs === undefined ? {} : { lockWaitMs }) });
    const clock = { now: TEST_PORTS.clock.now, sleep: () => opened.betweenTries() };
    const opened: Interrupted = new Interrupted(database, createStores(database, { ...TEST_PORTS, clock }));
    const begin = database.transaction.bind<KnexDatabase["transaction"]>(database);
    database.transaction = async (work) => {
      try {
        return await begin(work);
      } catch (error) {
        opened.failures.push(error as Interrupted["failures"][number]);
        throw error;
      }
    };
    return opened;
  }

  close(): Promise<void> {
    return this.database.close();
  }
}

/** An action of a caller or a worker, and the rows expected afterwards: once, whatever happened meanwhile. */
export interface Deed {
  /** Locks that another transaction may take: the first ones of the action, and later ones. */
  readonly locks: {
    readonly first: readonly [sql: string, ...values: string[]];
    readonly later: readonly [sql: string, ...values: string[]];
  };
  /** @returns its result */
  begin(by: Interrupted): Promise<unknown>;
  expectDoneOnce(): Promise<void>;
  expectNotDone(): Promise<void>;
}

export const DEEDS = { "creating a generation": creation, "settling a job": settlement } as const;

async function creation(url: string): Promise<Deed> {
  return onStores(url, async (stores) => {
    const account = await anAccountWithCredits(stores);
    const command = anAcceptCommand(account.id, { idempotency: aGivenKey("a key") });
    return {
      locks: {
        first: ["SELECT * FROM fermata_balances WHERE account_id = ? FOR UPDATE", account.id],
        later: [
          "INSERT INTO fermata_idempotency_records (account_id, key_hash, shape_hash, body_hash, job_id, status, " +
            "response, created_at, expires_at) " +
            "VALUES (?, ?, '', '', '', 0, '', 0, 0)",
          account.id,
          command.idempotency?.keyHash ?? "",
        ],
      },
      begin: ({ stores: { unitOfWork, idempotency, ledger, jobs } }) =>
        accept({ unitOfWork, idempotency, ledger, jobs }, command),
      expectDoneOnce: () =>
        onStores(url, async ({ jobs, ledger, idempotency, unitOfWork }) => {
          expect((await jobs.listJobs({ accountId: account.id, limit: 9 })).map(({ id }) => id)).to.deep.equal([
            command.job.id,
          ]);
          expect((await ledger.entriesOfJob(command.job.id)).map(({ kind }) => kind)).to.deep.equal(["reserve"]);
          expect((await ledger.findBalances([account.id])).get(account.id)).to.include({
            monthly: 95,
            reservedMonthly: 5,
            runningJobs: 1,
            ledgerSeq: 2,
          });
          const keyHash = command.idempotency?.keyHash ?? "";
          const records = await unitOfWork.inTransaction((tx) =>
            idempotency.findRecords(tx, [{ accountId: account.id, keyHash }]),
          );
          expect(records.map(({ jobId }) => jobId)).to.deep.equal([command.job.id]);
        }),
      expectNotDone: () =>
        onStores(url, async ({ jobs, ledger }) => {
          expect(await jobs.listJobs({ accountId: account.id, limit: 9 })).to.deep.equal([]);
          expect((await ledger.findBalances([account.id])).get(account.id)).to.include({
            monthly: 100,
            reservedMonthly: 0,
            runningJobs: 0,
            ledgerSeq: 1,
          });
        }),
    };
  });
}

async function settlement(url: string): Promise<Deed> {
  return onStores(url, async (stores) => {
    const account = await anAccountWithCredits(stores);
    const result = await accept(stores, anAcceptCommand(account.id));
    if (result.kind !== "accepted") throw new Error("The job is accepted.");
    const { providerId, id } = result.job;
    // Deliveries of earlier tests are due as well.
    const claims = await stores.jobs.claimJobs({
      providerId,
      phases: ["waiting"],
      limit: 1_000,
      now: NOON,
      owner: anId("prc"),
      leaseUntil: NOON + 1,
    });
    const job = claims.map((claimed) => claimed.job).find((claimed) => claimed.id === id) ?? result.job;
    const track = aTrack({ jobId: job.id, accountId: account.id });
    const attempt = anAttempt({ jobId: job.id });
    await stores.unitOfWork.inTransaction((tx) => stores.jobs.insertAttempts(tx, [attempt]));
    const command = aCompletion(job, attempt.number, { tracks: [track], outputs: [], missing: [] });
    const expectState = (
      status: Job["status"],
      kinds: readonly string[],
      tracks: readonly string[],
      outcome: string | null,
    ): Promise<void> =>
      onStores(url, async ({ jobs, ledger, library }) => {
        expect((await jobs.findJobs([job.id])).get(job.id)?.status).to.equal(status);
        expect((await ledger.entriesOfJob(job.id)).map(({ kind }) => kind)).to.deep.equal(kinds);
        expect(((await library.tracksOfJobs([job.id])).get(job.id) ?? []).map(({ id }) => id)).to.deep.equal(tracks);
        expect((await jobs.listAttempts(job.id)).map((tried) => tried.outcome)).to.deep.equal([outcome]);
      });
    return {
      locks: {
        first: ["SELECT * FROM fermata_jobs WHERE id = ? FOR UPDATE", job.id],
        later: ["SELECT * FROM fermata_job_attempts WHERE job_id = ? FOR UPDATE", job.id],
      },
      begin: ({ stores: using }) => reportsOn(using, TEST_PORTS.clock).apply(command),
      expectDoneOnce: () => expectState("completed", ["reserve", "charge"], [track.id], "completed"),
      expectNotDone: () => expectState("processing", ["reserve"], [], null),
    };
  });
}

function accept(
  stores: Pick<Stores, "unitOfWork" | "idempotency" | "ledger" | "jobs">,
  command: AcceptCommand,
): ReturnType<AcceptJobs["accept"]> {
  return new AcceptJobs({
    ...stores,
    queue: new MemoryJobQueue(SILENT),
    metrics: null,
    tracer: null,
    clock: { ...TEST_PORTS.clock, now: () => NOON },
  }).accept(command);
}

function anAccountWithCredits(stores: Stores): Promise<Account> {
  return storageUnderTest(stores).addAccount({ id: anId("acct") }, { monthly: 100 });
}

/** Reads the rows from outside, and checks the ledger each time. */
async function onStores<T>(url: string, work: (stores: Stores) => Promise<T>): Promise<T> {
  const database = await openDatabase({ url, logger: SILENT });
  try {
    const stores = createStores(database, TEST_PORTS);
    const result = await work(stores);
    expect((await stores.ledger.audit()).violations).to.deep.equal([]);
    return result;
  } finally {
    await database.close();
  }
}

/** Another client of the same database, in an open transaction. */
export class OtherCaller {
  private constructor(private readonly connection: Connection) {}

  static async begin(url: string): Promise<OtherCaller> {
    const connection = await createConnection(url);
    await connection.query("START TRANSACTION");
    return new OtherCaller(connection);
  }

  async run([sql, ...values]: readonly [sql: string, ...values: string[]]): Promise<void> {
    await this.connection.query(sql, values);
  }

  /** Writes so much that the engine would rather roll back any other transaction. */
  async becomeHeavy(): Promise<void> {
    const rows = Array.from({ length: 500 }, () => [anId("key"), ""]);
    await this.connection.query("INSERT INTO fermata_installation (name, value) VALUES ?", [rows]);
  }

  async end(): Promise<void> {
    await this.connection.query("ROLLBACK");
    await this.connection.end();
  }
}

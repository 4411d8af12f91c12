import { execFile } from "node:child_process";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { Worker } from "node:worker_threads";
import BetterSqlite3 from "better-sqlite3";
import { expect } from "chai";
import { createConnection, type RowDataPacket } from "mysql2/promise";
import {
  startHeartbeatThread,
  ThreadLeaseRenewal,
  type ThreadLeaseRenewalOptions,
} from "../../adapters/storage/sql/lease-renewal/lease-renewal-thread.js";
import { TABLE_PREFIX } from "../../adapters/storage/sql/index.js";
import type { Job } from "../../core/jobs/job.js";
import { aJob, anId } from "../support/builders.js";
import { type SqliteUnderTest, sqliteStorage } from "../support/databases.js";
import type { StorageUnderTest } from "../support/storage-under-test.js";
import { RecordingLogger } from "../support/doubles/recording-logger.js";
import { mysqlStorage } from "../support/mysql.js";
import { openMysqlRelay } from "../support/mysql-relay.js";
import { eventually } from "../support/process.js";
import { repositoryPath } from "../support/repository.js";
import { freePort } from "../support/services.js";

const LEASE_MS = 300;
const OWNER = anId("prc");

/** A claimed job that consists of a row only. */
async function claimedJob({ inTransaction, jobs }: StorageUnderTest): Promise<Job> {
  const job = aJob({ status: "processing", fence: 1, leaseOwner: OWNER, dueAt: Date.now() + LEASE_MS });
  await inTransaction((tx) => jobs.insertJobs(tx, [job]));
  return job;
}

async function renewed({ jobs }: StorageUnderTest, { id }: Job): Promise<void> {
  const endOf = async (): Promise<number> => (await jobs.findJobs([id])).get(id)?.dueAt ?? Number.NaN;
  const before = await endOf();
  await eventually("a renewal", async () => (await endOf()) > before);
}

describe("The lease renewal thread", () => {
  let storage: SqliteUnderTest;
  let job: Job;
  let logger: RecordingLogger;
  const opened: ThreadLeaseRenewal[] = [];
  before(async () => {
    storage = await sqliteStorage.open();
  });
  after(() => storage.close());
  beforeEach(async () => {
    job = await claimedJob(storage);
    logger = new RecordingLogger();
  });
  afterEach(() => Promise.all(opened.splice(0).map((one) => one.close())));

  function open(options: Partial<ThreadLeaseRenewalOptions> = {}): ThreadLeaseRenewal {
    const renewal = new ThreadLeaseRenewal({
      storage: { url: storage.url, tablePrefix: TABLE_PREFIX },
      owner: OWNER,
      leaseMs: LEASE_MS,
      logger,
      ...options,
    });
    opened.push(renewal);
    return renewal;
  }

  /** Blocks this thread until the end of the job's lease is as expected. @returns how far it has moved */
  function blockUntil(isWanted: (endsAt: number) => boolean): number {
    const database = new BetterSqlite3(storage.url.slice("sqlite:".length), { readonly: true });
    const read = database.prepare<[string], { readonly due_at: number }>(
      "SELECT due_at FROM fermata_jobs WHERE id = ?",
    );
    const endsAt = (): number => read.get(job.id)?.due_at ?? Number.NaN;
    try {
      const [begun, giveUpAt] = [endsAt(), Date.now() + 15_000];
      while (!isWanted(endsAt())) if (Date.now() > giveUpAt) throw new Error("It never came.");
      return endsAt() - begun;
    } finally {
      database.close();
    }
  }

  it("starts and renews while the event loop is blocked, from the moment a lease is added", () => {
    open().keep([[job.id, 1]]);
    blockUntil((endsAt) => endsAt > (job.dueAt ?? 0) + 4 * LEASE_MS);
  });

  it("renews a lease that is added before the event loop is blocked, and others are to be forgotten", async () => {
    const [renewal, other] = [open(), await claimedJob(storage)];
    renewal.keep([[other.id, 1]]);
    await renewed(storage, other);
    renewal.forget(other.id, 1);
    renewal.keep([[job.id, 1]]);
    blockUntil((endsAt) => endsAt > (job.dueAt ?? 0) + 4 * LEASE_MS);
  });

  it("stops when the event loop has been blocked for ten leases, and starts again when it is back", async () => {
    const leaseMs = 200;
    open({ leaseMs }).keep([[job.id, 1]]);
    await renewed(storage, job);
    // Counted from the last heartbeat of the event loop, which on a busy machine may be a little before the block.
    expect(blockUntil((endsAt) => Date.now() > endsAt + 4 * leaseMs)).to.be.at.most(15 * leaseMs);
    await renewed(storage, job);
    await renewed(storage, job);
    expect(logger.lines.map(({ level, message }) => [level, message])).to.deep.equal([
      ["error", "The main thread shows no sign of life; its jobs are left to other workers"],
      ["error", "The thread that renews leases has died; another one is started"],
    ]);
  });

  /** Counts threads, and exposes them so that tests can kill them. */
  function counted(): {
    readonly threads: Worker[];
    readonly startThread: NonNullable<ThreadLeaseRenewalOptions["startThread"]>;
  } {
    const threads: Worker[] = [];
    return { threads, startThread: (order) => threads[threads.push(startHeartbeatThread(order)) - 1] as Worker };
  }

  it("is restarted when it dies, and gets all leases again", async () => {
    const { threads, startThread } = counted();
    const [renewal, other] = [open({ startThread }), await claimedJob(storage)];
    renewal.keep([[job.id, 1]]);
    await renewed(storage, job);
    await threads[0]?.terminate();
    renewal.keep([[other.id, 1]]);
    await Promise.all([renewed(storage, job), renewed(storage, other)]);
    expect(threads).to.have.length(2);
    expect(logger.lines.map(({ level, fields }) => [level, fields["component"], fields["leases"]])).to.deep.equal([
      ["error", "heartbeat", 1],
    ]);
  });

  it("is started again when its start fails, or it crashes", async () => {
    const { threads, startThread } = counted();
    const failures = [
      () => {
        throw new Error("no threads left");
      },
      () => new Worker("throw new Error('broken')", { eval: true }),
    ];
    const renewal = open({ startThread: (order) => failures.pop()?.() ?? startThread(order) });
    renewal.keep([[job.id, 1]]);
    await renewed(storage, job);
    expect(logger.lines.map(({ fields }) => (fields["error"] as Error).message)).to.deep.equal([
      "broken",
      "no threads left",
    ]);
    expect(threads).to.have.length(1);
  });

  it("renews at once what has waited for it for long, and else within a third of the lease", async () => {
    const beatsOf = async (since: number): Promise<number> => {
      const place = { url: storage.url, tablePrefix: TABLE_PREFIX };
      const thread = startHeartbeatThread({
        storage: place,
        owner: OWNER,
        leaseMs: 600_000,
        leases: [[job.id, 1]],
        since,
      });
      let beats = 0;
      thread.on("message", ({ kind }: { readonly kind: string }) => (beats += kind === "beat" ? 1 : 0));
      const ended = new Promise((resolve) => thread.once("exit", resolve));
      thread.postMessage({ kind: "close" });
      await ended;
      return beats;
    };
    expect([await beatsOf(Date.now()), await beatsOf(Date.now() - 70_000), await beatsOf(0)]).to.deep.equal([0, 1, 1]);
  });

  it("starts with the first lease, ends when there has been none for a while, and starts again", async () => {
    const { threads, startThread } = counted();
    const renewal = open({ startThread, idleMs: 20 });
    expect(threads).to.have.length(0);
    renewal.keep([[job.id, 1]]);
    await renewed(storage, job);
    const ended = new Promise((resolve) => threads[0]?.once("exit", resolve));
    renewal.forget(job.id, 1);
    expect(await ended).to.equal(0);
    renewal.keep([[job.id, 1]]);
    await renewed(storage, job);
    expect(threads).to.have.length(2);
    expect(logger.lines).to.deep.equal([]);
  });

  it("does not keep the process alive", async () => {
    const isSource = import.meta.url.endsWith(".ts");
    const tsx = isSource ? ["--import", pathToFileURL(createRequire(import.meta.url).resolve("tsx")).href] : [];
    const file = isSource ? "adapters/storage/sql/index.ts" : "dist/adapters/storage/sql/index.js";
    // The thread runs and has a lease: it has logged that the file is missing.
    const code = `
      import { ThreadLeaseRenewal } from ${JSON.stringify(pathToFileURL(repositoryPath(file)).href)};
      // It logs so again at each attempt; the first will do.
      const logged = await new Promise((resolve) => {
        const error = (message, { error }) => resolve(message + " " + error.message);
          const logger = { child: () => logger, error };
        const storage = { url: "sqlite:/nowhere/fermata.sqlite", tablePrefix: "" };
          globalThis.renewal = new ThreadLeaseRenewal({ storage, owner: "prc_1", leaseMs: 300, logger });
        globalThis.renewal.keep([["job_1", 1]]);
        globalThis.waiting = setTimeout(() => undefined, 10_000);
      });
      clearTimeout(globalThis.waiting);
      console.log(logged);
    `;
    const { stdout } = await promisify(execFile)(process.execPath, [...tsx, "--input-type=module", "-e", code], {
      cwd: repositoryPath("."),
    });
    expect(stdout).to.equal("Leases could not be renewed Cannot open database because the directory does not exist\n");
  });
});

describe("The lease renewal thread on MySQL", () => {
  const logger = new RecordingLogger();
  beforeEach(() => void (logger.lines.length = 0));

  it("reconnects when the server has closed its connection", async () => {
    const storage = await mysqlStorage.open();
    const job = await claimedJob(storage);
    const renewal = new ThreadLeaseRenewal({
      storage: { url: storage.url, tablePrefix: TABLE_PREFIX },
      owner: OWNER,
      leaseMs: LEASE_MS,
      logger,
    });
    const admin = await createConnection(storage.url);
    try {
      renewal.keep([[job.id, 1]]);
      await renewed(storage, job);
      const [others] = await admin.query<RowDataPacket[]>(
        "SELECT id FROM information_schema.processlist WHERE db = DATABASE() AND id <> CONNECTION_ID()",
      );
      for (const { id, ID } of others as { id?: number; ID?: number }[]) await admin.query(`KILL ${id ?? ID}`);
      await renewed(storage, job);
      await renewed(storage, job);
    } finally {
      await admin.end();
      await renewal.close();
      await storage.close();
    }
  });

  it("renews the other leases while the row of one job is locked", async () => {
    const storage = await mysqlStorage.open();
    const [locked, free] = [await claimedJob(storage), await claimedJob(storage)];
    const renewal = new ThreadLeaseRenewal({
      storage: { url: storage.url, tablePrefix: TABLE_PREFIX },
      owner: OWNER,
      leaseMs: LEASE_MS,
      logger,
    });
    const admin = await createConnection(storage.url);
    try {
      await admin.beginTransaction();
      await admin.query("SELECT id FROM fermata_jobs WHERE id = ? FOR UPDATE", [locked.id]);
      renewal.keep([locked, free].map(({ id }) => [id, 1]));
      await renewed(storage, free);
      await renewed(storage, free);
      expect((await storage.jobs.findJobs([locked.id])).get(locked.id)).to.deep.equal(locked);
      await admin.rollback();
      await renewed(storage, locked);
    } finally {
      await admin.end();
      await renewal.close();
      await storage.close();
    }
    expect(new Set(logger.lines.map(({ message }) => message))).to.deep.equal(new Set(["Leases could not be renewed"]));
  });

  it("times out on a server that hangs, retries, and can be closed meanwhile", async () => {
    const storage = await mysqlStorage.open();
    const job = await claimedJob(storage);
    const { tcp: relay, through } = await openMysqlRelay(storage.url);
    const renewal = new ThreadLeaseRenewal({
      storage: { url: through(storage.url), tablePrefix: TABLE_PREFIX },
      owner: OWNER,
      leaseMs: LEASE_MS,
      logger,
    });
    const failed = (): Promise<unknown> => eventually("a complaint", () => logger.lines.length > 0);
    try {
      renewal.keep([[job.id, 1]]);
      await renewed(storage, job);
      relay.freeze();
      await failed();
      relay.thaw();
      await renewed(storage, job);
      logger.lines.length = 0;
      relay.freeze();
      await failed();
    } finally {
      await renewal.close();
      await relay.close();
      await storage.close();
    }
    expect(logger.lines[0]?.message).to.equal("Leases could not be renewed");
  });

  it("logs which server is unavailable, retries, and can be closed meanwhile", async () => {
    const port = await freePort();
    const renewal = new ThreadLeaseRenewal({
      storage: { url: `mysql://root:secret@127.0.0.1:${port}/none`, tablePrefix: TABLE_PREFIX },
      owner: OWNER,
      leaseMs: LEASE_MS,
      logger,
    });
    renewal.keep([[anId("job"), 1]]);
    await eventually("two complaints", () => logger.lines.length >= 2);
    await renewal.close();
    const { message } = logger.lines[0]?.fields["error"] as Error;
    expect(message).to.include(`127.0.0.1:${port}`).and.not.include("secret");
  });
});

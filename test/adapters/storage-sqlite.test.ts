import { spawn } from "node:child_process";
import { once } from "node:events";
import { stat } from "node:fs/promises";
import { join } from "node:path";
import BetterSqlite3 from "better-sqlite3";
import { expect } from "chai";
import { createStores, openDatabase } from "../../adapters/storage/sql/index.js";
import { ServiceUnavailableError } from "../../core/errors.js";
import { aJob, anAccount, anId, NOON } from "../support/builders.js";
import { SILENT, sqliteStorage, type SqliteUnderTest, temporaryFolder, TEST_PORTS } from "../support/databases.js";

const rejection = (outcome: Promise<unknown>): Promise<unknown> =>
  outcome.then(() => undefined).catch((error: unknown) => error);

describe("SQLite storage", () => {
  let storage: SqliteUnderTest;
  beforeEach(async () => {
    storage = await sqliteStorage.open();
  });
  afterEach(() => storage.close());

  describe("opening", () => {
    it("creates the file and its folders", async () => {
      const folder = await temporaryFolder();
      const file = join(folder, "a", "b", "fermata.db");
      const database = await openDatabase({ url: `sqlite:${file}`, logger: SILENT });
      await database.close();
      expect((await stat(file)).isFile()).to.equal(true);
    });

    it("names the allowed forms when the URL has another scheme or no path, and echoes no more of it", async () => {
      for (const url of ["postgres://user:secret@host/db", "sqlite:", "fermata.db", ""]) {
        const error = await rejection(openDatabase({ url, logger: SILENT }));
        expect(error).to.be.instanceOf(Error);
        expect((error as Error).message)
          .to.include("sqlite:PATH")
          .and.not.include("secret");
      }
    });

    it("names a file that cannot be opened", async () => {
      const folder = await temporaryFolder();
      const error = await rejection(openDatabase({ url: `sqlite:${folder}`, logger: SILENT }));
      expect((error as Error).message).to.include(folder);
    });

    for (const [pragma, expected] of [
      ["journal_mode", "wal"],
      ["synchronous", 2],
      ["busy_timeout", 1_000],
      ["foreign_keys", 0],
    ] as const) {
      it(`sets ${pragma} to ${expected} on both handles`, async () => {
        const { database } = storage;
        for (const handle of [database.write, database.read]) {
          const [row] = await handle.raw<Record<string, unknown>[]>(`PRAGMA ${pragma}`);
          expect(Object.values(row ?? {})).to.deep.equal([expected]);
        }
      });
    }

    it("refuses writes on the read handle", async () => {
      const error = await rejection(storage.database.read("fermata_accounts").delete());
      expect((error as Error).message).to.include("readonly");
    });
  });

  describe("in one process", () => {
    it("yields to the event loop before each transaction, so that new commands can join the next", async () => {
      const events: string[] = [];
      setImmediate(() => events.push("arrived"));
      await storage.inTransaction(() => Promise.resolve(events.push("began")));
      expect(events).to.deep.equal(["arrived", "began"]);
    });

    it("starts no transaction to look for due jobs, nor for leases while none is held", async () => {
      let due: unknown;
      await storage.inTransaction(async () => {
        // A second transaction would wait for this one for ever.
        due = await storage.jobs.nextDueAt("synth");
        await storage.jobs.renewLeases(anId("prc"), [], NOON);
      });
      expect(due).to.deep.equal({ waiting: null, submitting: null, rendering: null });
    });
  });

  describe("with another process on the same file", () => {
    it("retries a transaction while the other one writes", async () => {
      const other = holdWriteLock(storage);
      let waits = 0;
      const stores = createStores(await impatient(storage), {
        ...TEST_PORTS,
        clock: {
          now: () => NOON,
          sleep: () => {
            if (++waits === 2) other.exec("COMMIT");
            return Promise.resolve();
          },
        },
      });
      const account = anAccount();
      await stores.unitOfWork.inTransaction((tx) => stores.accounts.insertAccounts(tx, [account]));
      expect(waits).to.equal(2);
      expect((await stores.accounts.findAccounts([account.id])).size).to.equal(1);
      other.close();
    });

    it("throws ServiceUnavailableError with its cause when the other one never ends, and still reads", async () => {
      const account = await storage.addAccount();
      const other = holdWriteLock(storage);
      const stores = createStores(await impatient(storage), TEST_PORTS);
      let runs = 0;
      const error = await rejection(
        stores.unitOfWork.inTransaction(() => {
          runs++;
          return Promise.resolve();
        }),
      );
      expect(error).to.be.instanceOf(ServiceUnavailableError);
      expect((error as Error).cause).to.include({ code: "SQLITE_BUSY" });
      expect(runs).to.equal(0);
      expect((await stores.accounts.findAccounts([account.id])).size).to.equal(1);
      other.close();
    });

    it("loses no update", async function () {
      this.timeout(20_000);
      const account = await storage.addAccount();
      const storageModule = JSON.stringify(moduleUrl("../../adapters/storage/sql/index.ts"));
      const add = `
        const { createStores, openDatabase } = await import(${storageModule});
        const { SILENT, TEST_PORTS } = await import(${JSON.stringify(moduleUrl("../support/databases.ts"))});
        const { aMovement } = await import(${JSON.stringify(moduleUrl("../support/builders.ts"))});
        const database = await openDatabase({ url: ${JSON.stringify(storage.url)}, logger: SILENT });
        const { unitOfWork, ledger } = createStores(database, TEST_PORTS);
        for (let count = 0; count < 100; count++) await unitOfWork.inTransaction(async (tx) => {
          const balance = (await ledger.lockBalances(tx, ["${account.id}"])).get("${account.id}");
          await ledger.apply(tx, [aMovement(balance, { pack: 1 })]);
        });
        await database.close();`;
      await Promise.all([runApart(add), runApart(add)]);
      expect(await storage.balanceOf(account.id)).to.include({ pack: 200, ledgerSeq: 201 });
      expect((await storage.ledger.audit()).violations).to.deep.equal([]);
    });

    /** On a separate connection, as from another process. */
    function holdWriteLock({ url }: SqliteUnderTest): BetterSqlite3.Database {
      const other = new BetterSqlite3(url.slice("sqlite:".length));
      other.exec("BEGIN IMMEDIATE");
      return other;
    }

    const opened: { close(): Promise<void> }[] = [];
    async function impatient({ url }: SqliteUnderTest): ReturnType<typeof openDatabase> {
      const database = await openDatabase({ url, logger: SILENT, lockWaitMs: 1 });
      opened.push(database);
      return database;
    }
    afterEach(() => Promise.all(opened.splice(0).map((database) => database.close())));
  });

  describe("when the storage fails", () => {
    it("throws ServiceUnavailableError for writes on a full disk, and continues when there is free space", async () => {
      const { database } = storage;
      const [size] = await database.write.raw<{ page_count: number }[]>("PRAGMA page_count");
      await database.write.raw(`PRAGMA max_page_count = ${size?.page_count}`);
      const jobs = Array.from({ length: 200 }, () => aJob());
      const add = (): Promise<void> => storage.inTransaction((tx) => storage.jobs.insertJobs(tx, jobs));
      const error = await rejection(add());
      expect(error).to.be.instanceOf(ServiceUnavailableError);
      expect((error as Error).cause).to.include({ code: "SQLITE_FULL" });

      await database.write.raw("PRAGMA max_page_count = 100000");
      await add();
      expect((await storage.jobs.findJobs(jobs.map((job) => job.id))).size).to.equal(200);
    });

    it("throws ServiceUnavailableError for everything after it is closed", async () => {
      const { database } = storage;
      await database.close();
      const operations = [
        () => database.check(),
        () => storage.accounts.findAccounts([anId("acct")]),
        () => storage.ledger.audit(),
        () => storage.inTransaction(() => Promise.resolve()),
      ];
      for (const operation of operations) {
        const error = await rejection(operation());
        expect(error).to.be.instanceOf(ServiceUnavailableError);
        expect((error as Error).cause).to.be.instanceOf(Error);
      }
    });

    it("does nothing when it is closed again", async () => {
      await storage.database.close();
      await storage.database.close();
    });

    it("checks whether it is available", async () => {
      await storage.database.check();
    });
  });
});

/** A module of this project as this test loads it: source or compiled. */
function moduleUrl(path: string): string {
  const ending = import.meta.url.endsWith(".ts") ? ".ts" : ".js";
  return new URL(path.replace(/\.[jt]s$/, ending), import.meta.url).href;
}

/** Runs the code as an ES module in a separate process. */
async function runApart(code: string): Promise<void> {
  const child = spawn(process.execPath, ["--import", "tsx", "--input-type=module", "--eval", code], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  let complaints = "";
  child.stderr.on("data", (chunk: Buffer) => (complaints += chunk.toString()));
  const [exitCode] = (await once(child, "exit")) as [number | null];
  expect(exitCode, complaints).to.equal(0);
}

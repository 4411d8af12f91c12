import { expect } from "chai";
import { NodeDigest } from "../../adapters/crypto/digest.js";
import { createAccounts } from "../../core/accounts/create-accounts.js";
import { ERASURE_LEASE_MS, EraseAccounts, LAST_ROUND_MS } from "../../core/accounts/erase-accounts.js";
import type { ManageAccounts } from "../../core/accounts/manage-accounts.js";
import { Tiers } from "../../core/accounts/tiers.js";
import { createAudit } from "../../core/audit/create-audit.js";
import type { CancelJobs } from "../../core/jobs/cancel-jobs.js";
import { aPlaylist, aSettlement, NO_UPLOADS } from "../support/builders.js";
import { corePorts } from "../support/core-ports.js";
import { sqliteStorage, type SqliteUnderTest } from "../support/databases.js";
import { ManualClock } from "../support/doubles/manual-clock.js";
import { MemoryAudioStore } from "../support/doubles/memory-audio-store.js";
import { type FilledAccount, fillAccount } from "../support/filled-account.js";
import { mysqlStorage, type MysqlUnderTest } from "../support/mysql.js";
import { columnsWith, dump, indexAll, losing, type Rows, textOf } from "./stored-words.js";

type Storage = SqliteUnderTest | MysqlUnderTest;

/** Words that stand for all that is to be erased, and for all that is another's. */
const [SECRET, OTHERS] = ["zanzibar", "quokka"];
const PLENTY = { perMinute: 1_000, perDay: 1_000 };
const RATES = { read: PLENTY, generation: PLENTY, write: PLENTY };
const TIER = { name: "pro", maxConcurrent: 10, monthlyCredits: 0, rateLimits: RATES, uploads: NO_UPLOADS };

/**
 * Where the id of a deleted account, of its jobs or of its tracks may stand: what the ledger is, and what it needs, the
 * audit log and the deletion itself. Any other column is to be empty of them, those of later tables too.
 */
const KEPT = [
  "accounts.id",
  "account_deletions.account_id",
  "audit_log.account_id",
  "audit_log.targets",
  "balances.account_id",
  "job_attempts.job_id",
  "jobs.account_id",
  "jobs.id",
  "ledger_checkpoints.account_id",
  "ledger_entries.account_id",
  "ledger_entries.job_id",
];

for (const kind of [sqliteStorage, mysqlStorage]) {
  describe(`Erasing an account: ${kind.name}`, () => {
    let storage: Storage;
    let clock: ManualClock;
    let audio: MemoryAudioStore;
    let accounts: ManageAccounts;
    let filled: FilledAccount;
    let other: FilledAccount;
    beforeEach(async () => {
      storage = await kind.open();
      clock = new ManualClock();
      audio = new MemoryAudioStore(clock);
      const ports = corePorts(storage, { clock, audio });
      const audit = createAudit(ports, { actor: "test" }).trail;
      ({ accounts } = createAccounts({
        ports: { ...ports, digest: new NodeDigest() },
        audit,
        tiers: new Tiers([TIER]),
      }));
      // More than are erased in one step.
      filled = await fillAccount(storage, audio, SECRET, 25);
      other = await fillAccount(storage, audio, OTHERS);
      await storage.inTransaction((tx) =>
        storage.library.insertPlaylists(tx, [aPlaylist({ accountId: other.id, trackIds: [filled.uploaded] })]),
      );
      await indexAll(storage.database);
    });
    afterEach(() => storage.close());

    /** Ends a job as the worker of no provider would: refunded. */
    const endJobs: Pick<CancelJobs, "requestCancel"> = {
      requestCancel: async (job) => {
        const changes = {
          status: "failed",
          phase: "ended",
          dueAt: null,
          completedAt: clock.now(),
          creditsCharged: 0,
        } as const;
        await storage.inTransaction((tx) => storage.jobs.updateJobs(tx, [{ id: job.id, fence: job.fence, changes }]));
        const whole = (await storage.jobs.findJobs([job.id])).get(job.id);
        if (whole !== undefined)
          await storage.apply(aSettlement(await storage.balanceOf(job.accountId), whole, "refund"));
      },
    };
    const eraseWith = (given: Partial<ConstructorParameters<typeof EraseAccounts>[0]> = {}): Promise<void> =>
      new EraseAccounts({ ...corePorts(storage, { clock, audio }), endJobs, ...given }).run(
        new AbortController().signal,
      );
    const eraseAll = async (): Promise<void> => {
      for (let rounds = 0; rounds < 4; rounds += 1) {
        await eraseWith();
        await clock.advance(10_000);
      }
    };

    it("leaves nothing of it but the ledger, in no table and no file, and all that is another's", async () => {
      const before = await dump(storage.database);
      const files = audio.keys.length;
      await accounts.delete(filled.id);
      await eraseAll();
      const after = await dump(storage.database);
      expect(namedIn(after, SECRET), "what it held").to.deep.equal([]);
      expect(columnsWith(after, idsOf(filled)), "its ids").to.deep.equal(columnsKept(after));
      for (const [table, rows] of before)
        expect(count(after.get(table) ?? [], OTHERS), table).to.equal(count(rows, OTHERS));
      // 25 generations, a split, an upload and an import.
      expect(audio.keys.length).to.equal(files - 28);
      expect(audio.keys.some((key) => idsOf(filled).some((id) => key.startsWith(id)))).to.equal(false);
      const { erasedAt, erased } = (await accounts.deletion(filled.id)) ?? { erasedAt: null, erased: {} };
      expect(erasedAt).to.be.a("number");
      expect(erased).to.deep.include({ keys: 1, jobs: 28, tracks: 2, requests: 500, playlists: 2, uploads: 1 });
    });

    it("keeps the ledger under the id alone: the balance, every entry, and every invariant", async () => {
      const entries = await storage.ledger.listEntries(filled.id, 1_000);
      await accounts.delete(filled.id);
      await eraseAll();
      const kept = await storage.ledger.listEntries(filled.id, 1_000);
      // The job that waited was refunded.
      expect(kept.slice(1)).to.deep.equal(entries);
      expect(kept[0]).to.include({ kind: "refund" });
      expect((await storage.ledger.audit()).violations).to.deep.equal([]);
      for (let cursor: string | null = null, first = true; first || cursor !== null; first = false) {
        const page = await storage.ledger.auditPage(cursor, 50);
        expect(page.violations).to.deep.equal([]);
        cursor = page.next;
      }
      const account = (await storage.accounts.findAccounts([filled.id])).get(filled.id);
      expect(account).to.deep.include({ name: "(deleted)", externalId: null, emailVerified: false, suspendedAt: null });
      expect(account?.deletedAt).to.be.a("number");
    });

    for (const when of ["before", "after"] as const)
      it(`goes on where a process was lost ${when} any of its calls`, async () => {
        await accounts.delete(filled.id);
        let lost = 0;
        for (let calls = 1; ; calls += 1) {
          const before = lost;
          let made = 0;
          const fails = <Port extends object>(port: Port): Port =>
            losing(port, when, () => {
              made += 1;
              if (made !== calls) return false;
              lost += 1;
              return true;
            });
          await eraseWith({
            erasures: fails(storage.erasures),
            webhooks: fails(storage.webhooks),
            audio: fails(audio),
          }).catch(() => undefined);
          await clock.advance(ERASURE_LEASE_MS);
          if (lost === before) break;
        }
        expect(lost).to.be.above(20);
        await eraseAll();
        const after = await dump(storage.database);
        expect(namedIn(after, SECRET)).to.deep.equal([]);
        expect(columnsWith(after, idsOf(filled))).to.deep.equal(columnsKept(after));
        expect(audio.keys.some((key) => idsOf(filled).some((id) => key.startsWith(id)))).to.equal(false);
        expect((await storage.ledger.audit()).violations).to.deep.equal([]);
      });

    it("erases what came late as well, and looks no more after half an hour", async () => {
      await accounts.delete(filled.id);
      await eraseAll();
      const late = await fillAccount(storage, audio, SECRET);
      await storage.database
        .write("fermata_request_log")
        .where({ account_id: late.id })
        .update({ account_id: filled.id });
      await clock.advance(LAST_ROUND_MS);
      await eraseAll();
      expect(await storage.requestLog.count({ accountId: filled.id, from: 0, to: 2 ** 50 })).to.include({
        requests: 0,
      });
      const [row] = (await storage.database.read("fermata_account_deletions").select()) as Rows;
      expect(row?.["due_at"]).to.equal(null);
    });

    it("frees the external id and the name at once, and is done once", async () => {
      const deletion = await accounts.delete(filled.id);
      expect(await accounts.delete(filled.id)).to.deep.equal(deletion);
      const again = await accounts.ensure({ externalId: `${SECRET} 17`, tier: "pro", name: SECRET });
      expect(again.id).to.not.equal(filled.id);
      expect((await accounts.find(SECRET)).id).to.equal(again.id);
      expect((await accounts.list({ limit: 100 })).map(({ id }) => id)).to.not.include(filled.id);
      expect((await accounts.list({ isDeleted: true, limit: 100 })).map(({ id }) => id)).to.deep.equal([filled.id]);
      const records = await storage.auditLog.list({ accountId: filled.id, limit: 10 });
      expect(records.map(({ action, fields }) => [action, fields])).to.deep.equal([["accounts.delete", { keys: 1 }]]);
    });

    it("is refused what changes an account", async () => {
      await accounts.delete(filled.id);
      for (const change of [
        () => accounts.issueKey(filled.id),
        () => accounts.suspend(filled.id),
        () => accounts.resume(filled.id),
        () => accounts.changeTier(filled.id, "pro"),
        () => accounts.acceptTerms(filled.id),
      ]) {
        const error = await change().catch((cause: unknown) => cause);
        expect((error as Error).message).to.equal(`The account ${filled.id} is deleted.`);
      }
    });
  });
}

function idsOf({ id, jobs, uploaded, imported }: FilledAccount): readonly string[] {
  return [id, uploaded, imported, ...jobs.map((job) => job.id)];
}

/** Tables and columns with a row that has this text in it, whatever its type. */
function namedIn(tables: ReadonlyMap<string, Rows>, word: string): string[] {
  return columnsWith(tables, [word]);
}

/** Those of {@link KEPT} that have an id in them. */
function columnsKept(tables: ReadonlyMap<string, Rows>): string[] {
  return KEPT.filter((column) => tables.has(column.split(".")[0] ?? "")).sort();
}

function count(rows: Rows, word: string): number {
  return rows.filter((row) => Object.values(row).some((value) => textOf(value).includes(word))).length;
}

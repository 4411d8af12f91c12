import { expect } from "chai";
import sinon from "sinon";
import type { LedgerEntry } from "../../core/credits/balance.js";
import type { Account } from "../../core/ports/account.js";
import type { LedgerViolation } from "../../core/ports/ledger-store.js";
import { aJob, aMovement, aReservation, aSettlement, NOON } from "../support/builders.js";
import { type SqliteUnderTest, sqliteStorage } from "../support/databases.js";
import { mysqlStorage, type MysqlUnderTest } from "../support/mysql.js";

const named = (violations: readonly LedgerViolation[]): string[] =>
  violations.map(({ invariant, subject }) => `${invariant} ${subject}`).sort();

for (const { name, open } of [sqliteStorage, mysqlStorage])
  describe(`The verification of the ledger goes on from where it ended: ${name}`, () => {
    let storage: MysqlUnderTest;
    let account: Account;
    let resume: string;
    beforeEach(async () => {
      storage = await open();
      account = await storage.addAccount({}, { pack: 10 });
      for (let grants = 0; grants < 3; grants++) await grant(1);
      ({ resume } = await storage.ledger.audit());
    });
    afterEach(() => storage.close());

    const grant = async (pack: number, fields: Partial<LedgerEntry> = {}): Promise<void> =>
      storage.apply(aMovement(await storage.balanceOf(account.id), { pack, ...fields }));
    const entry = (seq: number) => storage.database.write("fermata_ledger_entries").where({ seq });
    const checkpoint = async (): Promise<Record<string, unknown>> => {
      const [row] = await storage.database.all<Record<string, unknown>>("SELECT * FROM {ledger_checkpoints}");
      return row ?? {};
    };

    it("keeps for each account up to where it was verified, and moves on where nothing is found", async () => {
      const first = await checkpoint();
      expect(first).to.include({ account_id: account.id, seq: 4, pack: 13, spent: 0 });
      await grant(2);
      await storage.ledger.audit(resume);
      const second = await checkpoint();
      expect(second).to.include({ seq: 5, pack: 15 });
      expect(second["checksum"]).to.not.equal(first["checksum"]);
      await storage.database.write("fermata_ledger_checkpoints").delete();
      await storage.ledger.audit();
      expect(await checkpoint()).to.deep.equal(second);
    });

    it("is not kept further than a run that found something has come", async () => {
      await grant(2);
      await storage.database.write("fermata_balances").update({ pack: 99 });
      expect(named((await storage.ledger.audit(resume)).violations)).to.deep.equal([
        `balance-equals-sum-of-entries ${account.id}`,
      ]);
      await storage.ledger.audit();
      expect(await checkpoint()).to.include({ seq: 4 });
    });

    for (const [what, change] of [
      ["its time", () => entry(2).update({ created_at: NOON + 1 })],
      ["its reference", () => entry(2).update({ external_ref: "order 17" })],
      // The sums of all entries stay the same.
      ["credits that another lacks", () => Promise.all([entry(2).update({ pack: 2 }), entry(3).update({ pack: 0 })])],
    ] as const) {
      it(`a full run finds a verified entry whose ${what} changed, which a run from there on does not`, async () => {
        await change();
        expect((await storage.ledger.audit(resume)).violations).to.deep.equal([]);
        const { violations } = await storage.ledger.audit();
        expect(violations).to.deep.equal([
          {
            invariant: "verified-entries-are-unchanged",
            subject: account.id,
            found: "up_to_number 4, checksum differs",
          },
        ]);
        // It stays found: the place up to which was verified is not moved over it.
        await grant(1);
        expect(named((await storage.ledger.audit()).violations)).to.have.length(1);
        const inPages = await storage.ledger.auditPage('{"part":"entries","after":"","begun":null,"jobsAfter":""}', 2);
        expect(inPages.violations).to.deep.equal([]);
        const rest = await storage.ledger.auditPage(inPages.next, 2);
        expect(named(rest.violations)).to.deep.equal([`verified-entries-are-unchanged ${account.id}`]);
      });
    }

    it("finds that a verified entry vanished, and says what is missing", async () => {
      await entry(4).delete();
      const { violations } = await storage.ledger.audit();
      expect(named(violations)).to.include(`verified-entries-are-unchanged ${account.id}`);
      const found = violations.find(({ invariant }) => invariant === "verified-entries-are-unchanged")?.found;
      expect(found).to.equal("up_to_number 4, pack 12, verified_pack 13, checksum differs");
    });

    it("finds a new entry whose credits the balance lacks, and one that is not as its kind says", async () => {
      await grant(2);
      await entry(5).update({ pack: -3 });
      const expected = [
        `balance-equals-sum-of-entries ${account.id}`,
        `entry-moves-credits-as-its-kind-says ${account.id}`,
      ];
      for (let runs = 0; runs < 2; runs++)
        expect(named((await storage.ledger.audit(resume)).violations)).to.deep.equal(expected);
    });

    it("checks the jobs that ended since, though they are older than the last run", async () => {
      const job = aJob({ accountId: account.id, reserved: { monthly: 0, pack: 4 } });
      await storage.inTransaction((tx) => storage.jobs.insertJobs(tx, [job]));
      await storage.apply(aReservation(await storage.balanceOf(account.id), job));
      // As after a round that has seen the job.
      await storage.ledger.audit(resume);
      const seen = JSON.stringify({ ...(JSON.parse(resume) as object), jobsAfter: job.id });
      await storage.apply(aSettlement(await storage.balanceOf(account.id), job, "charge"));
      const { violations } = await storage.ledger.audit(seen);
      expect(named(violations)).to.include(`live-job-is-not-settled ${job.id}`);
    });

    it("begins again where the place comes from another version", async () => {
      expect((await storage.ledger.auditPage('{"part":"jobs","after":"","begun":null}', 10)).checked).to.equal(1);
      expect((await storage.ledger.audit('{"part":"moons"}')).checked.entries).to.equal(4);
    });
  });

describe("The verification of a large ledger", () => {
  async function openLarge(): Promise<{ readonly storage: SqliteUnderTest; readonly account: Account }> {
    const storage = await sqliteStorage.open();
    const account = await storage.addAccount({}, { pack: 10 });
    await storage.database.write.raw(
      `WITH RECURSIVE n(seq) AS (SELECT 2 UNION ALL SELECT seq + 1 FROM n WHERE seq < 10001)
       INSERT INTO fermata_ledger_entries SELECT ?, seq, 'grant', NULL, NULL, 0, 1, 0, 0, 0, NULL, ? FROM n`,
      [account.id, NOON],
    );
    return { storage, account };
  }

  it("runs in a thread on SQLite: no query of it is one of the process", async () => {
    const { storage, account } = await openLarge();
    const balance = { pack: 10_010, ledger_seq: 10_001 };
    await storage.database.write("fermata_balances").update(balance);
    const snapshot = sinon.spy(storage.database, "snapshot");
    const { resume, ...audit } = await storage.ledger.audit();
    expect(audit).to.deep.equal({ checked: { accounts: 1, entries: 10_001, jobs: 0 }, violations: [] });
    expect(snapshot.callCount).to.equal(0);
    const [kept] = await storage.database.all<object>("SELECT seq, pack FROM {ledger_checkpoints}");
    expect(kept).to.deep.equal({ seq: 10_001, pack: 10_010 });
    await storage.apply(aMovement(await storage.balanceOf(account.id), { pack: 1 }));
    expect((await storage.ledger.audit(resume)).checked).to.include({ entries: 1 });
    expect(snapshot.callCount).to.equal(0);
    await storage.database.write("fermata_ledger_entries").where({ seq: 7 }).update({ created_at: 1 });
    expect(named((await storage.ledger.audit()).violations)).to.deep.equal([
      `verified-entries-are-unchanged ${account.id}`,
    ]);
    await storage.close();
  });

  it("fails with what failed in its thread", async () => {
    const { storage } = await openLarge();
    await storage.database.write.raw("DROP TABLE fermata_jobs");
    const failure = await storage.ledger.audit().catch((error: unknown) => error);
    expect(String(failure)).to.include("no such table: fermata_jobs");
    await storage.close();
  });
});

import { appendFile, readdir, readFile, rm, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { archiveFolder } from "../../adapters/cli/archive-folder.js";
import { NodeDigest } from "../../adapters/crypto/digest.js";
import { ArchiveLedger, type ArchiveFolder } from "../../core/credits/archive-ledger.js";
import { ManageCredits } from "../../core/credits/manage-credits.js";
import { VerifyLedger } from "../../core/credits/verify-ledger.js";
import type { Job } from "../../core/jobs/job.js";
import type { Account } from "../../core/ports/account.js";
import type { ArchivableEntries } from "../../core/ports/ledger-archives.js";
import { unrecorded } from "../../core/audit/unrecorded.js";
import { type Tier, Tiers } from "../../core/accounts/tiers.js";
import { aJob, aMovement, anId, aReservation, aSettlement, NO_UPLOADS, NOON } from "../support/builders.js";
import { sqliteStorage, temporaryFolder } from "../support/databases.js";
import { ManualClock } from "../support/doubles/manual-clock.js";
import { mysqlStorage, type MysqlUnderTest } from "../support/mysql.js";

const PLENTY = { perMinute: 1_000, perDay: 1_000 };
const TIER: Tier = {
  name: "pro",
  maxConcurrent: 10,
  monthlyCredits: 0,
  rateLimits: { read: PLENTY, generation: PLENTY, write: PLENTY },
  uploads: NO_UPLOADS,
};

const A_DAY_MS = 86_400_000;
const FIRST = "ledger-000001.jsonl";

for (const { name, open } of [sqliteStorage, mysqlStorage])
  describe(`Archives of the ledger: ${name}`, function () {
    this.timeout(60_000);
    let storage: MysqlUnderTest;
    let account: Account;
    let job: Job;
    let path: string;
    let folder: ArchiveFolder;
    let clock: ManualClock;
    let archives: ArchiveLedger;
    let credits: ManageCredits;

    beforeEach(async () => {
      storage = await open();
      path = join(await temporaryFolder(), "archives");
      folder = archiveFolder(path);
      clock = new ManualClock();
      archives = archivesOf();
      const audit = unrecorded(storage.unitOfWork);
      credits = new ManageCredits({ ...storage, audit, clock, tiers: new Tiers([TIER]) });
      account = await storage.addAccount({}, { monthly: 40, pack: 10 });
      job = await endedJob(NOON, "completed");
    });
    afterEach(() => storage.close());

    function archivesOf(): ArchiveLedger {
      const audit = unrecorded(storage.unitOfWork);
      const ports = { ...storage, audit, clock, ids: { next: anId }, digest: new NodeDigest() };
      return new ArchiveLedger({ ...ports, verifier: new VerifyLedger(ports) });
    }

    const grant = async (fields: Parameters<typeof aMovement>[1]): Promise<void> =>
      storage.apply(aMovement(await storage.balanceOf(account.id), fields));

    async function startedJob(at: number): Promise<Job> {
      const started = aJob({ accountId: account.id, reserved: { monthly: 4, pack: 0 }, createdAt: at });
      await storage.inTransaction((tx) => storage.jobs.insertJobs(tx, [started]));
      await storage.apply(withTime(aReservation(await storage.balanceOf(account.id), started), at));
      return started;
    }

    async function settle(started: Job, at: number, kind: "charge" | "refund"): Promise<void> {
      await storage.apply(withTime(aSettlement(await storage.balanceOf(account.id), started, kind), at));
      const ended = { phase: "ended", due_at: null, lease_owner: null, completed_at: at, tracks_deleted_at: at };
      const status = kind === "charge" ? "completed" : "failed";
      const charged = kind === "charge" ? 4 : 0;
      await storage.database
        .write("fermata_jobs")
        .where({ id: started.id })
        .update({ ...ended, status, credits_charged: charged });
    }

    async function endedJob(at: number, end: "completed" | "failed"): Promise<Job> {
      const started = await startedJob(at);
      await settle(started, at + 1, end === "completed" ? "charge" : "refund");
      return started;
    }

    const rows = (table: string): Promise<object[]> => storage.database.all<object>(`SELECT * FROM {${table}}`);
    const ledgerRows = async (): Promise<object[]> =>
      storage.database.all<object>("SELECT * FROM {ledger_entries} ORDER BY account_id, seq");
    const jobRows = async (): Promise<object[]> => storage.database.all<object>("SELECT * FROM {jobs} ORDER BY id");
    const numbers = async (): Promise<number[]> =>
      (await storage.ledger.listEntries(account.id, 100)).map(({ seq }) => seq);
    const sound = async (): Promise<void> => {
      expect((await storage.ledger.audit()).violations).to.deep.equal([]);
      expect(
        (await new VerifyLedger({ ...storage, clock }).inSteps(new AbortController().signal)).violations,
      ).to.deep.equal([]);
    };

    it("have old entries, whose sums stand in their place; balances and the verification stay right", async () => {
      await endedJob(NOON, "failed");
      await endedJob(NOON + A_DAY_MS, "completed");
      const before = await storage.balanceOf(account.id);
      const [written] = await archives.archive(folder, NOON + A_DAY_MS);
      expect(written).to.include({ number: 1, file: FIRST, entries: 5, state: "archived" });
      expect(await storage.balanceOf(account.id)).to.deep.equal(before);
      const listed = await storage.ledger.listEntries(account.id, 100);
      expect(listed.map(({ seq, kind }) => [seq, kind])).to.deep.equal([
        [7, "charge"],
        [6, "reserve"],
        [0, "opening"],
      ]);
      const { monthly, pack, reservedMonthly, spent, createdAt } = listed.at(-1) ?? {};
      const sums = { monthly: 36, pack: 10, reservedMonthly: 0, spent: 4, createdAt: NOON + 1 };
      expect({ monthly, pack, reservedMonthly, spent, createdAt }).to.deep.equal(sums);
      expect(await storage.ledger.listEntries(account.id, 2)).to.have.length(2);
      expect((await storage.ledger.listEntries(account.id, 2, 6)).map(({ kind }) => kind)).to.deep.equal(["opening"]);
      expect(await storage.ledger.listEntries(account.id, 2, 0)).to.deep.equal([]);
      expect(await storage.ledger.entriesOfJob(job.id)).to.deep.equal([]);
      await sound();
      await grant({ pack: 1, createdAt: NOON + A_DAY_MS });
      await sound();
      expect(await archives.check(folder)).to.deep.equal([]);
      expect(await archives.archive(folder, NOON + A_DAY_MS)).to.deep.equal([]);
    });

    it("have no entry of another account, whose entries have the same numbers", async () => {
      const mine = account;
      const other = await storage.addAccount({}, { monthly: 90 });
      account = other;
      await endedJob(NOON + 2 * A_DAY_MS, "completed");
      account = mine;
      await endedJob(NOON, "failed");
      await sound();
      const found: string[] = [];
      let cursor: string | null = null;
      for (let pages = 0; pages < 20 && (pages === 0 || cursor !== null); pages++) {
        const page: ArchivableEntries = await storage.ledger.archivable(cursor, NOON + A_DAY_MS, 1);
        found.push(...page.entries.map(({ accountId }) => accountId));
        cursor = page.next;
      }
      expect(found.sort()).to.deep.equal([...new Array<string>(5).fill(mine.id), other.id].sort());
      const [before, balances] = [
        await ledgerRows(),
        [await storage.balanceOf(mine.id), await storage.balanceOf(other.id)],
      ];
      const written = await archives.archive(folder, NOON + A_DAY_MS);
      expect(written.map(({ entries }) => entries)).to.deep.equal([6]);
      const numbersOf = async ({ id }: Account): Promise<number[]> =>
        (await storage.ledger.listEntries(id, 100)).map(({ seq }) => seq);
      expect([await numbersOf(mine), await numbersOf(other)]).to.deep.equal([[0], [3, 2, 0]]);
      await sound();
      const now = [await storage.balanceOf(mine.id), await storage.balanceOf(other.id)];
      expect(now).to.deep.equal(balances);
      expect(await archives.restore(folder, FIRST)).to.equal(6);
      expect(await ledgerRows()).to.deep.equal(before);
      await sound();
    });

    it("are put back row for row", async () => {
      await endedJob(NOON, "failed");
      const [before, jobs] = [await ledgerRows(), await jobRows()];
      await archives.archive(folder, NOON + A_DAY_MS);
      expect(await ledgerRows()).to.have.length(0);
      expect(await archives.restore(folder, FIRST)).to.equal(5);
      expect([await ledgerRows(), await jobRows()]).to.deep.equal([before, jobs]);
      expect(await rows("ledger_openings")).to.deep.equal([]);
      await sound();
      expect(await archives.check(folder)).to.deep.equal([]);
      expect(await archives.restore(folder, FIRST)).to.equal(0);
      // And may be archived again, in a file of its own.
      const [again] = await archives.archive(folder, NOON + A_DAY_MS);
      expect(again).to.include({ number: 2, entries: 5 });
      expect(await archives.check(folder)).to.deep.equal([]);
      await sound();
    });

    it("have nothing of a job that is not settled, or only since; that is there until the next time", async () => {
      const live = await startedJob(NOON);
      const late = await startedJob(NOON);
      await settle(late, NOON + A_DAY_MS, "refund");
      await archives.archive(folder, NOON + A_DAY_MS);
      const kinds = async (of: Job): Promise<string[]> =>
        (await storage.ledger.entriesOfJob(of.id)).map(({ kind }) => kind);
      expect(await kinds(live)).to.deep.equal(["reserve"]);
      expect(await kinds(late)).to.deep.equal(["reserve", "refund"]);
      expect(await kinds(job)).to.deep.equal([]);
      await sound();
      await settle(live, NOON + A_DAY_MS, "charge");
      const [second] = await archives.archive(folder, NOON + 2 * A_DAY_MS);
      expect(second).to.include({ number: 2, entries: 4 });
      expect(await numbers()).to.deep.equal([0]);
      await sound();
      expect(await archives.check(folder)).to.deep.equal([]);
      await archives.restore(folder, FIRST);
      await sound();
      expect(await numbers()).to.deep.equal([3, 2, 1, 0]);
    });

    it("leave what has a reference: a grant and a renewal are still recognised afterwards", async () => {
      await credits.grant(account.id, 7, { bucket: "pack", reference: "order 17" });
      const renewed = await credits.renew(account.id, { period: "2026-01" });
      await archives.archive(folder, NOON + A_DAY_MS);
      expect((await storage.ledger.listEntries(account.id, 100)).map(({ kind }) => kind)).to.deep.equal([
        ...["renew", "grant", "opening"],
      ]);
      const after = await credits.grant(account.id, 7, { bucket: "pack", reference: "order 17" });
      expect(after).to.deep.equal(await storage.balanceOf(account.id));
      expect(after.ledgerSeq).to.equal(renewed.ledgerSeq);
      const other = await credits
        .grant(account.id, 8, { reference: "order 17" })
        .catch((error: Error) => error.message);
      expect(other).to.equal("The reference order 17 was used for another grant.");
      expect(await credits.renew(account.id, { period: "2026-01" })).to.include({ isRepeated: true });
      await sound();
    });

    it("are not written of a ledger that breaks an invariant", async () => {
      await storage.database.write("fermata_balances").update({ pack: 99 });
      const refused = await archives.archive(folder, NOON + A_DAY_MS).catch((error: Error) => error.message);
      expect(refused).to.match(/^The ledger breaks balance-equals-sum-of-entries \(acct_\w+\); nothing was archived/);
      expect(await rows("ledger_openings")).to.deep.equal([]);
    });

    for (const [what, killed] of [
      // The entries are in the file, and in the ledger.
      ["before entries are taken out", (at: string) => at === "append"],
      // Taken out, and the file has no end.
      ["before the file has its end", (at: string) => at === "end"],
    ] as const)
      it(`are finished by the next run when the process was lost ${what}`, async () => {
        const before = await ledgerRows();
        let dies = true;
        const dying: ArchiveFolder = {
          ...folder,
          async append(file, text) {
            const at = text.includes('"type":"end"') ? "end" : "append";
            if (at === "append" || !dies) await folder.append(file, text);
            if (dies && killed(at)) throw new Error("killed");
          },
        };
        expect(await archives.archive(dying, NOON + A_DAY_MS).catch((error: Error) => error.message)).to.equal(
          "killed",
        );
        await sound();
        expect((await archives.check(folder)).map(({ invariant }) => invariant)).to.deep.equal(["archive-is-complete"]);
        // A line that was not written to its end.
        await appendFile(join(path, FIRST), '{"accountId":"acct_');
        dies = false;
        const [resumed] = await archivesOf().archive(dying, NOON + A_DAY_MS);
        expect(resumed).to.include({ number: 1, entries: 3 });
        expect(await ledgerRows()).to.deep.equal([]);
        expect(await archives.check(folder)).to.deep.equal([]);
        await sound();
        await archives.restore(folder, FIRST);
        expect(await ledgerRows()).to.deep.equal(before);
      });

    it("are refused to a second process while one is at work, until half a minute after that was lost", async () => {
      let second: unknown = null;
      const busy: ArchiveFolder = {
        ...folder,
        async append(file, text) {
          second ??= await archivesOf()
            .archive(folder, NOON + A_DAY_MS)
            .catch((error: Error) => error.message);
          await folder.append(file, text);
        },
      };
      await archives.archive(busy, NOON + A_DAY_MS);
      expect(second).to.equal("Another process archives or restores the ledger; try again in 30 s.");
      await storage.installation.keep(
        "ledger_archiving",
        JSON.stringify({ owner: "prc_lost", until: clock.now() + 1 }),
      );
      await clock.advance(1);
      expect(await archives.archive(folder, NOON + A_DAY_MS)).to.deep.equal([]);
    });

    describe("that are damaged", () => {
      beforeEach(async () => {
        await archives.archive(folder, NOON + A_DAY_MS);
        await endedJob(NOON + A_DAY_MS, "completed");
        await archives.archive(folder, NOON + 2 * A_DAY_MS);
      });

      const found = async (): Promise<string[]> =>
        (await archives.check(folder)).map((one) => `${one.invariant} ${one.subject}: ${one.found}`);

      it("are named where a file is missing", async () => {
        await rm(join(path, FIRST));
        expect(await found()).to.deep.equal([`archive-is-as-written ${FIRST}: the file is missing`]);
        const refused = await archives.restore(folder, FIRST).catch((error: Error) => error.message);
        expect(refused).to.equal(`There is no file ${FIRST}.`);
      });

      it("are named where a byte was flipped, and not restored", async () => {
        const content = await readFile(join(path, FIRST));
        const at = content.indexOf('"spent":4') + '"spent":'.length;
        content.writeUInt8(content.readUInt8(at) ^ 1, at);
        await writeFile(join(path, FIRST), content);
        expect((await found()).join()).to.match(
          /^archive-is-as-written ledger-000001\.jsonl: it was changed; its sha256 is \w{64}, it was \w{64}$/,
        );
        const refused = await archives.restore(folder, FIRST).catch((error: Error) => error.message);
        expect(refused).to.equal(`${FIRST} is damaged: it is not what was written. Nothing was put back.`);
        content.writeUInt8(0, 0);
        await writeFile(join(path, FIRST), content);
        expect((await found()).join()).to.match(/: a line is no JSON \(/);
      });

      it("are named where a file was truncated", async () => {
        await truncate(join(path, FIRST), (await readFile(join(path, FIRST))).length - 10);
        expect(await found()).to.deep.equal([`archive-is-as-written ${FIRST}: it ends after 3 of 3 entries`]);
      });

      it("are named where an archive, with its record, is gone: the chain and the sums show it", async () => {
        await storage.database.write("fermata_ledger_archives").where({ number: 1 }).delete();
        expect((await found()).join()).to.match(
          /^archive-is-as-written ledger-000002\.jsonl: it follows \w{64}, where the one before it has the sha256 none$/,
        );
      });

      it("are named where an opening is not what was archived, by account", async () => {
        await storage.database.write("fermata_ledger_openings").update({ checksum: "1".repeat(64) });
        expect(await found()).to.deep.equal([
          `opening-is-what-was-archived ${account.id}: opening_entries 5, archived_entries 5`,
        ]);
      });

      it("are refused where they are those of another installation", async () => {
        await storage.database.write("fermata_ledger_archives").delete();
        await storage.database.write("fermata_installation").where({ name: "id" }).update({ value: "another" });
        const refused = await archives.archive(folder, NOON + A_DAY_MS).catch((error: Error) => error.message);
        expect(refused).to.equal(`${FIRST} is an archive of something else; name another folder.`);
      });
    });

    it("are readable by the user alone, a file for each run", async () => {
      await archives.archive(folder, NOON + A_DAY_MS);
      expect(await readdir(path)).to.deep.equal([FIRST]);
    });
  });

function withTime<M extends { readonly entries: readonly { readonly createdAt: number }[] }>(
  movement: M,
  createdAt: number,
): M {
  return { ...movement, entries: movement.entries.map((entry) => ({ ...entry, createdAt })) };
}

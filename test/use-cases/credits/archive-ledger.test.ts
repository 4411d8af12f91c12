import { expect } from "chai";
import { AuditTrail } from "../../../core/audit/audit-trail.js";
import { type ArchiveFolder, ArchiveLedger } from "../../../core/credits/archive-ledger.js";
import { VerifyLedger } from "../../../core/credits/verify-ledger.js";
import { OperationRefusedError } from "../../../core/errors.js";
import type { AccountId } from "../../../core/ids.js";
import type { Movement } from "../../../core/credits/balance.js";
import { aJob, aReservation, aSettlement, NOON } from "../../support/builders.js";
import { type MemoryCore, memoryCore } from "../../support/memory-core.js";

const DAY_MS = 86_400_000;
const [FIRST, SECOND] = ["ledger-000001.jsonl", "ledger-000002.jsonl"] as const;

/** A folder in memory. */
class Folder implements ArchiveFolder {
  readonly files = new Map<string, Uint8Array>();
  read = async (file: string): Promise<Uint8Array | null> => this.files.get(file) ?? null;
  append = async (file: string, text: string): Promise<void> =>
    void this.files.set(file, Buffer.concat([this.files.get(file) ?? Buffer.alloc(0), Buffer.from(text)]));
  cut = async (file: string, bytes: number): Promise<void> =>
    void this.files.set(file, (this.files.get(file) ?? Buffer.alloc(0)).subarray(0, bytes));
  text = (file: string): string => Buffer.from(this.files.get(file) ?? []).toString();
  lines = (file: string): Record<string, unknown>[] =>
    this.text(file)
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as Record<string, unknown>);
}

describe("Archives of the ledger", () => {
  let memory: MemoryCore;
  let folder: Folder;
  let accountId: AccountId;
  let archives: ArchiveLedger;
  beforeEach(async () => {
    memory = await memoryCore();
    folder = new Folder();
    archives = archivesOf();
    accountId = (await memory.storage.addAccount({}, { monthly: 40, pack: 10 })).id;
    await endJob(NOON, "charge");
  });

  function archivesOf(): ArchiveLedger {
    const { ports } = memory;
    const audit = new AuditTrail({ ...ports, actor: () => ({ name: "alice", why: null }) });
    return new ArchiveLedger({ ...ports, audit, verifier: new VerifyLedger(ports) });
  }

  const at = (movement: Movement, createdAt: number): Movement => ({
    ...movement,
    entries: movement.entries.map((entry) => ({ ...entry, createdAt })),
  });

  async function endJob(when: number, kind: "charge" | "refund", id = accountId): Promise<void> {
    const { storage } = memory;
    const status = kind === "charge" ? "completed" : "failed";
    const ended = { phase: "ended", dueAt: null, completedAt: when + 1 } as const;
    const credits = { reserved: { monthly: 4, pack: 0 }, creditsCharged: kind === "charge" ? 4 : 0 };
    const job = aJob({ accountId: id, status, createdAt: when, ...ended, ...credits });
    await storage.inTransaction((tx) => storage.jobs.insertJobs(tx, [job]));
    await storage.apply(at(aReservation(await storage.balanceOf(id), job), when));
    await storage.apply(at(aSettlement(await storage.balanceOf(id), job, kind), when + 1));
    storage.sql("UPDATE fermata_jobs SET tracks_deleted_at = ? WHERE id = ?", when + 1, job.id);
  }

  const entries = (id = accountId) => memory.storage.ledger.listEntries(id, 1_000);
  const archive = (before = NOON + DAY_MS) => archives.archive(folder, before);
  const refusal = (work: Promise<unknown>): Promise<string> =>
    work.then(
      () => "done",
      (error: Error) => (error instanceof OperationRefusedError ? error.message : String(error)),
    );
  const found = async (): Promise<string[]> =>
    (await archives.check(folder)).map((one) => `${one.invariant} ${one.subject}: ${one.found}`);
  const sound = async (): Promise<void> => {
    expect((await memory.storage.ledger.audit()).violations).to.deep.equal([]);
    expect(await found()).to.deep.equal([]);
  };

  it("are files of lines: what they are, the entries, and the end with a hash", async () => {
    const before = await entries();
    const written = await archive();
    expect(written).to.have.length(1);
    expect(written[0]).to.include({
      number: 1,
      file: FIRST,
      entries: 3,
      state: "archived",
      createdAt: memory.clock.now(),
    });
    const [header, ...lines] = folder.lines(FIRST);
    const installation = await memory.storage.installation.find("id");
    expect(header).to.deep.equal({ type: "ledger-archive", version: 1, number: 1, installation, previous: null });
    const end = lines.pop();
    expect(lines).to.have.deep.members(before);
    const text = folder.text(FIRST);
    const content = text.slice(0, text.lastIndexOf('{"type":"end"'));
    expect(end).to.deep.equal({ type: "end", entries: 3, sha256: memory.ports.digest.sha256(content) });
    expect(written[0]?.sha256).to.equal(memory.ports.digest.sha256(text));
  });

  it("have old entries, in whose place their sums stand; nothing is left the next time", async () => {
    await endJob(NOON + DAY_MS, "refund");
    const balance = await memory.storage.balanceOf(accountId);
    await archive();
    expect((await entries()).map(({ kind }) => kind)).to.deep.equal(["refund", "reserve", "opening"]);
    expect(await memory.storage.balanceOf(accountId)).to.deep.equal(balance);
    await sound();
    expect(await archive()).to.deep.equal([]);
    expect(folder.files.size).to.equal(1);
    const [record] = (await memory.storage.auditLog.list({ limit: 9 })).toReversed();
    expect(record).to.deep.include({
      action: "ledger.archive",
      fields: { before: new Date(NOON + DAY_MS).toISOString() },
    });
  });

  it("follow each other, and name the one before", async () => {
    const [first] = await archive();
    await endJob(NOON + DAY_MS, "charge");
    const [second] = await archive(NOON + 2 * DAY_MS);
    expect(second).to.include({ number: 2, file: SECOND, entries: 2 });
    expect(folder.lines(SECOND)[0]).to.include({ number: 2, previous: first?.sha256 });
    await sound();
  });

  it("have the entries of several accounts, and many of one", async () => {
    const { id } = await memory.storage.addAccount({}, { monthly: 2_000 });
    for (let jobs = 0; jobs < 150; jobs++) await endJob(NOON + jobs, "refund", id);
    const [written] = await archive();
    expect(written?.entries).to.equal(304);
    expect((await entries(id)).map(({ kind }) => kind)).to.deep.equal(["opening"]);
    await sound();
    expect(await archives.restore(folder, FIRST)).to.equal(304);
    expect(await entries(id)).to.have.length(301);
    await sound();
  });

  it("are put back entry by entry, once, and may be archived again", async () => {
    const before = await entries();
    await archive();
    expect(await archives.restore(folder, FIRST)).to.equal(3);
    expect(await entries()).to.deep.equal(before);
    await sound();
    expect(await archives.restore(folder, FIRST)).to.equal(0);
    const [record] = await memory.storage.auditLog.list({ limit: 1 });
    expect(record).to.deep.include({ action: "ledger.restore", targets: [FIRST], fields: { entries: 3 } });
    expect((await archive())[0]).to.include({ number: 2, entries: 3 });
    await sound();
  });

  it("are not written of a ledger that breaks an invariant", async () => {
    memory.storage.sql("UPDATE fermata_balances SET pack = 99");
    expect(await refusal(archive())).to.equal(
      `The ledger breaks balance-equals-sum-of-entries (${accountId}); nothing was archived. ` +
        "See `fermata ledger verify`.",
    );
    expect(folder.files.size).to.equal(0);
  });

  for (const part of ["entries", "end"] as const) {
    it(`are finished by the next run when the process was lost before the ${part} is written`, async () => {
      const before = await entries();
      const { append } = folder;
      folder.append = async (file, text) => {
        if (text.includes('"type":"end"') === (part === "end")) {
          if (part === "entries") await append(file, `${text}{"accountId":"half a li`);
          throw new Error("killed");
        }
        return append(file, text);
      };
      expect(await refusal(archive())).to.include("killed");
      expect(await found()).to.deep.equal([
        `archive-is-complete ${FIRST}: it was not written to its end; run \`fermata ledger archive\` again`,
      ]);
      folder.append = append;
      const [resumed, ...others] = await archivesOf().archive(folder, NOON + DAY_MS);
      expect([resumed?.number, resumed?.entries, others]).to.deep.equal([1, 3, []]);
      expect((await entries()).map(({ kind }) => kind)).to.deep.equal(["opening"]);
      expect(folder.text(FIRST)).not.to.include("half a li");
      await sound();
      await archives.restore(folder, FIRST);
      expect(await entries()).to.deep.equal(before);
    });
  }

  it("are finished where only the record of a file is missing, and where nothing of it was written", async () => {
    await archive();
    const text = folder.text(FIRST);
    memory.storage.sql("DELETE FROM fermata_ledger_archives");
    expect((await archive())[0]).to.include({ number: 1, entries: 3 });
    expect(folder.text(FIRST)).to.equal(text);
    await sound();
    await folder.append(SECOND, "");
    await endJob(NOON + DAY_MS, "charge");
    const written = await archive(NOON + 2 * DAY_MS);
    expect(written.map(({ file, entries: count }) => [file, count])).to.deep.equal([
      [SECOND, 0],
      ["ledger-000003.jsonl", 2],
    ]);
    await sound();
  });

  it("are refused to a second process while one is at work, until half a minute after that was lost", async () => {
    let second = "";
    const { append } = folder;
    folder.append = async (file, text) => {
      if (second === "") second = await refusal(archivesOf().archive(folder, NOON + DAY_MS));
      return append(file, text);
    };
    await archive();
    expect(second).to.equal("Another process archives or restores the ledger; try again in 30 s.");
    const lost = { owner: "prc_lost", until: memory.clock.now() + 1_500 };
    await memory.storage.installation.keep("ledger_archiving", JSON.stringify(lost));
    expect(await refusal(archive())).to.include("try again in 2 s.");
    await memory.clock.advance(1_500);
    expect(await refusal(archive())).to.equal("done");
  });

  it("of which only a part is back are named, until they are restored", async () => {
    await archive();
    memory.storage.sql("UPDATE fermata_ledger_archives SET state = 'restoring'");
    expect((await found()).join()).to.include(`archive-is-restored-to-its-end ${FIRST}: only a part of its entries`);
    expect(await archives.restore(folder, FIRST)).to.equal(3);
    await sound();
  });

  describe("that are damaged", () => {
    beforeEach(async () => {
      await archive();
      await endJob(NOON + DAY_MS, "charge");
      await archive(NOON + 2 * DAY_MS);
    });

    it("are named where a file is missing, and not restored", async () => {
      folder.files.delete(FIRST);
      expect(await found()).to.deep.equal([`archive-is-as-written ${FIRST}: the file is missing`]);
      expect(await refusal(archives.restore(folder, FIRST))).to.equal(`There is no file ${FIRST}.`);
      expect(await refusal(archives.restore(folder, "other.jsonl"))).to.equal(
        "other.jsonl is no archive of this installation's ledger.",
      );
    });

    it("are named where a file was changed or cut off, and not restored", async () => {
      const text = folder.text(FIRST);
      const changed = async (to: string): Promise<string> => {
        folder.files.set(FIRST, Buffer.from(to));
        expect(await refusal(archives.restore(folder, FIRST))).to.include(`${FIRST} is damaged`);
        return (await found()).join();
      };
      expect(await changed(text.replace('"spent":4', '"spent":5'))).to.match(
        /^archive-is-as-written ledger-000001\.jsonl: it was changed; its sha256 is \w{64}, it was \w{64}$/,
      );
      expect(await changed(text.replace("{", "?"))).to.match(
        /: a line is no JSON \(.*\); its sha256 is \w{64}, it was/,
      );
      expect(await changed(text.slice(0, -10))).to.equal(
        `archive-is-as-written ${FIRST}: it ends after 3 of 3 entries`,
      );
    });

    it("are named where one with its record is gone", async () => {
      memory.storage.sql("DELETE FROM fermata_ledger_archives WHERE number = 1");
      expect((await found()).join()).to.match(
        /^archive-is-as-written ledger-000002\.jsonl: it follows \w{64}, where the one before it has the sha256 none$/,
      );
    });

    it("are named where an opening is not what was archived, or stands for nothing", async () => {
      memory.storage.sql("UPDATE fermata_ledger_openings SET checksum = ?", "1".repeat(64));
      const what = `opening-is-what-was-archived ${accountId}: `;
      expect(await found()).to.deep.equal([`${what}opening_entries 5, archived_entries 5`]);
      memory.storage.sql("DELETE FROM fermata_ledger_openings");
      expect(await found()).to.deep.equal([`${what}opening_entries 0, archived_entries 5`]);
    });

    it("are named where the archives of an opening are gone", async () => {
      memory.storage.sql("UPDATE fermata_ledger_archives SET state = 'restored'");
      expect(await found()).to.deep.equal([
        `opening-is-what-was-archived ${accountId}: opening_entries 5, archived_entries 0`,
      ]);
    });

    it("are refused where they are those of another installation", async () => {
      memory.storage.sql("DELETE FROM fermata_ledger_archives");
      memory.storage.sql("UPDATE fermata_installation SET value = 'another' WHERE name = 'id'");
      expect(await refusal(archive())).to.equal(`${FIRST} is an archive of something else; name another folder.`);
    });
  });
});

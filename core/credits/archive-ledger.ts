import type { RecordsActions } from "../audit/audit-trail.js";
import { OperationRefusedError } from "../errors.js";
import type { ProcessId } from "../ids.js";
import type { Clock } from "../ports/clock.js";
import type { Digest } from "../ports/digest.js";
import type { IdGenerator } from "../ports/id-generator.js";
import type { InstallationStore } from "../ports/installation-store.js";
import type { LedgerArchive } from "../ports/ledger-archives.js";
import type { LedgerStore, LedgerViolation } from "../ports/ledger-store.js";
import type { Transaction, UnitOfWork } from "../ports/unit-of-work.js";
import { archiveFile, endLine, entryLines, headerLine, parseArchive, partsByAccount } from "./archive-file.js";
import type { LedgerEntry } from "./balance.js";
import { checkArchives } from "./check-archives.js";
import type { LedgerVerification } from "./verify-ledger.js";

/** A folder with archives of the ledger. */
export interface ArchiveFolder {
  /** null: there is no such file. */
  read(file: string): Promise<Uint8Array | null>;
  /** Adds to the end of a file, which is created where it is missing. Resolves when that is durable. */
  append(file: string, text: string): Promise<void>;
  /** Leaves the first `bytes` of a file. */
  cut(file: string, bytes: number): Promise<void>;
}

export interface ArchiveLedgerDeps {
  readonly ledger: LedgerStore;
  readonly installation: InstallationStore;
  readonly unitOfWork: UnitOfWork;
  readonly audit: RecordsActions;
  readonly clock: Clock;
  readonly ids: IdGenerator;
  readonly digest: Pick<Digest, "sha256">;
  readonly verifier: { verify(options: object): Promise<Pick<LedgerVerification, "violations">> };
}

/** The name under which the storage keeps who archives or restores now. */
const LEASE = "ledger_archiving";
/** One that was killed leaves it behind for so long. */
const LEASE_MS = 30_000;
const INSTALLATION_ID = "id";

/** Read, or changed in one transaction, at once: a request of the account waits a moment at most. */
const STEP_ENTRIES = 200;
/** A file has so many entries, and those of the last step. */
const FILE_ENTRIES = 50_000;

/**
 * Takes old entries out of the ledger into files, and back in. An opening per account stands in their place, so that
 * balances stay the sums of the ledger. An entry is taken out once it is durably in a file; what was interrupted is
 * finished by the next run.
 */
export class ArchiveLedger {
  constructor(private readonly deps: ArchiveLedgerDeps) {}

  /**
   * Archives the entries that are older than `before`, but for those that have a reference and those of jobs that are
   * not settled, or only since then.
   *
   * @returns the files that were completed
   * @throws {OperationRefusedError} the ledger breaks an invariant, another process archives, or the folder has a file
   *   of something else
   */
  async archive(folder: ArchiveFolder, before: number): Promise<LedgerArchive[]> {
    const { violations } = await this.deps.verifier.verify({});
    const [first] = violations;
    if (first !== undefined)
      throw new OperationRefusedError(
        `The ledger breaks ${first.invariant} (${first.subject}); nothing was archived. See \`fermata ledger verify\`.`,
      );
    return this.alone(async (lease) => {
      const fields = { before: new Date(before).toISOString() };
      await this.deps.audit.note({ action: "ledger.archive", accountId: null, targets: [], fields });
      const resumed = await this.resume(folder, lease);
      const written: LedgerArchive[] = resumed === null ? [] : [resumed];
      for (let cursor: string | null = null; ;) {
        const { archive, next }: Written = await this.write(folder, lease, cursor, before);
        if (archive !== null) written.push(archive);
        if (next === null) return written;
        cursor = next;
      }
    });
  }

  /**
   * Puts the entries of an archive back in place of a part of the openings. The file stays.
   *
   * @returns how many were put back
   * @throws {OperationRefusedError} the file is no archive of this installation, or damaged; nothing was put back
   */
  async restore(folder: ArchiveFolder, file: string): Promise<number> {
    const { ledger, unitOfWork, digest, audit } = this.deps;
    const archive = (await ledger.listArchives()).find((one) => one.file === file);
    if (archive === undefined) throw new OperationRefusedError(`${file} is no archive of this installation's ledger.`);
    const content = await folder.read(file);
    if (content === null) throw new OperationRefusedError(`There is no file ${file}.`);
    if (digest.sha256(content) !== archive.sha256)
      throw new OperationRefusedError(`${file} is damaged: it is not what was written. Nothing was put back.`);
    if (archive.state === "restored") return 0;
    return this.alone(async (lease) => {
      const fields = { entries: archive.entries };
      await audit.note({ action: "ledger.restore", accountId: null, targets: [file], fields });
      const becomes = (state: LedgerArchive["state"]): Promise<void> =>
        unitOfWork.inTransaction((tx) => ledger.writeArchive(tx, { ...archive, state }));
      await becomes("restoring");
      let restored = 0;
      for (const part of partsByAccount(parseArchive(content).entries, STEP_ENTRIES))
        restored += await this.step(lease, part, (tx, accountId) => ledger.unfold(tx, accountId, part));
      await becomes("restored");
      return restored;
    });
  }

  /** Reads all archives, and compares them with what the ledger has in their place. */
  check(folder: Pick<ArchiveFolder, "read">): Promise<LedgerViolation[]> {
    return checkArchives(this.deps, folder);
  }

  /** Finishes a file whose process was lost. @returns null: there is none */
  private async resume(folder: ArchiveFolder, lease: Lease): Promise<LedgerArchive | null> {
    const { ledger, clock } = this.deps;
    const { number, header } = await this.nextArchive();
    const file = archiveFile(number);
    const content = await folder.read(file);
    if (content === null) return null;
    const found = parseArchive(content);
    if (found.header !== null && headerLine(headerOf(found.header)) !== header)
      throw new OperationRefusedError(`${file} is an archive of something else; name another folder.`);
    if (found.bytes < content.length) await folder.cut(file, found.bytes);
    if (found.header === null) await folder.append(file, header);
    for (const part of partsByAccount(found.entries, STEP_ENTRIES))
      await this.step(lease, part, (tx, accountId) => ledger.fold(tx, accountId, part, clock.now()));
    return this.finish(folder, number, found.entries.length, found.end !== null);
  }

  /** Writes one file. @returns null where nothing was left to archive */
  private async write(folder: ArchiveFolder, lease: Lease, from: string | null, before: number): Promise<Written> {
    const { ledger, clock } = this.deps;
    const { number, header } = await this.nextArchive();
    const file = archiveFile(number);
    let [cursor, count] = [from, 0];
    do {
      const { entries, next } = await ledger.archivable(cursor, before, STEP_ENTRIES);
      cursor = next;
      const [first] = entries;
      if (first === undefined) continue;
      await folder.append(file, (count === 0 ? header : "") + entryLines(entries));
      await this.step(lease, entries, (tx) => ledger.fold(tx, first.accountId, entries, clock.now()));
      count += entries.length;
    } while (cursor !== null && count < FILE_ENTRIES);
    return { archive: count === 0 ? null : await this.finish(folder, number, count, false), next: cursor };
  }

  private async finish(
    folder: ArchiveFolder,
    number: number,
    entries: number,
    isComplete: boolean,
  ): Promise<LedgerArchive> {
    const { ledger, digest, clock, unitOfWork } = this.deps;
    const file = archiveFile(number);
    const content = async (): Promise<Uint8Array> => (await folder.read(file)) ?? new Uint8Array();
    if (!isComplete) await folder.append(file, endLine({ entries, sha256: digest.sha256(await content()) }));
    const archive: LedgerArchive = {
      ...{ number, file, entries, state: "archived" },
      sha256: digest.sha256(await content()),
      createdAt: clock.now(),
    };
    await unitOfWork.inTransaction((tx) => ledger.writeArchive(tx, archive));
    return archive;
  }

  private async nextArchive(): Promise<{ readonly number: number; readonly header: string }> {
    const { ledger, installation } = this.deps;
    const last = (await ledger.listArchives()).at(-1);
    const number = (last?.number ?? 0) + 1;
    const id = (await installation.find(INSTALLATION_ID)) ?? "";
    return { number, header: headerLine({ number, installation: id, previous: last?.sha256 ?? null }) };
  }

  /** One transaction on one account, which also says that this process is still there. */
  private async step(
    lease: Lease,
    [first]: readonly LedgerEntry[],
    change: (tx: Transaction, accountId: LedgerEntry["accountId"]) => Promise<number>,
  ): Promise<number> {
    if (first === undefined) return 0;
    return this.deps.unitOfWork.inTransaction(async (tx) => {
      await this.hold(tx, lease);
      return change(tx, first.accountId);
    });
  }

  private async alone<T>(work: (lease: Lease) => Promise<T>): Promise<T> {
    const { installation, unitOfWork, ids } = this.deps;
    await installation.keepFirst(LEASE, JSON.stringify({ owner: null, until: 0 }));
    const lease: Lease = { owner: ids.next("prc") };
    await unitOfWork.inTransaction((tx) => this.hold(tx, lease));
    try {
      return await work(lease);
    } finally {
      await installation.keep(LEASE, JSON.stringify({ owner: null, until: 0 }));
    }
  }

  /** @throws {OperationRefusedError} another process archives or restores */
  private async hold(tx: Transaction, { owner }: Lease): Promise<void> {
    const { installation, clock } = this.deps;
    const stored = JSON.parse((await installation.lock(tx, LEASE)) ?? "null") as StoredLease | null;
    const waitMs = (stored?.until ?? 0) - clock.now();
    if (stored !== null && stored.owner !== owner && waitMs > 0)
      throw new OperationRefusedError(
        `Another process archives or restores the ledger; try again in ${Math.ceil(waitMs / 1000)} s.`,
      );
    await installation.write(tx, LEASE, JSON.stringify({ owner, until: clock.now() + LEASE_MS }));
  }
}

interface Lease {
  readonly owner: ProcessId;
}

interface StoredLease {
  readonly owner: string | null;
  readonly until: number;
}

interface Written {
  readonly archive: LedgerArchive | null;
  readonly next: string | null;
}

function headerOf({
  number,
  installation,
  previous,
}: Parameters<typeof headerLine>[0]): Parameters<typeof headerLine>[0] {
  return { number, installation, previous };
}

import type { Digest } from "../ports/digest.js";
import type { LedgerArchive, LedgerOpening } from "../ports/ledger-archives.js";
import type { LedgerStore, LedgerViolation } from "../ports/ledger-store.js";
import { archiveFile, type ParsedArchive, parseArchive, partsByAccount } from "./archive-file.js";
import type { LedgerEntry } from "./balance.js";

interface CheckArchivesDeps {
  readonly ledger: Pick<LedgerStore, "listArchives" | "listOpenings" | "checksumOf">;
  readonly digest: Pick<Digest, "sha256">;
}

interface Files {
  read(file: string): Promise<Uint8Array | null>;
}

type Sums = Pick<LedgerOpening, "entries" | "checksum">;

const PAGE = 1_000;

/**
 * Every archive has to be there, as it was written, and name the one before it; together their entries have to be what
 * the openings stand for.
 */
export async function checkArchives(deps: CheckArchivesDeps, files: Files): Promise<LedgerViolation[]> {
  const violations: LedgerViolation[] = [];
  const sums = new Map<string, Sums>();
  const archives = await deps.ledger.listArchives();
  for (const [index, archive] of archives.entries()) {
    const previous = archives[index - 1]?.sha256 ?? null;
    const content = await files.read(archive.file);
    const found = content === null ? "the file is missing" : damageOf(deps.digest, archive, previous, content);
    if (found !== null) violations.push({ invariant: "archive-is-as-written", subject: archive.file, found });
    else if (archive.state === "restoring")
      violations.push({
        invariant: "archive-is-restored-to-its-end",
        subject: archive.file,
        found: "only a part of its entries is back in the ledger; run `fermata ledger restore` again",
      });
    else if (content !== null && archive.state === "archived") addTo(sums, deps, parseArchive(content).entries);
  }
  const next = archiveFile((archives.at(-1)?.number ?? 0) + 1);
  if ((await files.read(next)) !== null)
    violations.push({
      invariant: "archive-is-complete",
      subject: next,
      found: "it was not written to its end; run `fermata ledger archive` again",
    });
  // What is damaged says it all; the sums would only repeat it for each account.
  return violations.length > 0 ? violations : compare(deps, sums);
}

function damageOf(
  digest: Pick<Digest, "sha256">,
  { sha256, number, entries }: LedgerArchive,
  previous: string | null,
  content: Uint8Array,
): string | null {
  const actual = digest.sha256(content);
  if (actual === sha256) {
    const { header } = parseArchive(content);
    if (header?.number === number && header.previous === previous) return null;
    return `it follows ${header?.previous ?? "none"}, where the one before it has the sha256 ${previous ?? "none"}`;
  }
  const parsed = parsedOf(content);
  if (typeof parsed === "string") return `${parsed}; its sha256 is ${actual}, it was ${sha256}`;
  if (parsed.end === null) return `it ends after ${parsed.entries.length} of ${entries} entries`;
  return `it was changed; its sha256 is ${actual}, it was ${sha256}`;
}

/** What is wrong, where it cannot be read. */
function parsedOf(content: Uint8Array): ParsedArchive | string {
  try {
    return parseArchive(content);
  } catch (error) {
    return `a line is no JSON (${(error as Error).message})`;
  }
}

function addTo(sums: Map<string, Sums>, { ledger }: CheckArchivesDeps, entries: readonly LedgerEntry[]): void {
  for (const part of partsByAccount(entries, entries.length)) {
    const account = part[0]?.accountId ?? "";
    const known = sums.get(account);
    const checksum = ledger.checksumOf(part, known?.checksum);
    sums.set(account, { entries: (known?.entries ?? 0) + part.length, checksum });
  }
}

async function compare({ ledger }: CheckArchivesDeps, sums: Map<string, Sums>): Promise<LedgerViolation[]> {
  const violations: LedgerViolation[] = [];
  const differs = (subject: string, opening: Sums | undefined, archived: Sums | undefined): void => {
    if (opening?.checksum === archived?.checksum) return;
    const found = `opening_entries ${opening?.entries ?? 0}, archived_entries ${archived?.entries ?? 0}`;
    violations.push({ invariant: "opening-is-what-was-archived", subject, found });
  };
  for (let after = ""; ;) {
    const page = await ledger.listOpenings(after, PAGE);
    for (const opening of page) {
      differs(opening.accountId, opening, sums.get(opening.accountId));
      sums.delete(opening.accountId);
    }
    after = page.at(-1)?.accountId ?? after;
    if (page.length < PAGE) break;
  }
  for (const [account, archived] of sums) differs(account, undefined, archived);
  return violations;
}

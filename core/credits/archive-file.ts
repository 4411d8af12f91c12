import type { LedgerEntry } from "./balance.js";
import { entryLine } from "./entry-line.js";

/** The first line of an archive. */
export interface ArchiveHeader {
  readonly type: "ledger-archive";
  readonly version: 1;
  readonly number: number;
  /** Of the installation whose ledger it is. */
  readonly installation: string;
  /** SHA-256 of the file before it; null in the first. */
  readonly previous: string | null;
}

/** The last line of an archive that is complete. */
export interface ArchiveEnd {
  readonly type: "end";
  readonly entries: number;
  /** SHA-256 of all that is before this line. */
  readonly sha256: string;
}

/** What is in a file, up to a last line that is not complete. */
export interface ParsedArchive {
  readonly header: ArchiveHeader | null;
  readonly entries: readonly LedgerEntry[];
  readonly end: ArchiveEnd | null;
  /** How long the complete lines are. */
  readonly bytes: number;
}

export function archiveFile(number: number): string {
  return `ledger-${String(number).padStart(6, "0")}.jsonl`;
}

export function headerLine(header: Omit<ArchiveHeader, "type" | "version">): string {
  return `${JSON.stringify({ type: "ledger-archive", version: 1, ...header } satisfies ArchiveHeader)}\n`;
}

export function entryLines(entries: readonly LedgerEntry[]): string {
  return entries.map((entry) => `${entryLine(entry)}\n`).join("");
}

export function endLine(end: Omit<ArchiveEnd, "type">): string {
  return `${JSON.stringify({ type: "end", ...end } satisfies ArchiveEnd)}\n`;
}

/** @throws {SyntaxError} a complete line is no JSON: it is damaged */
export function parseArchive(content: Uint8Array): ParsedArchive {
  const bytes = content.lastIndexOf(0x0a) + 1;
  const text = new TextDecoder().decode(content.subarray(0, bytes));
  const lines = text === "" ? [] : text.slice(0, -1).split("\n");
  const [header = null, ...others] = lines.map((line) => JSON.parse(line) as ArchiveHeader | LedgerEntry | ArchiveEnd);
  const last = others.at(-1);
  const end = last !== undefined && "type" in last && last.type === "end" ? last : null;
  const entries = others.slice(0, end === null ? others.length : -1) as LedgerEntry[];
  return { header: header as ArchiveHeader | null, entries, end, bytes };
}

/** Entries in their order, in parts that are each of one account and not long. */
export function partsByAccount(entries: readonly LedgerEntry[], length: number): LedgerEntry[][] {
  const parts: LedgerEntry[][] = [];
  for (const entry of entries) {
    const part = parts.at(-1);
    if (part !== undefined && part.length < length && part[0]?.accountId === entry.accountId) part.push(entry);
    else parts.push([entry]);
  }
  return parts;
}

/** The moment so many months before, in UTC; of a day that its month has not got, the month's last. */
export function monthsBefore(now: number, months: number): number {
  const date = new Date(now);
  const month = new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() - months, 1));
  const days = new Date(Date.UTC(month.getUTCFullYear(), month.getUTCMonth() + 1, 0)).getUTCDate();
  return month.getTime() + (Math.min(date.getUTCDate(), days) - 1) * 86_400_000 + (now % 86_400_000);
}

import type { ErasureStore } from "../../../../core/ports/erasure-store.js";
import type { Transaction } from "../../../../core/ports/unit-of-work.js";
import { allOf } from "../rows.js";
import { sessionOf } from "../session.js";
import { plain, type RowOf, table } from "../table.js";
import { DeletionQueries } from "./deletion-queries.js";

/** Files of which the rows are gone: only their keys, and from when on any process deletes them. */
const FILE_DELETIONS = table("file_deletions", { audioKey: plain<string>(), dueAt: plain<number>() }, ["audioKey"]);
type FileRow = RowOf<typeof FILE_DELETIONS>;

const NOTED = "SELECT audio_key FROM {file_deletions} WHERE audio_key = ?";
const DUE = "SELECT audio_key FROM {file_deletions} WHERE due_at <= ? ORDER BY due_at LIMIT ?";
const POSTPONE = "UPDATE {file_deletions} SET due_at = ? WHERE audio_key = ?";
const FORGET = "DELETE FROM {file_deletions} WHERE audio_key = ?";

type Methods = "noteFiles" | "isNotedFile" | "dueFiles" | "postponeFiles" | "forgetFiles";

/** Adds the files that are to be deleted. */
export class FileQueries extends DeletionQueries implements Pick<ErasureStore, Methods> {
  async noteFiles(tx: Transaction, audioKeys: readonly string[], dueAt: number): Promise<void> {
    const session = sessionOf(tx);
    const noted = new Set((await allOf<Pick<FileRow, "audio_key">>(session, NOTED, audioKeys)).map(keyOf));
    const fresh = [...new Set(audioKeys)].filter((key) => !noted.has(key));
    await session.insert(
      FILE_DELETIONS,
      fresh.map((audioKey) => FILE_DELETIONS.toRow({ audioKey, dueAt })),
    );
  }

  async isNotedFile(audioKey: string): Promise<boolean> {
    return (await this.database.all(NOTED, [audioKey])).length > 0;
  }

  async dueFiles(now: number, limit: number): Promise<string[]> {
    return (await this.database.all<Pick<FileRow, "audio_key">>(DUE, [now, limit])).map(keyOf);
  }

  async postponeFiles(tx: Transaction, audioKeys: readonly string[], dueAt: number): Promise<void> {
    const lists = [...audioKeys].sort().map((key) => [dueAt, key]);
    await sessionOf(tx).runEach(POSTPONE, lists);
  }

  async forgetFiles(tx: Transaction, audioKeys: readonly string[]): Promise<void> {
    const lists = [...audioKeys].sort().map((key) => [key]);
    await sessionOf(tx).runEach(FORGET, lists);
  }
}

function keyOf({ audio_key: key }: Pick<FileRow, "audio_key">): string {
  return key;
}

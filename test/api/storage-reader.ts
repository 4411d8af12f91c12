import { createStores, type KnexDatabase, openDatabase, type Stores } from "../../adapters/storage/sql/index.js";
import type { AccountId } from "../../core/ids.js";
import { SILENT, TEST_PORTS } from "../support/databases.js";
import type { TestApp } from "../support/test-app.js";

/** Reads an app's storage from outside, as another process would; the app may have stopped. */
export async function alongside<T>(
  { app }: TestApp,
  use: (stores: Stores, database: KnexDatabase) => Promise<T>,
): Promise<T> {
  const database = await openDatabase({ url: app.settings.storage.url, logger: SILENT });
  try {
    return await use(createStores(database, TEST_PORTS), database);
  } finally {
    await database.close();
  }
}

export interface CreditFigures {
  readonly credits_used: number;
  readonly credits_refunded: number;
}

/** The sums of the account's reservations and refunds in the ledger. */
export async function ledgerFigures(test: TestApp, accountId: AccountId): Promise<CreditFigures> {
  const entries = await alongside(test, ({ ledger }) => ledger.listEntries(accountId, 1_000));
  const sum = (kind: "reserve" | "refund"): number =>
    entries
      .filter((entry) => entry.kind === kind)
      .reduce((total, { monthly, pack }) => total + Math.abs(monthly + pack), 0);
  return { credits_used: sum("reserve"), credits_refunded: sum("refund") };
}

/** Every cell of every row of the request log, as one text. */
export function loggedText(test: TestApp): Promise<string> {
  return alongside(test, async (_, { read }) => JSON.stringify(await read("fermata_request_log").select()));
}

/** How many files are stored, and how many uploads are known. */
export async function leftOf(test: TestApp): Promise<{ readonly files: number; readonly uploads: number }> {
  const { listed } = await test.app.audio.collect({ isDryRun: true });
  const rows = await alongside(test, (_, { read }) => read("fermata_uploads").select());
  return { files: listed.files, uploads: rows.length };
}

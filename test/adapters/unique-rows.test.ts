import { expect } from "chai";
import type { KnexDatabase } from "../../adapters/storage/sql/index.js";
import { NodeDigest } from "../../adapters/crypto/digest.js";
import { nextRecord } from "../../core/audit/audit-record.js";
import { aHash, anId, NOON } from "../support/builders.js";
import { sqliteStorage } from "../support/databases.js";
import { MemoryAudioStore } from "../support/doubles/memory-audio-store.js";
import { fillAccount } from "../support/filled-account.js";
import { mysqlStorage } from "../support/mysql.js";
import type { StorageUnderTest } from "../support/storage-under-test.js";

type Row = Readonly<Record<string, string | number | null>>;

/** Columns of which no two rows have the same values, besides the primary key. */
interface Unique {
  readonly table: string;
  /** The primary key; the last of its columns tells two rows apart. */
  readonly key: readonly string[];
  readonly columns: readonly string[];
  /** Columns of the table's other indexes of this kind: without a value they keep no row out. */
  readonly others?: readonly string[];
}

const UNIQUE: readonly Unique[] = [
  { table: "api_keys", key: ["id"], columns: ["token_hash"] },
  { table: "admin_tokens", key: ["id"], columns: ["token_hash"] },
  { table: "accounts", key: ["id"], columns: ["external_id"] },
  { table: "audit_log", key: ["number"], columns: ["id"] },
  { table: "jobs", key: ["id"], columns: ["account_id", "reference"] },
  { table: "job_attempts", key: ["job_id", "number"], columns: ["id"] },
  { table: "ledger_entries", key: ["account_id", "seq"], columns: ["phase", "job_id"], others: ["external_ref"] },
  { table: "ledger_entries", key: ["account_id", "seq"], columns: ["external_ref"], others: ["job_id"] },
  { table: "playlist_tracks", key: ["playlist_id", "position"], columns: ["playlist_id", "track_id"] },
  { table: "provider_callbacks", key: ["id"], columns: ["job_id", "digest"] },
  { table: "tracks", key: ["id"], columns: ["job_id", "position"], others: ["share_token"] },
  { table: "tracks", key: ["id"], columns: ["share_token"], others: ["job_id"] },
  { table: "webhook_deliveries", key: ["id"], columns: ["event_id", "endpoint_id"] },
];

for (const { name, open } of [sqliteStorage, mysqlStorage]) {
  describe(`Rows that exist once: ${name}`, () => {
    let storage: StorageUnderTest & { readonly database: KnexDatabase };
    before(async () => {
      storage = await open();
      await fillAccount(storage, new MemoryAudioStore(), "words");
      await fillRest(storage);
    });
    after(() => storage.close());

    for (const { table, key, columns, others = [] } of UNIQUE) {
      it(`${table}: a second row with the same ${columns.join(" and ")} is refused`, async () => {
        const { write, names } = storage.database;
        const rows = names.of(table);
        const [found] = (await write(rows)
          .whereNotNull(columns.at(-1) ?? "")
          .limit(1)) as Row[];
        expect(found, "the table has a row with these values").to.include.keys(columns);
        const alone = { ...found, ...Object.fromEntries(others.map((column) => [column, null])) };
        const twin = changed(alone, key.at(-1) ?? "");
        const problem = await write(rows)
          .insert(twin)
          .then(
            () => null,
            (error: unknown) => String(error),
          );
        expect(problem).to.match(/unique|duplicate/i);
        // With another value of these columns the same row is accepted.
        await write(rows).insert(changed(twin, columns.at(-1) ?? ""));
      });
    }
  });
}

/** The row with another value in one column, of the same form. */
function changed(row: Row, column: string): Row {
  const value = row[column];
  return { ...row, [column]: typeof value === "number" ? value + 500 : otherText(String(value)) };
}

function otherText(text: string): string {
  return /^[0-9a-f]{64}$/.test(text) ? aHash() : anId("trk");
}

/** What no account has by itself, or had to be given. */
async function fillRest(storage: StorageUnderTest & { readonly database: KnexDatabase }): Promise<void> {
  await storage.inTransaction(async (tx) => {
    const token = { id: anId("adm"), name: "Zoë", role: "read", tokenHash: aHash(), shownPrefix: "fra_" } as const;
    await storage.adminTokens.insertAdminToken(tx, { ...token, createdAt: NOON, expiresAt: null, revokedAt: null });
    const created = { id: anId("aud"), actor: "Zoë", action: "accounts.create", accountId: null } as const;
    const head = await storage.auditLog.lockHead(tx);
    const record = nextRecord(head, { ...created, targets: [], fields: {}, createdAt: NOON }, new NodeDigest());
    await storage.auditLog.append(tx, record);
  });
  const { write, names } = storage.database;
  for (const [table, key, column] of [
    ["jobs", "id", "reference"],
    ["tracks", "id", "share_token"],
    ["ledger_entries", "seq", "external_ref"],
  ] as const) {
    const [row] = (await write(names.of(table)).orderBy(key).limit(1)) as Row[];
    await write(names.of(table))
      .where({ [key]: row?.[key] })
      .update({ [column]: "order 17" });
  }
}

import { join } from "node:path";
import { expect } from "chai";
import { type KnexDatabase, openDatabase } from "../../adapters/storage/sql/index.js";
import { MIGRATIONS } from "../../adapters/storage/sql/migrations/index.js";
import { SILENT, sqliteStorage, temporaryFolder } from "../support/databases.js";

const NAMES = MIGRATIONS.map((migration) => migration.name);

describe("Storage schema", () => {
  const opened: KnexDatabase[] = [];
  async function open(url?: string): Promise<KnexDatabase> {
    // Waiting for a lock blocks the thread, on which the lock's owner runs here too.
    const file = url ?? `sqlite:${join(await temporaryFolder(), "fermata.db")}`;
    const database = await openDatabase({ url: file, logger: SILENT, lockWaitMs: 1 });
    opened.push(database);
    return database;
  }
  afterEach(() => Promise.all(opened.splice(0).map((database) => database.close())));

  it("is pending as a whole on a new file, which is not changed", async () => {
    const database = await open();
    expect(await database.schemaStatus()).to.deep.equal({ state: "pending", migrations: NAMES });
    expect(await database.pendingMigrations()).to.deep.equal(NAMES);
    expect(await database.read.schema.hasTable("fermata_accounts")).to.equal(false);
  });

  it("applies pending migrations once, and names them", async () => {
    const database = await open();
    expect(await database.migrate()).to.deep.equal(NAMES);
    expect(await database.migrate()).to.deep.equal([]);
    expect(await database.schemaStatus()).to.deep.equal({ state: "current" });
    expect(await database.pendingMigrations()).to.deep.equal([]);
  });

  it("applies the rest of a partly migrated schema", async () => {
    const database = await open();
    await database.migrate();
    const rest = NAMES.slice(NAMES.indexOf("0029-track-lyrics"));
    await database.write("fermata_migrations").whereIn("name", rest).delete();
    const created = [
      ...["track_lyrics", "admin_tokens", "account_deletions", "file_deletions", "job_sources"],
      ...["ledger_checkpoints", "ledger_openings", "ledger_archives"],
    ];
    for (const table of created) await database.write.schema.dropTable(`fermata_${table}`);
    expect(await database.schemaStatus()).to.deep.equal({ state: "pending", migrations: rest });
    expect(await database.migrate()).to.deep.equal(rest);
  });

  it("is newer than this code when it has an unknown migration, and is then not changed", async () => {
    const database = await open();
    await database.migrate();
    await database.write("fermata_migrations").insert({ name: "9999-from-the-future", batch: 2 });
    expect(await database.schemaStatus()).to.deep.equal({ state: "newer", migrations: ["9999-from-the-future"] });
    const error = await database.migrate().catch((cause: unknown) => cause);
    expect((error as Error).message).to.include("9999-from-the-future");
  });

  it("is migrated once by concurrent processes", async () => {
    const url = `sqlite:${join(await temporaryFolder(), "fermata.db")}`;
    const databases = await Promise.all(Array.from({ length: 4 }, () => open(url)));
    const applied = await Promise.all(databases.map((database) => database.migrate()));
    expect(applied.flat()).to.deep.equal(NAMES);
    for (const database of databases) expect((await database.schemaStatus()).state).to.equal("current");
  });

  it("leaves nothing of an interrupted migration", async () => {
    const database = await open();
    await database.write.schema.createTable("fermata_api_keys", (table) => table.string("in_the_way"));
    await database.write.schema.createTable("fermata_api_keys_token_hash", (table) => table.string("in_the_way"));
    await database.write.schema.dropTable("fermata_api_keys");
    expect(await database.migrate().catch((cause: unknown) => cause)).to.be.instanceOf(Error);
    expect(await database.read.schema.hasTable("fermata_accounts")).to.equal(false);
    await database.write.schema.dropTable("fermata_api_keys_token_hash");
    expect(await database.migrate()).to.deep.equal(NAMES);
  });

  it("names migrations in the order in which they are applied", () => {
    expect([...NAMES].sort()).to.deep.equal(NAMES);
    expect(new Set(NAMES).size).to.equal(NAMES.length);
  });

  it("can run each interrupted migration again", async () => {
    const storage = await sqliteStorage.open();
    const { write, dialect, names } = storage.database;
    for (const migration of MIGRATIONS) await migration.up(write, dialect.columns, names);
    await storage.close();
  });
});

import { join } from "node:path";
import { expect } from "chai";
import { ForeignTablesError, type KnexDatabase, openDatabase } from "../../adapters/storage/sql/index.js";
import { MIGRATIONS } from "../../adapters/storage/sql/migrations/index.js";
import type { Migration } from "../../adapters/storage/sql/migrations/migration.js";
import { TableNames } from "../../adapters/storage/sql/table-names.js";
import { SILENT, temporaryFolder } from "../support/databases.js";
import { createMysqlDatabase } from "../support/mysql.js";

const NAMES = MIGRATIONS.map(({ name }) => name);
/** What the tables of all migrations are called, without a prefix. */
const TABLES = MIGRATIONS.flatMap(({ creates = [] }) => creates);

interface Place {
  readonly url: string;
  drop(): Promise<void>;
}

const ENGINES: Readonly<Record<string, () => Promise<Place>>> = {
  SQLite: async () => ({
    url: `sqlite:${join(await temporaryFolder(), "host.db")}`,
    drop: () => Promise.resolve(),
  }),
  MySQL: () => createMysqlDatabase(),
};

for (const [engine, create] of Object.entries(ENGINES)) {
  describe(`Tables next to those of a host: ${engine}`, function () {
    this.timeout(60_000);
    let place: Place;
    const opened: KnexDatabase[] = [];
    async function open(tablePrefix: string | null = null): Promise<KnexDatabase> {
      const database = await openDatabase({ url: place.url, logger: SILENT, tablePrefix });
      opened.push(database);
      return database;
    }
    beforeEach(async () => {
      place = await create();
    });
    afterEach(async () => {
      await Promise.all(opened.splice(0).map((database) => database.close()));
      await place.drop();
    });

    /** What a host's own migrations may have left: names that were ours before there was a prefix. */
    async function addHostTables({ write }: KnexDatabase, tables: readonly string[]): Promise<void> {
      for (const table of tables) {
        await write.schema.createTable(table, (columns) => {
          columns.integer("id").primary();
          columns.string("note", 20);
        });
        await write(table).insert({ id: 1, note: "the host's" });
      }
    }

    async function addHostMigrations({ write }: KnexDatabase, table: string): Promise<void> {
      await write.schema.createTable(table, (columns) => {
        columns.increments("id");
        columns.string("name", 255);
        columns.integer("batch");
      });
      await write(table).insert({ name: "20240101_orders.js", batch: 1 });
    }

    async function tablesOf(database: KnexDatabase): Promise<string[]> {
      const text =
        database.dialect.name === "mysql"
          ? "SELECT table_name AS name FROM information_schema.tables WHERE table_schema = DATABASE()"
          : "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'";
      return (await database.all<{ readonly name: string }>(text)).map(({ name }) => name).sort();
    }

    /** An installation from before there was a prefix. */
    async function installUnprefixed(): Promise<void> {
      const { write, dialect } = await open();
      await write.migrate.latest({
        tableName: "knex_migrations",
        migrationSource: {
          getMigrations: () => Promise.resolve([...MIGRATIONS]),
          getMigrationName: ({ name }: Migration) => name,
          getMigration: ({ up }: Migration) =>
            Promise.resolve({
              up: (knex) => up(knex, dialect.columns, new TableNames("")),
              down: () => Promise.reject(new Error("Only forward.")),
            }),
        },
      });
    }

    it("begin with fermata_ in a new installation, next to a host's tables of the same names", async () => {
      const database = await open();
      const hosts = ["accounts", "jobs", "tracks", "migrations"];
      await addHostTables(database, hosts);
      await addHostMigrations(database, "knex_migrations");
      expect(await database.migrate()).to.deep.equal(NAMES);
      const all = await tablesOf(database);
      expect(all.filter((name) => !name.startsWith("fermata_"))).to.deep.equal([...hosts, "knex_migrations"].sort());
      expect(all).to.include.members([...TABLES.map((name) => `fermata_${name}`), "fermata_migrations"]);
      for (const table of hosts) {
        expect(await database.write(table).select()).to.deep.equal([{ id: 1, note: "the host's" }]);
      }
      expect(await database.write("knex_migrations").pluck("name")).to.deep.equal(["20240101_orders.js"]);
      expect((await (await open()).schemaStatus()).state).to.equal("current");
    });

    it("begin with the prefix of the setting; two installations live in one database", async () => {
      const [one, other] = [await open("music_"), await open("radio_")];
      expect(await one.migrate()).to.deep.equal(NAMES);
      expect(await other.migrate()).to.deep.equal(NAMES);
      expect(await tablesOf(one)).to.include.members([
        "music_jobs",
        "music_migrations",
        "radio_jobs",
        "radio_migrations",
      ]);
      expect((await (await open("music_")).schemaStatus()).state).to.equal("current");
      expect((await (await open()).schemaStatus()).state).to.equal("pending");
    });

    it("are refused by name, with nothing changed, where something else has one of their names", async () => {
      const database = await open("app_");
      await addHostTables(database, ["app_accounts", "app_webhook_tries"]);
      await database.write.raw("CREATE VIEW app_uploads AS SELECT id FROM app_accounts");
      const error = await database.migrate().catch((cause: unknown) => cause);
      expect(error).to.be.instanceOf(ForeignTablesError);
      expect((error as ForeignTablesError).tables).to.deep.equal(["app_accounts", "app_webhook_tries", "app_uploads"]);
      expect((error as Error).message).to.include("app_accounts, app_webhook_tries, app_uploads");
      expect((await tablesOf(database)).filter((name) => name !== "app_uploads")).to.deep.equal([
        "app_accounts",
        "app_webhook_tries",
      ]);
      expect(await database.write("app_accounts").select()).to.deep.equal([{ id: 1, note: "the host's" }]);
    });

    for (const [what, add] of [
      ["a host's migrations", addHostMigrations],
      ["rows of another kind", (database: KnexDatabase, table: string) => addHostTables(database, [table])],
    ] as const) {
      it(`are refused where the migrations table has ${what}`, async () => {
        const database = await open("app_");
        await add(database, "app_migrations");
        expect(await database.schemaStatus()).to.deep.equal({ state: "foreign", tables: ["app_migrations"] });
        const error = await database.migrate().catch((cause: unknown) => cause);
        expect(error).to.be.instanceOf(ForeignTablesError);
        expect(await tablesOf(database)).to.deep.equal(["app_migrations"]);
      });
    }

    it("keep their names in an installation from before there was a prefix", async () => {
      await installUnprefixed();
      const database = await open();
      expect(database.names.prefix).to.equal("");
      expect((await database.schemaStatus()).state).to.equal("current");
      const rest = NAMES.slice(NAMES.indexOf("0029-track-lyrics"));
      await database.write("knex_migrations").whereIn("name", rest).delete();
      const created = MIGRATIONS.filter(({ name }) => rest.includes(name)).flatMap(({ creates = [] }) => creates);
      for (const table of created) await database.write.schema.dropTable(table);
      expect(await database.migrate()).to.deep.equal(rest);
      expect((await tablesOf(database)).filter((name) => name.startsWith("fermata_"))).to.deep.equal([]);
    });

    it("are not sought under a prefix where the installation has none", async () => {
      await installUnprefixed();
      const error = await open("fermata_").catch((cause: unknown) => cause);
      expect((error as Error).message)
        .to.include("one without a table prefix")
        .and.include('"fermata_"');
    });

    it("are not chosen by guess between two installations", async () => {
      const database = await open("fermata_");
      await database.migrate();
      await installUnprefixed();
      const error = await open().catch((cause: unknown) => cause);
      expect((error as Error).message).to.include("two installations");
      expect((await (await open("fermata_")).schemaStatus()).state).to.equal("current");
    });

    it("are those that the migrations name: no other is created", async () => {
      const database = await open();
      await database.migrate();
      const own = ["migrations", "migrations_lock"];
      expect(await tablesOf(database)).to.deep.equal([...TABLES, ...own].map((name) => `fermata_${name}`).sort());
    });

    it("have indexes that begin with the prefix too", async () => {
      const database = await open("app_");
      await database.migrate();
      const isMysql = database.dialect.name === "mysql";
      const text = isMysql
        ? "SELECT DISTINCT index_name AS name FROM information_schema.statistics WHERE table_schema = DATABASE() AND " +
          "index_name <> 'PRIMARY' AND table_name NOT LIKE 'app_migrations%'"
        : "SELECT name FROM sqlite_schema WHERE type = 'index' AND name NOT LIKE 'sqlite_autoindex_%'";
      const rows = await database.all<{ readonly name: string }>(text);
      expect(rows).to.not.deep.equal([]);
      for (const { name } of rows) expect(name).to.match(/^app_/);
    });
  });
}

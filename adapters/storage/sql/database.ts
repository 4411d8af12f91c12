import type { Knex } from "knex";
import { assert } from "../../../core/assert.js";
import { ServiceUnavailableError } from "../../../core/errors.js";
import type { PoolFigures } from "../../../core/ports/opened-storage.js";
import type { HostTransaction } from "../../../core/ports/unit-of-work.js";
import type { Connections, Dialect, JoiningWork } from "./dialect.js";
import { INSTALLATION_ID } from "./host-transaction.js";
import { migrationSource, MIGRATIONS, neededBy } from "./migrations/index.js";
import type { Session, SqlValue, TransactionSession } from "./session.js";
import { readTime } from "./storage-time.js";
import type { TableNames } from "./table-names.js";

/** The migrations table of installations from before there was a prefix. */
export const UNPREFIXED_MIGRATIONS = "knex_migrations";

/** In the table of the installation: the name of the migration that a version must know to run on the schema. */
const SCHEMA_NEEDS = "schema_needs";
const FIND_NEEDS = "SELECT value FROM {installation} WHERE name = ?";

/** How the schema stands to this code. */
export type SchemaStatus =
  | { readonly state: "current" }
  /** `migrations` are still to be applied. */
  | { readonly state: "pending"; readonly migrations: readonly string[] }
  /** A later version applied `migrations` that this code does not know, and says whether this code `runs` on them. */
  | { readonly state: "newer"; readonly migrations: readonly string[]; readonly runs: boolean }
  /** Something else created `tables`, whose names the schema needs. Nothing is changed. */
  | { readonly state: "foreign"; readonly tables: readonly string[] };

/** Tables are in the way that something else created; nothing was changed. */
export class ForeignTablesError extends Error {
  override readonly name = "ForeignTablesError";

  constructor(readonly tables: readonly string[]) {
    super(
      `The database has tables that Fermata did not create and whose names it needs: ${tables.join(", ")}. ` +
        "Nothing was changed. Choose another storage.tablePrefix, or another database.",
    );
  }
}

/** An open database with its schema. Its opener closes it. */
export class KnexDatabase {
  constructor(
    readonly dialect: Dialect,
    readonly names: TableNames,
    private readonly connections: Connections,
  ) {}

  /** The name of the table of the migrations that were applied. */
  get migrationsTable(): string {
    return this.names.prefix === "" ? UNPREFIXED_MIGRATIONS : this.names.of("migrations");
  }

  /** {@link Connections.file} */
  get file(): string | null {
    return this.connections.file;
  }

  /** The handle for writes. */
  get write(): Knex {
    return this.connections.write;
  }

  /** The handle for reads outside transactions: it sees what is committed, and refuses to write. */
  get read(): Knex {
    return this.connections.read;
  }

  /**
   * Runs `work` in one transaction, once. Errors are the driver's own; {@link KnexUnitOfWork} retries and maps them.
   */
  transaction<T>(work: (session: TransactionSession) => Promise<T>): Promise<T> {
    return this.connections.transaction(work);
  }

  /** Runs the work once in a transaction of an embedding app; errors as those of {@link transaction}. */
  async join<T>(transaction: HostTransaction, work: JoiningWork<T>): Promise<T> {
    this.installationId ??= await this.findInstallationId();
    return this.connections.join(transaction, { ...work, installationId: this.installationId });
  }

  private installationId: string | null = null;

  private async findInstallationId(): Promise<string> {
    const [row] = await this.all<{ readonly value: string }>(INSTALLATION_ID);
    assert(row !== undefined, "a migration gives every installation an id");
    return row.value;
  }

  /** @throws {ServiceUnavailableError} the storage cannot be reached */
  reading<T>(work: (session: Session) => Promise<T>): Promise<T> {
    return this.mapped(() => work(this.connections.reader));
  }

  /**
   * One read outside transactions, as {@link Session.all}. @throws {ServiceUnavailableError} the storage cannot be
   * reached
   */
  all<Row>(sql: string, values?: readonly SqlValue[]): Promise<Row[]> {
    return this.reading((session) => session.all<Row>(sql, values));
  }

  /** As {@link Session.allEach}. @throws {ServiceUnavailableError} the storage cannot be reached */
  allEach<Row>(sql: string, lists: readonly (readonly SqlValue[])[]): Promise<Row[]> {
    return this.reading((session) => session.allEach<Row>(sql, lists));
  }

  /** Reads on one consistent view of the data. @throws {ServiceUnavailableError} the storage cannot be reached */
  snapshot<T>(work: (session: Session) => Promise<T>): Promise<T> {
    return this.mapped(() => this.connections.snapshot(work));
  }

  /**
   * Applies pending migrations. Of several processes at once, one does the work and the others wait. @returns what this
   * one applied
   *
   * @throws {ForeignTablesError} something else created tables whose names it needs
   */
  async migrate(): Promise<string[]> {
    if (!(await this.isPending())) return [];
    return this.connections.alone(async (knex) => {
      // Another process may have been first.
      if (!(await this.isPending())) return [];
      // Before the schema changes: older processes that cannot go on are not ready from now on.
      if (await this.hasTable(this.names.of("installation"))) await this.recordNeeds(knex);
      const config = { tableName: this.migrationsTable, migrationSource: migrationSource(this.dialect, this.names) };
      // knex has a lock of its own, which a killed process leaves behind. No other process migrates now, so it has no
      // owner.
      await knex.migrate.forceFreeMigrationsLock(config);
      const [, applied] = (await knex.migrate.latest(config)) as [number, string[]];
      await this.recordNeeds(knex);
      return applied;
    });
  }

  private async recordNeeds(knex: Knex): Promise<void> {
    const row = { name: SCHEMA_NEEDS, value: neededBy(MIGRATIONS) };
    await knex(this.names.of("installation")).insert(row).onConflict("name").merge();
  }

  async schemaStatus(): Promise<SchemaStatus> {
    const applied = await this.appliedMigrations();
    if (applied === null) return { state: "foreign", tables: [this.migrationsTable] };
    const newer = [...applied].filter((name) => !MIGRATIONS.some((migration) => migration.name === name));
    const pending = MIGRATIONS.filter(({ name }) => !applied.has(name));
    if (newer.length > 0)
      return { state: "newer", migrations: newer, runs: pending.length === 0 && (await this.isNeedKnown()) };
    if (pending.length === 0) return { state: "current" };
    const tables = await this.foreignAmong(pending.flatMap(({ creates = [] }) => creates));
    if (tables.length > 0) return { state: "foreign", tables };
    return { state: "pending", migrations: pending.map(({ name }) => name) };
  }

  /** @param name with the prefix @throws {ServiceUnavailableError} the storage cannot be reached */
  async hasTable(name: string): Promise<boolean> {
    return (await this.all(this.dialect.findTable, [name])).length > 0;
  }

  /** The names of the migrations still to be applied, in order. */
  async pendingMigrations(): Promise<readonly string[]> {
    const status = await this.schemaStatus();
    return status.state === "pending" ? status.migrations : [];
  }

  /** @throws {ServiceUnavailableError} the storage cannot be reached */
  async check(): Promise<void> {
    await this.reading((session) => session.all(this.dialect.probe));
  }

  /**
   * The database's clock, in milliseconds since 1970; as it was at some moment of this call.
   *
   * @throws {ServiceUnavailableError} the storage cannot be reached
   */
  readTime(): Promise<number> {
    return this.reading((session) => readTime(session, this.dialect.timeQuery));
  }

  /** How the connections of this process are used. */
  pools(): readonly PoolFigures[] {
    return this.connections.pools();
  }

  /** Closes both handles; open transactions end first. A second time does nothing. */
  close(): Promise<void> {
    this.closing ??= this.connections.close();
    return this.closing;
  }

  private closing: Promise<void> | null = null;

  private async isNeedKnown(): Promise<boolean> {
    const needs = await this.all<{ readonly value: string }>(FIND_NEEDS, [SCHEMA_NEEDS]);
    return needs.some(({ value }) => MIGRATIONS.some(({ name }) => name === value));
  }

  /** @throws {Error} the schema is a newer one, on which this code does not run */
  private async isPending(): Promise<boolean> {
    const status = await this.schemaStatus();
    if (status.state === "foreign") throw new ForeignTablesError(status.tables);
    if (status.state === "newer" && !status.runs)
      throw new Error(`The storage was migrated by a newer version: ${status.migrations.join(", ")}.`);
    return status.state === "pending";
  }

  /** null where the table that records them is not ours. */
  private async appliedMigrations(): Promise<ReadonlySet<string> | null> {
    const table = this.migrationsTable;
    if (!(await this.hasTable(table))) return new Set();
    // Not by its columns: something else's may have others.
    const rows = await this.all<{ readonly name?: unknown }>(`SELECT * FROM ${table}`);
    const applied = new Set(rows.map(({ name }) => String(name)));
    const isOurs = rows.length === 0 || MIGRATIONS.some(({ name }) => applied.has(name));
    return isOurs ? applied : null;
  }

  /** Those of the tables that are there although Fermata did not create them, by their full names. */
  private async foreignAmong(tables: readonly string[]): Promise<string[]> {
    const foreign: string[] = [];
    for (const name of tables.map((table) => this.names.of(table)))
      if ((await this.all(this.dialect.findForeignTable, [name])).length > 0) foreign.push(name);
    return foreign;
  }

  private async mapped<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      throw this.dialect.isUnavailable(error) ? unavailable(error) : error;
    }
  }
}

/** The storage's failure as callers may see it. */
export function unavailable(cause: unknown): ServiceUnavailableError {
  return new ServiceUnavailableError(undefined, undefined, { cause });
}

import type { Knex } from "knex";
import type { Logger } from "../../../core/ports/logger.js";
import { ServiceUnavailableError } from "../../../core/errors.js";
import type { Connections, Dialect } from "./dialect.js";
import { migrationSource, MIGRATIONS } from "./migrations/index.js";
import type { Session, SqlValue, TransactionSession } from "./session.js";
import { readTime } from "./storage-time.js";
import { mysqlDialect } from "./mysql/dialect.js";
import { sqliteDialect } from "./sqlite/dialect.js";

/** By scheme of `storage.url`. */
const DIALECTS: Readonly<Record<string, Dialect>> = { sqlite: sqliteDialect, mysql: mysqlDialect };

const MIGRATIONS_TABLE = "knex_migrations";

/**
 * How the schema stands to this code. `current`: the same. `pending`: `migrations` are still to be applied. `newer`: a
 * later version applied `migrations` that this code does not know.
 */
export interface SchemaStatus {
  readonly state: "current" | "pending" | "newer";
  readonly migrations: readonly string[];
}

export interface DatabaseOptions {
  /** `sqlite:PATH` or `mysql://USER:PASSWORD@HOST:PORT/DATABASE` */
  readonly url: string;
  readonly logger: Logger;
  /**
   * How long one attempt waits for a lock that another transaction holds; the dialect's own by default. A unit of work
   * tries five times.
   */
  readonly lockWaitMs?: number;
}

/**
 * Opens the database, making a missing SQLite file with its folders; the schema is left as it is.
 *
 * @throws {Error} the URL names no engine that is known, or the file cannot be opened
 */
export async function openDatabase({ url, logger, lockWaitMs }: DatabaseOptions): Promise<KnexDatabase> {
  const [scheme = "", target = ""] = splitOnce(url, ":");
  const dialect = DIALECTS[scheme];
  if (dialect === undefined || target === "") {
    const allowed = Object.values(DIALECTS).map((known) => known.urlForm);
    throw new Error(`A storage URL is ${allowed.join(" or ")}; got "${scheme}:…".`);
  }
  return new KnexDatabase(
    dialect,
    await dialect.connect(target, { log: knexLog(logger), lockWaitMs: lockWaitMs ?? dialect.lockWaitMs }),
  );
}

/** An open database with its schema. Its opener closes it. */
export class KnexDatabase {
  constructor(
    readonly dialect: Dialect,
    private readonly connections: Connections,
  ) {}

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
   */
  async migrate(): Promise<string[]> {
    if (!(await this.isPending())) return [];
    return this.connections.alone(async (knex) => {
      // Another process may have been first.
      if (!(await this.isPending())) return [];
      const config = { tableName: MIGRATIONS_TABLE, migrationSource: migrationSource(this.dialect) };
      // knex has a lock of its own, which a killed process leaves behind. No other process migrates now, so it has no
      // owner.
      await knex.migrate.forceFreeMigrationsLock(config);
      const [, applied] = (await knex.migrate.latest(config)) as [number, string[]];
      return applied;
    });
  }

  async schemaStatus(): Promise<SchemaStatus> {
    const applied = new Set(await this.reading((session) => this.appliedMigrations(session)));
    const known = MIGRATIONS.map((migration) => migration.name);
    const newer = [...applied].filter((name) => !known.includes(name));
    if (newer.length > 0) return { state: "newer", migrations: newer };
    const pending = known.filter((name) => !applied.has(name));
    return { state: pending.length > 0 ? "pending" : "current", migrations: pending };
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

  /** Closes both handles; open transactions end first. A second time does nothing. */
  close(): Promise<void> {
    this.closing ??= this.connections.close();
    return this.closing;
  }

  private closing: Promise<void> | null = null;

  /** @throws {Error} the schema is a newer one */
  private async isPending(): Promise<boolean> {
    const { state, migrations } = await this.schemaStatus();
    if (state === "newer") throw new Error(`The storage was migrated by a newer version: ${migrations.join(", ")}.`);
    return state === "pending";
  }

  private async appliedMigrations(session: Session): Promise<string[]> {
    if ((await session.all(this.dialect.findTable, [MIGRATIONS_TABLE])).length === 0) return [];
    const rows = await session.all<{ name: string }>(`SELECT name FROM ${MIGRATIONS_TABLE} ORDER BY id`);
    return rows.map((row) => row.name);
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

/** Without it knex writes to the console. */
function knexLog(logger: Logger): Knex.Logger {
  const log = logger.child({ component: "storage" });
  return {
    debug: (message: unknown) => log.debug(String(message)),
    warn: (message: unknown) => log.warn(String(message)),
    error: (message: unknown) => log.error(String(message)),
    deprecate: (method, alternative) => log.warn(`knex: ${method} is deprecated, use ${alternative}`),
  };
}

function splitOnce(text: string, separator: string): [string, string] {
  const at = text.indexOf(separator);
  return at < 0 ? [text, ""] : [text.slice(0, at), text.slice(at + separator.length)];
}

import type { Knex } from "knex";
import { KnexDatabase } from "../../../adapters/storage/sql/database.js";
import type { Connections, Dialect } from "../../../adapters/storage/sql/dialect.js";
import { mysqlDialect } from "../../../adapters/storage/sql/mysql/dialect.js";
import type { Session, TransactionSession } from "../../../adapters/storage/sql/session.js";
import { sqliteDialect } from "../../../adapters/storage/sql/sqlite/dialect.js";
import { SqliteSession } from "../../../adapters/storage/sql/sqlite/session.js";
import { TableNames } from "../../../adapters/storage/sql/table-names.js";
import type { MemoryDatabase } from "../memory-database.js";
import type { Injector } from "./injector.js";
import type { SimProcess } from "./process.js";
import { never } from "./scheduler.js";

export const NAMES = new TableNames("fermata_");

/** How long a process waits for a storage that is away before it gives up. */
const CONNECT_MS = 300;

/**
 * The storage of all processes: SQLite in memory, behind the stores of the SQL adapter. Each transaction is one step,
 * as if transactions followed one another; what goes wrong is what MySQL says.
 */
export class SimStorage {
  /** Transactions and reads at work: a step is not over before them. */
  atWork = 0;
  /** Commits so far of transactions that wrote something. */
  commits = 0;
  private readonly changesBefore: number;
  /** Counted again once something may have been written. */
  private known: number | null = null;

  constructor(
    readonly database: MemoryDatabase,
    private readonly injector: Injector<SimProcess>,
    private readonly concurrentWriters: number,
  ) {
    this.changesBefore = this.totalChanges();
  }

  /** How many rows were written so far. */
  get changes(): number {
    this.known ??= this.totalChanges() - this.changesBefore;
    return this.known;
  }

  private totalChanges(): number {
    return (this.database.prepared("SELECT total_changes() AS total").get() as { readonly total: number }).total;
  }

  /** The database as one process has it. */
  open(process: SimProcess): KnexDatabase {
    const dialect: Dialect = {
      ...sqliteDialect,
      concurrentWriters: this.concurrentWriters,
      isLostRace: (error) => sqliteDialect.isLostRace(error) || mysqlDialect.isLostRace(error),
      isLockWait: (error) => mysqlDialect.isLockWait(error),
      isUnavailable: (error) => sqliteDialect.isUnavailable(error) || mysqlDialect.isUnavailable(error),
    };
    return new KnexDatabase(dialect, NAMES, this.connectionsOf(process));
  }

  private connectionsOf(process: SimProcess): Connections {
    return {
      write: unused<Knex>("write"),
      read: unused<Knex>("read"),
      reader: this.readerOf(process),
      transaction: (work) => this.transaction(process, work),
      join: () => Promise.reject(new Error("No app has a transaction in a simulation.")),
      snapshot: (work) => this.reading(process, "snapshot", work),
      alone: () => Promise.reject(new Error("Nothing migrates in a simulation.")),
      file: null,
      pools: () => [],
      close: () => Promise.resolve(),
    };
  }

  private async transaction<T>(process: SimProcess, work: (session: TransactionSession) => Promise<T>): Promise<T> {
    await process.step("transaction");
    await this.connect(process);
    const session = new FaultySession(new SqliteSession(this.database.connection, NAMES), this.injector);
    const before = this.changes;
    const result = await this.working(async () => {
      this.database.run("BEGIN IMMEDIATE");
      try {
        const done = await work(session);
        session.isOpen = false;
        this.known = null;
        if (this.changes > before) this.commitWrites(process, session.hasAccepted);
        else this.database.run("COMMIT");
        return done;
      } finally {
        session.isOpen = false;
        this.known = null;
        if (this.database.connection.inTransaction) this.database.run("ROLLBACK");
      }
    });
    if (process.isDead) return never<T>();
    if (this.changes > before) await process.step("transaction: reply");
    return result;
  }

  /** Only what writes is counted: faults meet no maintenance that finds nothing. */
  private commitWrites(process: SimProcess, hasAccepted: boolean): void {
    const call = this.injector.called();
    if (this.injector.diesAt(process, call, "before")) return;
    const fault = this.injector.committing(hasAccepted);
    if (fault === null || fault.isCommitted) {
      this.database.run("COMMIT");
      this.commits += 1;
    }
    if (fault !== null) {
      this.injector.away(process.machine, fault.awayMs);
      throw driverError({ code: "PROTOCOL_CONNECTION_LOST" });
    }
    this.injector.diesAt(process, call, "after");
  }

  private async reading<T>(process: SimProcess, label: string, work: (session: Session) => Promise<T>): Promise<T> {
    await process.step(label);
    await this.connect(process);
    return this.working(() => work(new SqliteSession(this.database.connection, NAMES)));
  }

  private readerOf(process: SimProcess): Session {
    const session = new SqliteSession(this.database.connection, NAMES);
    return new Proxy<Session>(session, {
      get: (target, name) => {
        const member = Reflect.get(target, name) as (...given: unknown[]) => Promise<unknown>;
        return (...given: unknown[]) => this.reading(process, "read", () => member.apply(target, given));
      },
    });
  }

  private async connect(process: SimProcess): Promise<void> {
    if (!this.injector.isAway(process.machine)) return;
    await process.scheduler.sleep(process, CONNECT_MS);
    if (this.injector.isAway(process.machine)) throw driverError({ code: "ECONNREFUSED" });
  }

  private async working<T>(work: () => Promise<T>): Promise<T> {
    this.atWork += 1;
    try {
      return await work();
    } finally {
      this.atWork -= 1;
    }
  }
}

/** A session whose writes fail as the injector says. */
class FaultySession implements TransactionSession {
  /** Whether it has created jobs. */
  hasAccepted = false;

  constructor(
    private readonly session: SqliteSession,
    private readonly injector: Injector<SimProcess>,
  ) {}

  get isOpen(): boolean {
    return this.session.isOpen;
  }

  set isOpen(isOpen: boolean) {
    this.session.isOpen = isOpen;
  }

  all: Session["all"] = (...given) => this.session.all(...given);
  allEach: Session["allEach"] = (...given) => this.session.allEach(...given);
  run: Session["run"] = (...given) => this.write(() => this.session.run(...given));
  runEach: Session["runEach"] = (...given) => this.write(() => this.session.runEach(...given));
  writeEach: Session["writeEach"] = (...given) => this.write(() => this.session.writeEach(...given));
  updateRows: Session["updateRows"] = (...given) => this.write(() => this.session.updateRows(...given));
  insert: Session["insert"] = (...given) => {
    this.hasAccepted ||= given[0].name === "jobs";
    return this.write(() => this.session.insert(...given));
  };
  upsert: Session["upsert"] = (...given) => this.write(() => this.session.upsert(...given));
  upsertSums: Session["upsertSums"] = (...given) => this.write(() => this.session.upsertSums(...given));

  private async write<T>(statement: () => Promise<T>): Promise<T> {
    const fault = this.injector.writing();
    if (fault !== null) throw driverError({ errno: fault.errno });
    return statement();
  }
}

function driverError(fields: { readonly errno?: number; readonly code?: string }): Error {
  return Object.assign(new Error(`simulated: ${fields.errno ?? fields.code}`), fields);
}

function unused<T extends object>(name: string): T {
  const used = (): never => {
    throw new Error(`The handle ${name} is not there in a simulation.`);
  };
  return new Proxy(used, { get: used, apply: used }) as unknown as T;
}

import type { Knex } from "knex";
import { Pool } from "tarn";
import type { PoolFigures } from "../../../../core/ports/opened-storage.js";
import type { Connections, ConnectOptions } from "../dialect.js";
import { type Borrowed, refusedDatabase } from "../host-database.js";
import {
  type ConnectionSource,
  type ConnectionWork,
  handleOf,
  type MigrationHandle,
  onlyOne,
} from "./connection-source.js";
import { MysqlConnections } from "./connections.js";
import { cannotConnect, spoilsConnection } from "./errors.js";
import { HostMysqlSession, unfitCharacterSet, unfitness } from "./host-session.js";
import {
  MIGRATION_LOCK,
  MYSQL_LIMITS,
  SCHEMA_WAIT_SECONDS,
  SNAPSHOT_ISOLATION,
  SQL_MODE,
  whereSnapshots,
} from "./options.js";
import type { MysqlConnection } from "./session.js";
import { afterWaiting } from "./waits.js";

/** What of a session is ours while a connection is borrowed, and the app's again after. */
const OURS: Readonly<Record<string, string>> = {
  autocommit: "1",
  sql_mode: `'${SQL_MODE}'`,
  time_zone: "'+00:00'",
  sql_safe_updates: "0",
  sql_select_limit: "DEFAULT",
  character_set_client: "utf8mb4",
  character_set_results: "utf8mb4",
  character_set_connection: "utf8mb4",
  // The one before sets it, too: it comes last, also where it is set back.
  collation_connection: "utf8mb4_bin",
};
/** What else is set: the waits for a row and for a change of the schema. */
const LOCK_WAITS = ["innodb_lock_wait_timeout", "lock_wait_timeout"] as const;
const KEPT = [...LOCK_WAITS, ...Object.keys(OURS)];

const THEIRS =
  `SET ${KEPT.map((name) => `SESSION ${name} = @fermata_${name}`).join(", ")}` +
  whereSnapshots(`, SESSION ${SNAPSHOT_ISOLATION} = @fermata_${SNAPSHOT_ISOLATION}`);

function oursWith(lockWaitSeconds: number): string {
  const seconds = [lockWaitSeconds, Math.max(lockWaitSeconds, SCHEMA_WAIT_SECONDS)];
  const waits = LOCK_WAITS.map((name, index) => `SESSION ${name} = ${seconds[index]}`);
  const values = Object.entries(OURS).map(([name, value]) => `SESSION ${name} = ${value}`);
  const kept = KEPT.map((name) => `@fermata_${name} = @@SESSION.${name}`);
  const snapshots = whereSnapshots(
    `, @fermata_${SNAPSHOT_ISOLATION} = @@SESSION.${SNAPSHOT_ISOLATION}, SESSION ${SNAPSHOT_ISOLATION} = OFF`,
  );
  return `SET ${[...kept, ...values, ...waits].join(", ")}${snapshots}`;
}

/** What no setting of ours makes up for; the set of literals is one of {@link OURS}. */
const SESSION_STATE = "SELECT @@character_set_client AS client, @@character_set_results AS results, DATABASE() AS name";
type SessionState = Readonly<Record<"client" | "results" | "name", string | null>>;

/**
 * Connections of the app's own pool, borrowed for one read or one transaction each.
 *
 * @throws {OperationRefusedError} statements would not do on them what they do on connections of our own
 */
export async function borrowMysql(borrow: () => Promise<Borrowed>, options: ConnectOptions): Promise<Connections> {
  const { connection, release } = await borrow().catch((error: unknown) => {
    throw cannotConnect(error as Error);
  });
  try {
    await checkConnection(connection);
  } finally {
    release();
  }
  return new MysqlConnections(new BorrowedPool(borrow, options), options.names);
}

async function checkConnection(connection: object): Promise<void> {
  const unfit = unfitness(connection);
  if (unfit !== null) throw refusedDatabase(unfit);
  const session = new HostMysqlSession(connection as MysqlConnection, { limitMs: MYSQL_LIMITS.statementMs });
  const [found] = await session.all<SessionState>(SESSION_STATE);
  const set = unfitCharacterSet(connection, [found?.client ?? null, found?.results ?? null]);
  if (set !== null) throw refusedDatabase(`its connections use the character set ${set}, not utf8mb4`);
  if (found?.name === null) throw refusedDatabase("its connections have no database");
}

class BorrowedPool implements ConnectionSource {
  /** The app may have another level, and sessions that only read. */
  readonly begin = ["SET TRANSACTION ISOLATION LEVEL READ COMMITTED", "START TRANSACTION READ WRITE"];
  private readonly setup: string;
  private readonly out = new Set<Promise<unknown>>();
  private opened: MigrationHandle | null = null;

  constructor(
    private readonly borrow: () => Promise<Borrowed>,
    private readonly options: ConnectOptions,
  ) {
    this.setup = oursWith(Math.max(1, Math.round(options.lockWaitMs / 1000)));
  }

  get handle(): Knex {
    return (this.opened ??= this.openHandle(this.setup, { isKept: false })).knex;
  }

  openForMigrations(): MigrationHandle {
    return this.openHandle(oursWith(MYSQL_LIMITS.migrationMs / 1000), { isKept: true });
  }

  /** The app knows its pool. */
  pools(): readonly PoolFigures[] {
    return [];
  }

  /** The app closes its pool. */
  async close(): Promise<void> {
    await this.opened?.close();
    await Promise.allSettled(this.out);
  }

  async with<T>(limitMs: number, work: ConnectionWork<T>): Promise<T> {
    const running = this.onBorrowed(limitMs, work);
    this.out.add(running);
    try {
      return await running;
    } finally {
      this.out.delete(running);
    }
  }

  private async onBorrowed<T>(limitMs: number, work: ConnectionWork<T>): Promise<T> {
    const borrowed = await this.acquire();
    const session = new HostMysqlSession(borrowed.connection as MysqlConnection, {
      limitMs,
      names: this.options.names,
    });
    let isSpoiled = false;
    const discard = (): void => void (isSpoiled = true);
    try {
      await session.control(this.setup);
      return await work(session, discard);
    } catch (error) {
      if (spoilsConnection(error)) discard();
      throw error;
    } finally {
      session.isOpen = false;
      // The caller has its result all the same, and the app never gets a connection that is still ours.
      if (!isSpoiled) await session.control(THEIRS).catch(discard);
      if (isSpoiled) borrowed.discard();
      else borrowed.release();
    }
  }

  /** @throws {NoConnectionError} the pool had none in time */
  private async acquire(): Promise<Borrowed> {
    const pending = this.borrow();
    let isLate = false;
    try {
      return await new Promise<Borrowed>((resolve, reject) => {
        const stopWaiting = afterWaiting(MYSQL_LIMITS.borrowMs, () => {
          isLate = true;
          reject(new Error(`the app's pool had none within ${MYSQL_LIMITS.borrowMs} ms`));
        });
        pending.then(resolve, reject).finally(stopWaiting);
      });
    } catch (error) {
      // What comes late goes back at once; that none comes at all is the same as late.
      if (isLate)
        pending.then(
          ({ release }) => release(),
          () => undefined,
        );
      throw cannotConnect(error as Error);
    }
  }

  /**
   * A handle of knex on one borrowed connection at a time, which is ours until it is idle.
   *
   * @param isKept it is ours until the handle is closed, with what the session holds, and no other one follows it
   */
  private openHandle(setup: string, { isKept }: { readonly isKept: boolean }): MigrationHandle {
    const borrowed = new WeakMap<object, Borrowed>();
    const sessionOn = (connection: object): HostMysqlSession =>
      new HostMysqlSession(connection as MysqlConnection, { limitMs: MYSQL_LIMITS.firstMs });
    const open = async (): Promise<object> => {
      const one = await this.acquire();
      try {
        await sessionOn(one.connection).run(setup);
      } catch (error) {
        one.discard();
        throw error;
      }
      borrowed.set(one.connection, one);
      return one.connection;
    };
    const pool = new Pool<object>({
      min: isKept ? 1 : 0,
      max: 1,
      propagateCreateError: true,
      idleTimeoutMillis: 1,
      reapIntervalMillis: 10,
      create: isKept ? onlyOne(open) : open,
      validate: (connection) => !(connection as MysqlConnection).stream.destroyed,
      destroy: async (connection) => {
        const one = borrowed.get(connection);
        const session = sessionOn(connection);
        const restored = session.run(`DO RELEASE_LOCK(${MIGRATION_LOCK})`).then(() => session.run(THEIRS));
        await restored.then(one?.release, one?.discard);
      },
    });
    return handleOf(pool, this.options.log);
  }
}

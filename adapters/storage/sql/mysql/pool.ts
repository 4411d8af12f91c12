import type { Socket } from "node:net";
import knex, { type Knex } from "knex";
import type { Connection } from "mysql2";
import { Pool } from "tarn";
import type { PoolFigures } from "../../../../core/ports/opened-storage.js";
import { poolFiguresOf } from "../pool-figures.js";
import {
  type ConnectionSource,
  type ConnectionWork,
  handleOf,
  type MigrationHandle,
  onlyOne,
} from "./connection-source.js";
import { cannotConnect, isReadOnly, isUnavailable, spoilsConnection } from "./errors.js";
import { MysqlHosts } from "./hosts.js";
import { MYSQL_LIMITS, sessionSetup, POOL_MAX } from "./options.js";
import { type MysqlConnection, MysqlSession } from "./session.js";
import type { ConnectOptions } from "../dialect.js";
import type { TableNames } from "../table-names.js";
import { afterWaiting } from "./waits.js";

/** A connection that was used so recently is not checked. */
const ALIVE_MS = 500;
/**
 * After a caller waited for a connection in vain, further callers fail at once for so long, or until a connection comes
 * back. A server that refuses connections at once costs no wait: it is tried each time, so that the first caller after
 * its return is served.
 */
const FAIL_FAST_MS = 200;

/** Connections to one database, on one host at a time. Nothing is sent before the first is acquired. */
export class MysqlPool implements ConnectionSource {
  readonly begin = ["START TRANSACTION"];
  readonly handle: Knex;
  readonly openForMigrations: () => MigrationHandle;
  private readonly pool: Pool<MysqlConnection>;
  private readonly hosts: MysqlHosts;
  private readonly names: TableNames;
  private readonly usedAt = new WeakMap<Connection, number>();
  private readonly broken = new WeakSet<Connection>();
  private readonly sockets = new Set<Socket>();
  private isFirst = true;
  private isClosed = false;
  private failFastUntil = 0;
  /** When a connection was last found dead. Those that have not been used since are likely to be dead as well. */
  private foundDeadAt = -Infinity;

  /** @param target what follows `mysql:` in the URL */
  constructor(target: string, { log, lockWaitMs, names, readsOnly = false }: ConnectOptions) {
    this.names = names;
    this.hosts = new MysqlHosts(target, { readsOnly });
    this.openForMigrations = () => openMigrationHandle(this.hosts, log);
    const setup = sessionSetup(Math.max(1, Math.round(lockWaitMs / 1000)));
    this.pool = new Pool<MysqlConnection>({
      min: 0,
      max: POOL_MAX,
      // An unreachable server fails the caller at once, who decides whether to try again.
      propagateCreateError: true,
      createTimeoutMillis: MYSQL_LIMITS.firstMs,
      acquireTimeoutMillis: MYSQL_LIMITS.firstMs,
      create: () => this.openConnection(setup),
      validate: validator((connection) => this.isAlive(connection)),
      destroy: endConnection,
    });
    this.handle = knex({ client: "mysql2", connectionPool: this.pool, log });
  }

  async with<T>(limitMs: number, work: ConnectionWork<T>): Promise<T> {
    const connection = await this.acquire();
    const discard = (): void => void this.broken.add(connection);
    const late = { lateMs: MYSQL_LIMITS.lateMs, isServerThere: () => this.isServerThere(connection) };
    const session = new MysqlSession(connection, { limitMs, late, names: this.names, prepares: true });
    try {
      return await work(session, discard);
    } catch (error) {
      if (spoilsConnection(error)) {
        discard();
        if (isReadOnly(error)) this.hosts.leave(connection);
        this.foundDeadAt = performance.now();
      }
      throw error;
    } finally {
      session.isOpen = false;
      this.usedAt.set(connection, performance.now());
      if (!this.broken.has(connection)) this.failFastUntil = 0;
      this.pool.release(connection);
    }
  }

  pools(): readonly PoolFigures[] {
    return [poolFiguresOf("all", this.handle, POOL_MAX)];
  }

  async close(): Promise<void> {
    this.isClosed = true;
    await this.pool.destroy();
    await this.handle.destroy();
    // A server that hangs never says goodbye; the process does not wait for it.
    for (const socket of this.sockets) socket.unref();
  }

  private async openConnection(setup: string): Promise<MysqlConnection> {
    const limitMs = this.isFirst ? MYSQL_LIMITS.firstMs : MYSQL_LIMITS.connectMs;
    const connection = await this.hosts.open(setup, limitMs);
    const { stream } = connection;
    this.sockets.add(stream);
    stream.once("close", () => this.sockets.delete(stream));
    return connection;
  }

  private async acquire(): Promise<MysqlConnection> {
    // Callers that queued behind one that waited in vain would wait as long again.
    if (performance.now() < this.failFastUntil)
      throw cannotConnect(new Error("another caller has just waited for one in vain"));
    if (this.isClosed) throw cannotConnect(new Error("it was closed"));
    const limitMs = this.isFirst ? MYSQL_LIMITS.firstMs : MYSQL_LIMITS.acquireMs;
    const startedAt = performance.now();
    const pending = this.pool.acquire();
    let isLate = false;
    const cancel = afterWaiting(limitMs, () => {
      isLate = true;
      pending.abort();
    });
    try {
      const connection = await pending.promise;
      this.isFirst = false;
      return connection;
    } catch (error) {
      if (!isLate && !isUnavailable(error)) throw error;
      const now = performance.now();
      if (now - startedAt > FAIL_FAST_MS) this.failFastUntil = now + FAIL_FAST_MS;
      throw cannotConnect(isLate ? new Error(`none was free within ${limitMs} ms`) : (error as Error));
    } finally {
      cancel();
    }
  }

  private async isServerThere(connection: MysqlConnection): Promise<boolean> {
    const isThere = await this.hosts.isThere(connection);
    if (isThere) return true;
    this.hosts.leave(connection);
    // Another host may serve the next caller.
    if (!this.hosts.areSeveral) this.failFastUntil = performance.now() + FAIL_FAST_MS;
    return false;
  }

  private async isAlive(connection: MysqlConnection): Promise<boolean> {
    if (this.broken.has(connection) || connection.stream.destroyed) return false;
    if (!(await this.hosts.isUsed(connection))) return false;
    const usedAt = this.usedAt.get(connection);
    if (usedAt === undefined) return true;
    // To ping each of a full pool, or to fail on each, would take longer than a caller waits.
    if (usedAt <= this.foundDeadAt) return false;
    if (performance.now() - usedAt < ALIVE_MS) return true;
    const isAlive = await new MysqlSession(connection, { limitMs: MYSQL_LIMITS.pingMs }).ping();
    if (!isAlive) this.foundDeadAt = performance.now();
    return isAlive;
  }
}

/** Opens a handle for migrations: it waits for locks, and a change of a big table takes as long as it takes. */
function openMigrationHandle(hosts: MysqlHosts, log: Knex.Logger): MigrationHandle {
  const setup = sessionSetup(MYSQL_LIMITS.migrationMs / 1000);
  const pool = new Pool<MysqlConnection>({
    min: 1,
    max: 1,
    propagateCreateError: true,
    createTimeoutMillis: MYSQL_LIMITS.firstMs,
    acquireTimeoutMillis: MYSQL_LIMITS.firstMs,
    create: onlyOne(() => hosts.open(setup, MYSQL_LIMITS.firstMs)),
    validate: validator(({ stream }) => !stream.destroyed),
    destroy: endConnection,
  });
  return handleOf(pool, log);
}

function endConnection(connection: MysqlConnection): Promise<void> {
  return new Promise((resolve) => connection.end(() => resolve()));
}

/** tarn waits for a promise too, which its types do not know. */
function validator(isAlive: (connection: MysqlConnection) => boolean | Promise<boolean>): () => boolean {
  return isAlive as () => boolean;
}

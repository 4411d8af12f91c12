import type { Socket } from "node:net";
import knex, { type Knex } from "knex";
import type { Connection, ConnectionOptions } from "mysql2";
import { cannotConnect, isUnavailable, spoilsConnection } from "./errors.js";
import { MysqlProbe } from "./probe.js";
import { connectionOf, MYSQL_LIMITS, sessionSetup } from "./options.js";
import { MysqlSession } from "./session.js";
import { afterWaiting } from "./waits.js";

/** Most connections of a process. */
export const POOL_MAX = 12;

/** One that was used so recently is taken to be alive. */
const ALIVE_MS = 500;
/**
 * After a caller waited in vain, no other waits for so long, or until a connection comes back. A server that refuses at
 * once costs no wait: it is tried each time, so that the first caller after its return is served.
 */
const VAIN_MS = 200;

export type PooledConnection = Connection & {
  readonly stream: Socket;
  /** knex's pool throws a connection with this mark away. */
  __knex__disposed?: unknown;
};

/** Of knex's pool. Unlike its client's own method, this `acquire` can be told to wait no longer. */
interface KnexPool {
  acquire(): { readonly promise: Promise<PooledConnection>; abort(): void };
}

/** Connections to one database. Nothing is sent before the first is asked for. */
export class MysqlPool {
  readonly handle: Knex;
  private readonly probe: MysqlProbe;
  private readonly usedAt = new WeakMap<Connection, number>();
  private readonly sockets = new Set<Socket>();
  private isFirst = true;
  private vainUntil = 0;
  /** When a connection was last found dead. Those that have not been used since are likely to be dead as well. */
  private foundDeadAt = -Infinity;

  /** @param target what follows `mysql:` in the URL */
  constructor(target: string, { log, lockWaitMs }: { readonly log: Knex.Logger; readonly lockWaitMs: number }) {
    this.probe = new MysqlProbe(connectionOf(target) as ConnectionOptions, MYSQL_LIMITS.probeMs);
    const setup = sessionSetup(Math.max(1, Math.round(lockWaitMs / 1000)));
    this.handle = openHandle(target, log, setup, {
      pool: {
        min: 0,
        max: POOL_MAX,
        // An unreachable server is known at once; asking again is the caller's business.
        propagateCreateError: true,
        // knex hands this on to its pool, and its types do not know it.
        ...{ validate: (connection: PooledConnection) => this.isAlive(connection) },
      },
      opened: ({ stream }) => {
        this.sockets.add(stream);
        stream.once("close", () => this.sockets.delete(stream));
        return this.isFirst ? MYSQL_LIMITS.firstMs : MYSQL_LIMITS.connectMs;
      },
    });
  }

  /**
   * Runs `work` in a session of its own, each statement of which may take so long.
   *
   * @throws {NoConnectionError} there was no connection in time
   */
  async with<T>(
    limitMs: number,
    work: (session: MysqlSession, connection: PooledConnection) => Promise<T>,
  ): Promise<T> {
    const connection = await this.acquire();
    const late = { lateMs: MYSQL_LIMITS.lateMs, isServerThere: () => this.isServerThere() };
    try {
      return await work(new MysqlSession(connection, limitMs, late), connection);
    } catch (error) {
      if (spoilsConnection(error)) {
        connection.__knex__disposed ??= error;
        this.foundDeadAt = performance.now();
      }
      throw error;
    } finally {
      this.usedAt.set(connection, performance.now());
      if (connection.__knex__disposed === undefined) this.vainUntil = 0;
      await (this.handle.client as Knex.Client).releaseConnection(connection);
    }
  }

  async close(): Promise<void> {
    await this.handle.destroy();
    // A server that hangs never says goodbye; the process does not wait for it.
    for (const socket of this.sockets) socket.unref();
  }

  private async acquire(): Promise<PooledConnection> {
    // Those who queued behind one that waited in vain would wait as long once more.
    if (performance.now() < this.vainUntil)
      throw cannotConnect(new Error("somebody else has just waited for one in vain"));
    const limitMs = this.isFirst ? MYSQL_LIMITS.firstMs : MYSQL_LIMITS.acquireMs;
    const { pool } = this.handle.client as { readonly pool?: KnexPool };
    if (pool === undefined) throw cannotConnect(new Error("it was closed"));
    const askedAt = performance.now();
    const pending = pool.acquire();
    let isInVain = false;
    const cancel = afterWaiting(limitMs, () => {
      isInVain = true;
      pending.abort();
    });
    try {
      const connection = await pending.promise;
      this.isFirst = false;
      (this.handle.client as { connectionSettings: ConnectionOptions }).connectionSettings.connectTimeout =
        MYSQL_LIMITS.connectMs;
      return connection;
    } catch (error) {
      if (!isInVain && !isUnavailable(error)) throw error;
      const now = performance.now();
      if (now - askedAt > VAIN_MS) this.vainUntil = now + VAIN_MS;
      throw cannotConnect(isInVain ? new Error(`none was to be had within ${limitMs} ms`) : (error as Error));
    } finally {
      cancel();
    }
  }

  private async isServerThere(): Promise<boolean> {
    const isThere = await this.probe.isServerThere();
    if (!isThere) this.vainUntil = performance.now() + VAIN_MS;
    return isThere;
  }

  private async isAlive(connection: PooledConnection): Promise<boolean> {
    const usedAt = this.usedAt.get(connection);
    if (usedAt === undefined) return true;
    // To ask each of a full pool, or to fail on each, would take longer than a caller waits.
    if (usedAt <= this.foundDeadAt) return false;
    if (performance.now() - usedAt < ALIVE_MS) return true;
    const isAlive = await new MysqlSession(connection, MYSQL_LIMITS.pingMs).ping();
    if (!isAlive) this.foundDeadAt = performance.now();
    return isAlive;
  }
}

/** A handle of one connection, for migrations: it waits for locks, and a change of a big table takes as long as it takes. */
export function openMigrationHandle(target: string, log: Knex.Logger): Knex {
  return openHandle(target, log, sessionSetup(MYSQL_LIMITS.migrationMs / 1000), {
    pool: { min: 1, max: 1, propagateCreateError: true },
    opened: () => MYSQL_LIMITS.firstMs,
  });
}

interface HandleOptions {
  readonly pool: Knex.PoolConfig;
  /** @returns how long the rest of the opening may take */
  opened(connection: PooledConnection): number;
}

function openHandle(target: string, log: Knex.Logger, setup: string, options: HandleOptions): Knex {
  return knex({
    client: "mysql2",
    connection: connectionOf(target),
    // Or it asks the server, on a connection that nothing watches yet.
    version: "latest",
    acquireConnectionTimeout: MYSQL_LIMITS.firstMs,
    log,
    pool: {
      ...options.pool,
      createTimeoutMillis: MYSQL_LIMITS.firstMs,
      afterCreate(connection: PooledConnection, done: (error: unknown, connection: PooledConnection) => void): void {
        new MysqlSession(connection, options.opened(connection)).run(setup).then(
          () => done(null, connection),
          (error: unknown) => {
            connection.stream.destroy();
            done(error, connection);
          },
        );
      },
    },
  });
}

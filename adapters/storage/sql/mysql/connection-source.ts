import knex, { type Knex } from "knex";
import type { Pool } from "tarn";
import type { PoolFigures } from "../../../../core/ports/opened-storage.js";
import { cannotConnect } from "./errors.js";
import type { MysqlSession } from "./session.js";

/** What is done on one connection. `discard`: it is ended after the work, instead of being given to another caller. */
export type ConnectionWork<T> = (session: MysqlSession, discard: () => void) => Promise<T>;

/** Where connections come from: a pool of our own, or that of the embedding app. */
export interface ConnectionSource {
  /** Begin a transaction that writes, at READ COMMITTED. */
  readonly begin: readonly string[];
  /** A handle of knex. */
  readonly handle: Knex;
  /**
   * Runs the work in a session of its own, each statement of which may take so long.
   *
   * @throws {NoConnectionError} there was no connection in time
   */
  with<T>(limitMs: number, work: ConnectionWork<T>): Promise<T>;
  /** A handle of one connection, which waits for locks as long as migrations may. */
  openForMigrations(): MigrationHandle;
  /** How the connections are used; none where they are the app's. */
  pools(): readonly PoolFigures[];
  close(): Promise<void>;
}

/** A handle of one connection, which `close` ends. */
export interface MigrationHandle {
  readonly knex: Knex;
  close(): Promise<void>;
}

/**
 * Opens one connection and no other one: what its session holds, as a lock of the server, ends with it. The pool keeps
 * an idle one where its `min` is 1.
 */
export function onlyOne<Connected>(open: () => Promise<Connected>): () => Promise<Connected> {
  let isOpened = false;
  return async () => {
    if (isOpened) throw cannotConnect(new Error("the one that migrates was lost"));
    const connection = await open();
    isOpened = true;
    return connection;
  };
}

/** A handle of knex on a pool, which it closes. */
export function handleOf<Connected>(pool: Pool<Connected>, log: Knex.Logger): MigrationHandle {
  const handle = knex({ client: "mysql2", connectionPool: pool, log });
  const close = async (): Promise<void> => {
    await pool.destroy();
    await handle.destroy();
  };
  return { knex: handle, close };
}

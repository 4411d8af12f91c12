import knex from "knex";
import mysql from "mysql2";
import mysqlPromise from "mysql2/promise";

/** The database library of an app, on a database of MySQL. */
export interface HostPool {
  /** What Fermata is given. */
  readonly database: object;
  /** A query of the app's own. */
  query<Row>(sql: string): Promise<Row[]>;
  /** Connections that are lent out. */
  used(): number;
  close(): Promise<void>;
}

export interface HostPoolKind {
  readonly name: string;
  /** @param setup statements that the app runs on each of its connections */
  open(url: string, setup?: readonly string[], connections?: number): Promise<HostPool>;
}

/** The pool's lists, which its types do not know. */
interface PoolLists {
  readonly _allConnections: { readonly length: number };
  readonly _freeConnections: { readonly length: number };
}

function usedOf(pool: object): number {
  const { _allConnections, _freeConnections } = pool as PoolLists;
  return _allConnections.length - _freeConnections.length;
}

function setUp(pool: mysql.Pool, setup: readonly string[]): void {
  pool.on("connection", (connection) => {
    for (const statement of setup) connection.query(statement);
  });
}

export const HOST_POOLS: readonly HostPoolKind[] = [
  {
    name: "knex",
    async open(url, setup = [], connections = 4) {
      const handle = knex({
        client: "mysql2",
        connection: url,
        pool: {
          min: 0,
          max: connections,
          afterCreate(connection: mysql.Connection, done: (error: unknown, connection: mysql.Connection) => void) {
            for (const statement of setup) connection.query(statement);
            connection.query("SELECT 1", (error) => done(error, connection));
          },
        },
      });
      const { pool } = handle.client as { readonly pool: { numUsed(): number } };
      return {
        database: handle,
        query: async <Row>(sql: string) => (await handle.raw<Row[][]>(sql))[0] ?? [],
        used: () => pool.numUsed(),
        close: () => handle.destroy(),
      };
    },
  },
  {
    name: "mysql2",
    async open(url, setup = [], connections = 4) {
      const pool = mysql.createPool({ uri: url, connectionLimit: connections });
      setUp(pool, setup);
      return {
        database: pool,
        query: async <Row>(sql: string) => (await pool.promise().query(sql))[0] as Row[],
        used: () => usedOf(pool),
        close: () => pool.promise().end(),
      };
    },
  },
  {
    name: "mysql2/promise",
    async open(url, setup = [], connections = 4) {
      const pool = mysqlPromise.createPool({ uri: url, connectionLimit: connections });
      setUp(pool.pool, setup);
      return {
        database: pool,
        query: async <Row>(sql: string) => (await pool.query(sql))[0] as Row[],
        used: () => usedOf(pool.pool),
        close: () => pool.end(),
      };
    },
  },
];

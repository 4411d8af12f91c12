import BetterSqlite3 from "better-sqlite3";
import knex, { type Knex } from "knex";
import type mysql from "mysql2";
import mysqlPromise from "mysql2/promise";

/** One transaction of an app that has a table of its own next to Fermata's. */
export interface OpenHostTransaction {
  /** What Fermata is given. */
  readonly transaction: object;
  addOrder(name: string): Promise<void>;
  commit(): Promise<void>;
  rollback(): Promise<void>;
}

/** The database library of an app, on Fermata's database. */
export interface Host {
  begin(): Promise<OpenHostTransaction>;
  /** Orders that are committed. */
  orders(): Promise<string[]>;
  close(): Promise<void>;
}

export interface HostKind {
  readonly name: string;
  readonly engine: "SQLite" | "MySQL";
  /** Whether the library tells of a commit. */
  readonly tells: boolean;
  /** @param url of the database, which gets the app's table */
  open(url: string): Promise<Host>;
}

const TABLE = "CREATE TABLE IF NOT EXISTS orders (name VARCHAR(100) PRIMARY KEY)";
const INSERT = "INSERT INTO orders (name) VALUES (?)";
const LIST = "SELECT name FROM orders ORDER BY name";

interface NamedRow {
  readonly name: string;
}

function fileOf(url: string): string {
  return url.slice("sqlite:".length);
}

/** @param close what else is to be closed */
async function knexHost(handle: Knex, orders: Host["orders"], close = (): void => undefined): Promise<Host> {
  await handle.raw(TABLE);
  return {
    async begin() {
      const transaction = await handle.transaction();
      return {
        transaction,
        addOrder: async (name) => void (await transaction.raw(INSERT, [name])),
        commit: async () => void (await transaction.commit()),
        rollback: async () => void (await transaction.rollback()),
      };
    },
    orders,
    close: () => handle.destroy().then(close),
  };
}

/** @param change what this app is given in place of the connection */
function mysqlConnectionHost(
  name: string,
  options: mysql.PoolOptions = {},
  change: (connection: mysqlPromise.PoolConnection) => object = (connection) => connection,
): HostKind {
  return {
    name,
    engine: "MySQL",
    tells: false,
    async open(url) {
      const pool = mysqlPromise.createPool({ uri: url, ...options });
      await pool.query(TABLE);
      return {
        async begin() {
          const connection = await pool.getConnection();
          await connection.beginTransaction();
          return {
            transaction: change(connection),
            addOrder: async (order) => void (await connection.query(INSERT, [order])),
            commit: () => connection.commit().finally(() => connection.release()),
            rollback: () => connection.rollback().finally(() => connection.release()),
          };
        },
        async orders() {
          const [rows] = await pool.query<mysql.RowDataPacket[]>({ sql: LIST, rowsAsArray: false });
          return (rows as unknown as NamedRow[]).map((row) => String(row.name));
        },
        close: () => pool.end(),
      };
    },
  };
}

const betterSqlite: HostKind = {
  name: "better-sqlite3",
  engine: "SQLite",
  tells: false,
  async open(url) {
    const readings = new BetterSqlite3(fileOf(url));
    readings.exec(TABLE);
    return {
      async begin() {
        const connection = new BetterSqlite3(fileOf(url));
        connection.defaultSafeIntegers(true);
        connection.exec("BEGIN IMMEDIATE");
        const end = async (how: string): Promise<void> => {
          connection.exec(how);
          connection.close();
        };
        return {
          transaction: connection,
          addOrder: async (name) => void connection.prepare(INSERT).run(name),
          commit: () => end("COMMIT"),
          rollback: () => end("ROLLBACK"),
        };
      },
      orders: async () => (readings.prepare(LIST).all() as NamedRow[]).map(({ name }) => name),
      close: async () => void readings.close(),
    };
  },
};

/** The same, in an object of an app that knows when it commits. */
const telling: HostKind = {
  name: "better-sqlite3 with afterCommit",
  engine: "SQLite",
  tells: true,
  async open(url) {
    const host = await betterSqlite.open(url);
    return {
      ...host,
      async begin() {
        const open = await host.begin();
        const listeners: (() => void)[] = [];
        const afterCommit = (listener: () => void): unknown => listeners.push(listener);
        return {
          ...open,
          transaction: { connection: open.transaction, afterCommit },
          async commit() {
            await open.commit();
            for (const listener of listeners) listener();
          },
        };
      },
    };
  },
};

/** Every library whose transactions can be joined, with settings that an app may have for its own statements. */
export const HOSTS: readonly HostKind[] = [
  betterSqlite,
  telling,
  {
    name: "knex on better-sqlite3",
    engine: "SQLite",
    tells: true,
    async open(url) {
      const { orders, close } = await betterSqlite.open(url);
      const handle = knex({ client: "better-sqlite3", connection: { filename: fileOf(url) }, useNullAsDefault: true });
      // A transaction has the one connection of its pool.
      return knexHost(handle, orders, () => void close());
    },
  },
  {
    name: "knex on mysql2",
    engine: "MySQL",
    tells: true,
    async open(url) {
      const handle = knex({ client: "mysql2", connection: url });
      return knexHost(handle, async () => (await handle<NamedRow>("orders").orderBy("name")).map(({ name }) => name));
    },
  },
  mysqlConnectionHost("mysql2/promise"),
  mysqlConnectionHost("mysql2", {}, (connection) => connection.connection),
  mysqlConnectionHost("mysql2 that reads rows in another way", {
    rowsAsArray: true,
    supportBigNumbers: true,
    bigNumberStrings: true,
    dateStrings: true,
    typeCast: false,
    namedPlaceholders: true,
    timezone: "+09:00",
  }),
];

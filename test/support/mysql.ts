import { randomBytes } from "node:crypto";
import { createConnection, type Connection } from "mysql2/promise";
import { createStores, type KnexDatabase, openDatabase } from "../../adapters/storage/knex/index.js";
import { SILENT, type StorageKind, type StorageUnderTest, TEST_PORTS, underTest } from "./databases.js";

/** Where the suites find a server; `FERMATA_TEST_MYSQL` names another one, with rights to make databases. */
export const MYSQL_SERVER = process.env["FERMATA_TEST_MYSQL"] ?? "mysql://root@127.0.0.1:3306";

export interface MysqlUnderTest extends StorageUnderTest {
  readonly database: KnexDatabase;
  readonly url: string;
}

export const mysqlStorage = { name: "MySQL", open: openMysql } satisfies StorageKind;

/** A database of its own on the server, with the schema. */
async function openMysql(): Promise<MysqlUnderTest> {
  const { url, drop } = await createMysqlDatabase();
  const database = await openDatabase({ url, logger: SILENT });
  await database.migrate();
  const close = async (): Promise<void> => {
    await database.close();
    await drop();
  };
  return { ...underTest(createStores(database, TEST_PORTS)), database, url, close };
}

/** An empty database with a name nobody else has. */
export async function createMysqlDatabase(): Promise<{ readonly url: string; drop(): Promise<void> }> {
  const name = `fermata_test_${process.pid}_${randomBytes(4).toString("hex")}`;
  await onServer((connection) => connection.query(`CREATE DATABASE ${name}`));
  return {
    url: `${MYSQL_SERVER}/${name}`,
    drop: () => onServer((connection) => connection.query(`DROP DATABASE ${name}`)).then(() => undefined),
  };
}

/** Runs statements on a connection without a database. @throws {Error} saying how to start a server, when none answers */
export async function onServer<T>(work: (connection: Connection) => Promise<T>): Promise<T> {
  let connection: Connection;
  try {
    connection = await createConnection(MYSQL_SERVER);
  } catch (cause) {
    throw new Error(
      `No MySQL or MariaDB answers at ${new URL(MYSQL_SERVER).host} (${(cause as Error).message}). Install mariadb-server and start it, or set FERMATA_TEST_MYSQL.`,
      { cause },
    );
  }
  try {
    return await work(connection);
  } finally {
    await connection.end();
  }
}

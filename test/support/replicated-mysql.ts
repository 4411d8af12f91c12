import { eventually } from "./rabbitmq.js";
import { createMysqlDatabase, type MysqlDatabase } from "./mysql.js";
import { type PrivateMysql, query, startPrivateMysql } from "./mysql-server.js";

/** The user of the tests: root could write to a server that only reads. */
const USER = "fermata";
export const PASSWORD = "p,a@ss/word";

interface Words {
  readonly options: readonly string[];
  readonly follow: (port: number) => string;
  readonly stop: string;
  /** Where a promoted replica stood, and how an old primary forgets what it alone has. */
  readonly position?: string;
  readonly forget?: (position: string) => string;
}

const MARIADB: Words = {
  // A primary that hung may have committed what no one waited for any more: what follows is applied all the same.
  options: ["--log-bin", "--log-slave-updates", "--gtid-strict-mode=ON", "--slave-exec-mode=IDEMPOTENT"],
  follow: (port) =>
    `CHANGE MASTER TO MASTER_HOST='127.0.0.1', MASTER_PORT=${port}, MASTER_USER='root', MASTER_CONNECT_RETRY=1, ` +
    "MASTER_USE_GTID=slave_pos; START SLAVE",
  stop: "STOP SLAVE",
  position: "SELECT @@GLOBAL.gtid_slave_pos AS position",
  forget: (position) => `RESET MASTER; SET GLOBAL gtid_slave_pos = '${position}'`,
};

const MYSQL: Words = {
  options: ["--log-bin", "--gtid-mode=ON", "--enforce-gtid-consistency=ON"],
  follow: (port) =>
    `CHANGE REPLICATION SOURCE TO SOURCE_HOST='127.0.0.1', SOURCE_PORT=${port}, SOURCE_USER='root', ` +
    "SOURCE_CONNECT_RETRY=1, SOURCE_AUTO_POSITION=1, GET_SOURCE_PUBLIC_KEY=1; START REPLICA",
  stop: "STOP REPLICA",
};

/** Two servers, the second of which follows the first and only reads, with a database on both. */
export class ReplicatedMysql {
  /** Up to where both servers are the same. */
  private common: string | null = null;

  private constructor(
    readonly servers: readonly [PrivateMysql, PrivateMysql],
    private readonly words: Words,
    private readonly database: MysqlDatabase,
  ) {}

  static async start(): Promise<ReplicatedMysql> {
    const words = process.env["FERMATA_TEST_MYSQL_ROOT"] === undefined ? MARIADB : MYSQL;
    const [first, second] = await Promise.all(
      [1, 2].map((id) => startPrivateMysql([...words.options, `--server-id=${id}`])),
    );
    if (first === undefined || second === undefined) throw new Error("Two servers are started.");
    try {
      const database = await createMysqlDatabase(first.server);
      // From localhost MariaDB would rather let in its anonymous user.
      for (const user of [`${USER}@'localhost'`, `${USER}@'%'`]) {
        await query(first.server, `CREATE USER ${user} IDENTIFIED BY '${PASSWORD}'`);
        await query(first.server, `GRANT ALL ON ${new URL(database.url).pathname.slice(1)}.* TO ${user}`);
      }
      const replicated = new ReplicatedMysql([first, second], words, database);
      await replicated.demote(second);
      await replicated.follow(second, first);
      return replicated;
    } catch (error) {
      await Promise.all([first.close(), second.close()]);
      throw error;
    }
  }

  /**
   * In the form of `storage.url`, for the user of the tests.
   *
   * @param places host and port; by default of both servers
   */
  url(places: readonly string[] = this.servers.map((server) => this.placeOf(server))): string {
    const { pathname } = new URL(this.database.url);
    return `mysql://${USER}:${encodeURIComponent(PASSWORD)}@${places.join(",")}${pathname}`;
  }

  placeOf({ port }: PrivateMysql): string {
    return `127.0.0.1:${port}`;
  }

  /** Runs a statement on the database as it is on one server. */
  on<Row = Record<string, unknown>>(server: PrivateMysql, sql: string): Promise<Row[]> {
    return query<Row>(`${server.server}${new URL(this.database.url).pathname}`, sql);
  }

  async follow(replica: PrivateMysql, primary: PrivateMysql): Promise<void> {
    const begin = [this.words.follow(primary.port)];
    if (this.common !== null && this.words.forget !== undefined) begin.unshift(this.words.forget(this.common));
    await query(`${replica.server}?multipleStatements=true`, begin.join("; "));
    await this.caughtUp(replica, primary);
  }

  /** From then on it refuses writes. */
  async demote(server: PrivateMysql): Promise<void> {
    await query(server.server, "SET GLOBAL read_only = ON");
  }

  /** It follows no server any more, and takes writes. */
  async promote(server: PrivateMysql): Promise<void> {
    await query(server.server, this.words.stop);
    if (this.words.position !== undefined) {
      const [row] = await query<{ readonly position: string }>(server.server, this.words.position);
      this.common = row?.position ?? null;
    }
    await query(server.server, "SET GLOBAL read_only = OFF");
  }

  /** Resolves when the replica has all that the primary has now. */
  async caughtUp(replica: PrivateMysql, primary: PrivateMysql): Promise<void> {
    const mark = `mark_${Date.now().toString(36)}`;
    await query(primary.server, `CREATE DATABASE ${mark}`);
    await eventually(() => query(replica.server, `SHOW TABLES FROM ${mark}`));
  }

  async close(): Promise<void> {
    await Promise.all(this.servers.map((server) => server.close()));
  }
}

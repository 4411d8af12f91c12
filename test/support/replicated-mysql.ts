import { eventually } from "./rabbitmq.js";
import { createMysqlDatabase, type MysqlDatabase } from "./mysql.js";
import { isMariadb, type PrivateMysql, query, startPrivateMysql } from "./mysql-server.js";

/** The user of the tests: root could write to a server that only reads. */
const USER = "fermata";
export const PASSWORD = "p,a@ss/word";

const WRITABLE = "SET GLOBAL read_only = OFF";

interface Words {
  readonly options: readonly string[];
  readonly follow: (port: number) => string;
  /** What is received is applied so many seconds later. */
  readonly delay: (seconds: number) => string;
  /** Nothing more is received; what was received is applied still. */
  readonly receiveNoMore: string;
  /** Resolves when everything that was received is applied. */
  readonly applied: (status: ReplicaStatus) => string;
  readonly stop: string;
  /** Commits of a primary wait for its replica, and no more. */
  readonly wait?: string;
  readonly waitNoMore?: string;
  /** Where a promoted replica stood, and how an old primary forgets what it alone has. */
  readonly position?: string;
  readonly forget?: (position: string) => string;
}

interface ReplicaStatus {
  readonly Gtid_IO_Pos?: string;
  readonly Retrieved_Gtid_Set?: string;
}

const OF_MARIADB = {
  options: ["--log-bin", "--log-slave-updates", "--gtid-strict-mode=ON"],
  follow: (port: number) =>
    `CHANGE MASTER TO MASTER_HOST='127.0.0.1', MASTER_PORT=${port}, MASTER_USER='root', MASTER_CONNECT_RETRY=1, ` +
    "MASTER_USE_GTID=slave_pos; START SLAVE",
  delay: (seconds: number) => `STOP SLAVE; CHANGE MASTER TO MASTER_DELAY=${seconds}; START SLAVE`,
  receiveNoMore: "STOP SLAVE IO_THREAD",
  applied: ({ Gtid_IO_Pos }: ReplicaStatus) => `SELECT MASTER_GTID_WAIT('${Gtid_IO_Pos}')`,
  stop: "STOP SLAVE",
};

/** A primary that hung may have committed what no one waited for any more: what follows is applied all the same. */
const MARIADB: Words = {
  ...OF_MARIADB,
  options: [...OF_MARIADB.options, "--slave-exec-mode=IDEMPOTENT"],
  position: "SELECT @@GLOBAL.gtid_slave_pos AS position",
  forget: (position) => `RESET MASTER; SET GLOBAL gtid_slave_pos = '${position}'`,
};

/**
 * A commit returns, and is visible to others, when the replica has received it, however long that takes: a
 * primary that is not reached any more goes on with nothing. One that was killed forgets at its next start what no
 * replica has said to have, so that it needs no repair to follow the promoted one.
 */
const SEMI_SYNCHRONOUS: Words = {
  ...OF_MARIADB,
  options: [
    ...[...OF_MARIADB.options, "--sync-binlog=1", "--read-only", "--skip-slave-start", "--init-rpl-role=SLAVE"],
    ...["--rpl-semi-sync-slave-enabled=ON", "--rpl-semi-sync-master-wait-point=AFTER_SYNC"],
    "--rpl-semi-sync-master-timeout=3600000",
  ],
  follow: (port) => OF_MARIADB.follow(port).replace("slave_pos", "slave_pos, MASTER_DEMOTE_TO_SLAVE=1"),
  wait: "SET GLOBAL rpl_semi_sync_master_enabled = ON",
  waitNoMore: "SET GLOBAL rpl_semi_sync_master_enabled = OFF",
};

/** As {@link MARIADB}. */
const MYSQL: Words = {
  options: ["--log-bin", "--gtid-mode=ON", "--enforce-gtid-consistency=ON", "--replica-exec-mode=IDEMPOTENT"],
  follow: (port) =>
    `CHANGE REPLICATION SOURCE TO SOURCE_HOST='127.0.0.1', SOURCE_PORT=${port}, SOURCE_USER='root', ` +
    "SOURCE_CONNECT_RETRY=1, SOURCE_AUTO_POSITION=1, GET_SOURCE_PUBLIC_KEY=1; START REPLICA",
  delay: (seconds) => `STOP REPLICA; CHANGE REPLICATION SOURCE TO SOURCE_DELAY=${seconds}; START REPLICA`,
  receiveNoMore: "STOP REPLICA IO_THREAD",
  applied: ({ Retrieved_Gtid_Set }) => `SELECT WAIT_FOR_EXECUTED_GTID_SET('${Retrieved_Gtid_Set}')`,
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

  /** @param semiSynchronous on MariaDB: what is committed is on both servers */
  static async start({ semiSynchronous = false } = {}): Promise<ReplicatedMysql> {
    const ofMariadb = semiSynchronous ? SEMI_SYNCHRONOUS : MARIADB;
    const words = isMariadb() ? ofMariadb : MYSQL;
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
      await query(first.server, WRITABLE);
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

  /** The database on one server, for its root. */
  rootUrl({ server }: PrivateMysql): string {
    return `${server}${new URL(this.database.url).pathname}`;
  }

  /** Runs a statement on the database as it is on one server. */
  on<Row = Record<string, unknown>>(server: PrivateMysql, sql: string): Promise<Row[]> {
    return query<Row>(this.rootUrl(server), sql);
  }

  /** Resolves when the replica has all that the primary has; commits wait for it where replication is so. */
  async follow(replica: PrivateMysql, primary: PrivateMysql): Promise<void> {
    const { stop, follow, forget, wait } = this.words;
    await this.goOnAlone(replica);
    const begin = [stop, follow(primary.port)];
    if (this.common !== null && forget !== undefined) begin.splice(1, 0, forget(this.common));
    await query(`${replica.server}?multipleStatements=true`, begin.join("; "));
    await this.caughtUp(replica, primary);
    if (wait !== undefined) await query(primary.server, wait);
  }

  /** It applies nothing more until it follows again. */
  async stopReplication(replica: PrivateMysql): Promise<void> {
    await query(replica.server, this.words.stop);
  }

  /** It stays so many seconds behind, 0 for not at all. */
  async delay(replica: PrivateMysql, seconds: number): Promise<void> {
    await query(`${replica.server}?multipleStatements=true`, this.words.delay(seconds));
  }

  /** Commits on it wait for no replica any more. */
  async goOnAlone(server: PrivateMysql): Promise<void> {
    if (this.words.waitNoMore !== undefined) await query(server.server, this.words.waitNoMore);
  }

  /** From then on it refuses writes. */
  async demote(server: PrivateMysql): Promise<void> {
    await query(server.server, "SET GLOBAL read_only = ON");
  }

  /** It applies what it has received, follows no server any more, and takes writes. */
  async promote(server: PrivateMysql): Promise<void> {
    await query(server.server, this.words.receiveNoMore);
    const [status = {}] = await query<ReplicaStatus>(server.server, "SHOW REPLICA STATUS");
    await query(server.server, this.words.applied(status));
    await query(server.server, this.words.stop);
    if (this.words.position !== undefined) {
      const [row] = await query<{ readonly position: string }>(server.server, this.words.position);
      this.common = row?.position ?? null;
    }
    await query(server.server, WRITABLE);
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

import { setTimeout as pause } from "node:timers/promises";
import { expect } from "chai";
import { POOL_MAX } from "../../../adapters/storage/sql/mysql/options.js";
import { openDatabase } from "../../../adapters/storage/sql/index.js";
import { ServiceUnavailableError } from "../../../core/errors.js";
import { SILENT } from "../../support/databases.js";
import { createMysqlDatabase } from "../../support/mysql.js";
import { type MysqlRelay, openMysqlRelay } from "../../support/mysql-relay.js";
import { type PrivateMysql, query, startPrivateMysql } from "../../support/mysql-server.js";
import { holdAt, lockWait } from "../../support/stepping.js";
import { type Deed, DEEDS, Interrupted, OtherCaller } from "./interrupted.js";

/** The error of a --read-only server for a user without the right to ignore it. */
const USER = "fermata";
/** After that the pool checks whether a connection is alive before it is used. */
const IDLE_MS = 700;

describe("A failed MySQL transaction runs again as a whole, with the same ids", function () {
  this.timeout(90_000);

  let server: PrivateMysql;
  let relay: MysqlRelay;
  let url: string;

  before(async () => {
    server = await startPrivateMysql();
    ({ url } = await createMysqlDatabase(server.server));
    const database = await openDatabase({ url, logger: SILENT });
    await database.migrate();
    await database.close();
    await query(server.server, `CREATE USER ${USER}@localhost IDENTIFIED BY ''`);
    await query(server.server, `GRANT ALL ON ${new URL(url).pathname.slice(1)}.* TO ${USER}@localhost`);
    relay = await openMysqlRelay(server.server);
  });
  after(async () => {
    await relay.tcp.close();
    await server.close();
  });

  for (const [name, prepare] of Object.entries(DEEDS)) {
    describe(name, () => {
      let deed: Deed;
      let process: Interrupted;
      const opened: Interrupted[] = [];

      async function open(at: string, lockWaitMs?: number): Promise<Interrupted> {
        const other = await Interrupted.open(at, lockWaitMs);
        opened.push(other);
        return other;
      }

      beforeEach(async () => {
        deed = await prepare(url);
        process = await open(url);
      });
      afterEach(async () => {
        await Promise.all(opened.splice(0).map((one) => one.close()));
      });

      it("after the network dropped idle connections, without waiting for each", async () => {
        const far = await open(relay.through(url));
        const { database } = far;
        const use = (): Promise<object[]> => database.reading((session) => session.all("SELECT SLEEP(0.1)"));
        await Promise.all(Array.from({ length: POOL_MAX }, use));
        await pause(IDLE_MS);
        relay.tcp.strand();
        await deed.begin(far);
        await deed.expectDoneOnce();
      });

      it("after a deadlock", async () => {
        const otherAccount = await OtherCaller.begin(url);
        await otherAccount.becomeHeavy();
        await otherAccount.run(deed.locks.later);
        const done = deed.begin(process);
        await lockWait(url);
        // The first run is the one that the server aborts.
        await otherAccount.run(deed.locks.first);
        await otherAccount.end();
        await done;
        expect(process.failures.map(({ errno }) => errno)).to.deep.equal([1213]);
        await deed.expectDoneOnce();
      });

      it("after a lock wait timeout: it is rolled back first, so that it blocks no other", async () => {
        const impatient = await open(url, 1_000);
        const otherAccount = await OtherCaller.begin(url);
        await otherAccount.run(deed.locks.later);
        let checks = 0;
        impatient.betweenTries = async () => {
          checks += 1;
          const other = await OtherCaller.begin(url);
          const [sql, ...values] = deed.locks.first;
          await other.run([`${sql} NOWAIT`, ...values]);
          await other.end();
          await otherAccount.end();
        };
        await deed.begin(impatient);
        expect(checks).to.equal(1);
        expect(impatient.failures.map(({ errno }) => errno)).to.deep.equal([1205]);
        await deed.expectDoneOnce();
      });

      it("after its connection was killed while it waited for a lock", async () => {
        const otherAccount = await OtherCaller.begin(url);
        await otherAccount.run(deed.locks.later);
        process.betweenTries = () => otherAccount.end();
        const done = deed.begin(process);
        await query(server.server, "KILL ?", [await lockWait(url)]);
        await done;
        expect(process.failures).to.have.length(1);
        await deed.expectDoneOnce();
      });

      it("after its connection was killed between two statements", async () => {
        const held = holdAt(process.database, /FROM \{balances\}/);
        const done = deed.begin(process);
        await held.reached;
        for (const { id } of await connectionsOf(url, "root")) await query(server.server, "KILL ?", [id]);
        await deed.expectNotDone();
        held.goOn();
        await done;
        expect(process.failures).to.have.length(1);
        await deed.expectDoneOnce();
      });

      for (const [what, part] of [
        ["its commit never got to the server", "request"],
        ["the reply to its commit was lost", "reply"],
      ] as const) {
        it(`after ${what}`, async () => {
          const remote = await open(relay.through(url));
          const lost = relay.loseNext("COMMIT", part);
          remote.betweenTries = part === "reply" ? deed.expectDoneOnce : deed.expectNotDone;
          await deed.begin(remote);
          await lost;
          expect(remote.failures.map(({ code }) => code)).to.deep.equal(["PROTOCOL_CONNECTION_LOST"]);
          await deed.expectDoneOnce();
        });
      }

      describe("on a read-only server", () => {
        let user: Interrupted;
        beforeEach(async () => {
          user = await open(url.replace("root", USER));
          await user.database.check();
          await query(server.server, "SET GLOBAL read_only = 1");
        });
        afterEach(() => query(server.server, "SET GLOBAL read_only = 0"));

        it("as after a failover, on another connection", async () => {
          const before = await connectionsOf(url, USER);
          user.betweenTries = async () => {
            await query(server.server, "SET GLOBAL read_only = 0");
          };
          await deed.begin(user);
          expect(user.failures.map(({ errno }) => errno)).to.deep.equal([1290]);
          const after = await connectionsOf(url, USER);
          expect(after.filter(({ id }) => before.some((connection) => connection.id === id))).to.deep.equal([]);
          await deed.expectDoneOnce();
        });

        it("and is refused when that lasts", async () => {
          expect(await deed.begin(user).catch((error: unknown) => error)).to.be.instanceOf(ServiceUnavailableError);
          await deed.expectNotDone();
        });
      });
    });
  }
});

/** Connections of the processes that a test started, by the user that they connect as. */
function connectionsOf(url: string, user: string): Promise<{ readonly id: number }[]> {
  return query<{ id: number }>(
    url,
    "SELECT id AS id FROM information_schema.processlist " +
      `WHERE db = DATABASE() AND user = '${user}' AND id <> CONNECTION_ID()`,
  );
}

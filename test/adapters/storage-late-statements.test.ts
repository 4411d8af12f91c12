import { expect } from "chai";
import { createStores, openHostDatabase } from "../../adapters/storage/sql/index.js";
import type { KnexDatabase } from "../../adapters/storage/sql/database.js";
import { type Session, sessionOf, type Table } from "../../adapters/storage/sql/session.js";
import { SILENT, sqliteStorage, TEST_PORTS } from "../support/databases.js";
import { HOST_POOLS, type HostPoolKind } from "../support/host-pools.js";
import { HOSTS, type HostKind } from "../support/hosts.js";
import { createMigratedMysqlDatabase, mysqlStorage } from "../support/mysql.js";

interface Opened {
  readonly database: KnexDatabase;
  close(): Promise<void>;
}

interface NamedValue {
  readonly name: string;
  readonly value: string;
}

const ROWS: Table<NamedValue> = { name: "installation", columns: ["name", "value"], key: ["name"] };
const INSERT = "INSERT INTO {installation} (name, value) VALUES (?, '1')";
/** The statements of a session, each of which would leave a row, or read one. */
const STATEMENTS: Readonly<Record<string, (session: Session, name: string) => Promise<unknown>>> = {
  all: (session) => session.all("SELECT name FROM {installation}"),
  "all by a text": (session, name) => session.all("SELECT name FROM {installation} WHERE name = ?", [name]),
  allEach: (session, name) => session.allEach("SELECT name FROM {installation} WHERE name = ?", [[name], [name]]),
  run: (session, name) => session.run(INSERT, [name]),
  runEach: (session, name) => session.runEach(INSERT, [[name]]),
  writeEach: (session, name) => session.writeEach(INSERT, [[name]]),
  updateRows: (session, name) =>
    session.updateRows("installation", ["name"], [{ key: ["victim"], columns: ["name"], values: [name] }]),
  insert: (session, name) => session.insert(ROWS, [{ name, value: "1" }]),
  upsert: (session, name) => session.upsert(ROWS, [{ name, value: "1" }]),
  upsertSums: (session, name) => session.upsertSums(ROWS, [{ name, value: "1" }]),
};
const REFUSED = "AssertionError: Broken promise: a transaction is used only while its work runs";
const FAILED = "another part failed";

const KINDS: readonly { readonly name: string; open(): Promise<Opened> }[] = [
  sqliteStorage,
  mysqlStorage,
  ...HOST_POOLS.map((kind) => ({ name: `a pool of ${kind.name}`, open: () => openPool(kind) })),
];

async function openPool(kind: HostPoolKind): Promise<Opened> {
  const { url, drop } = await createMigratedMysqlDatabase();
  const pool = await kind.open(url);
  const database = await openHostDatabase(pool.database, { logger: SILENT });
  const close = (): Promise<void> => database.close().then(pool.close).then(drop);
  return { database, close };
}

const outcomeOf = (part: Promise<unknown>): Promise<string> => part.then(() => "done", String);

async function namesIn(database: KnexDatabase): Promise<string[]> {
  const rows = await database.all<NamedValue>("SELECT name FROM {installation} WHERE name LIKE 'late%'");
  return rows.map(({ name }) => name);
}

/** So few that a part which gives statements is not over. */
async function someMicrotasks(): Promise<void> {
  for (let turns = 0; turns < 20; turns++) await Promise.resolve();
}

/** A part of the work that gives a statement in every microtask, until it is refused. */
async function stray(session: Session, name: string): Promise<{ readonly done: number; readonly refused: number }> {
  const given: Promise<string>[] = [];
  for (let number = 0; number < 200; number++) {
    given.push(outcomeOf(session.run(INSERT, [`${name} ${number}`])));
    await Promise.resolve();
  }
  const outcomes = await Promise.all(given);
  const done = outcomes.filter((outcome) => outcome === "done").length;
  return { done, refused: outcomes.length - done };
}

/** Parts of a transaction that run side by side: one goes on after the transaction has ended. */
for (const { name, open } of KINDS) {
  describe(`Late statements: ${name}`, () => {
    let opened: Opened;

    before(async () => {
      opened = await open();
      await opened.database.transaction((session) => session.insert(ROWS, [{ name: "victim", value: "1" }]));
    });

    after(() => opened.close());

    for (const [ending, end] of [
      ["failed", () => Promise.reject(new Error(FAILED))],
      ["was committed", () => Promise.resolve()],
    ] as const) {
      it(`are refused after a transaction that ${ending}, also while the next one is open`, async () => {
        const { database } = opened;
        const kept: Session[] = [];
        const transaction = database.transaction((session) => {
          kept.push(session);
          return end();
        });
        await outcomeOf(transaction);
        for (const [method, statement] of Object.entries(STATEMENTS)) {
          const late = await database.transaction(async (session) => {
            await session.all("SELECT name FROM {installation}");
            return outcomeOf(statement(kept[0] as Session, `late ${method}`));
          });
          expect(late, method).to.equal(REFUSED);
        }
        expect(await namesIn(database)).to.deep.equal([]);
      });
    }

    it("write nothing of a transaction that fails while they are given", async () => {
      const { database } = opened;
      const parts: ReturnType<typeof stray>[] = [];
      const transaction = database.transaction(async (session) => {
        parts.push(stray(session, "late failing"));
        await someMicrotasks();
        throw new Error(FAILED);
      });
      expect(await outcomeOf(transaction)).to.equal(`Error: ${FAILED}`);
      expect((await parts[0])?.refused).to.be.greaterThan(0);
      expect(await namesIn(database)).to.deep.equal([]);
    });

    it("are part of a transaction, or are refused, while it commits", async () => {
      const { database } = opened;
      const parts: ReturnType<typeof stray>[] = [];
      await database.transaction(async (session) => {
        parts.push(stray(session, "late committing"));
        await someMicrotasks();
      });
      const { done, refused } = (await parts[0]) ?? { done: 0, refused: 0 };
      expect(refused).to.be.greaterThan(0);
      expect(await namesIn(database)).to.have.length(done);
      await database.transaction((session) => session.run("DELETE FROM {installation} WHERE name LIKE 'late%'"));
    });

    it("are refused after a view of the data", async () => {
      const kept: Session[] = [];
      await opened.database.snapshot(async (session) => void kept.push(session));
      expect(await outcomeOf((kept[0] as Session).all("SELECT name FROM {installation}"))).to.equal(REFUSED);
    });
  });
}

async function openJoined(kind: HostKind): Promise<{ readonly join: Join; readonly opened: Opened } & Begun> {
  const storage = await (kind.engine === "SQLite" ? sqliteStorage : mysqlStorage).open();
  const host = await kind.open(storage.url);
  const { unitOfWork } = createStores(storage.database, TEST_PORTS);
  const join: Join = (transaction, work) => {
    if (unitOfWork.join === undefined) throw new Error("The unit of work has no join.");
    return unitOfWork.join(
      transaction,
      (tx) => work(sessionOf(tx)),
      () => undefined,
    );
  };
  const close = (): Promise<void> => host.close().then(() => storage.close());
  return { join, begin: () => host.begin(), opened: { database: storage.database, close } };
}

type Join = (transaction: object, work: (session: Session) => Promise<void>) => Promise<void>;
type Begun = Pick<Awaited<ReturnType<HostKind["open"]>>, "begin">;

/** The app goes on with its transaction, and commits. */
for (const kind of HOSTS) {
  describe(`Late statements in a transaction of an app: ${kind.name}`, () => {
    it("are refused once the joined work is over", async () => {
      const { join, begin, opened } = await openJoined(kind);
      const { transaction, commit } = await begin();
      for (const end of [() => Promise.reject(new Error(FAILED)), () => Promise.resolve()]) {
        const kept: Session[] = [];
        const work = (session: Session): Promise<void> => {
          kept.push(session);
          return end();
        };
        await outcomeOf(join(transaction, work));
        for (const [method, statement] of Object.entries(STATEMENTS))
          expect(await outcomeOf(statement(kept[0] as Session, `late ${method}`)), method).to.equal(REFUSED);
      }
      const parts: ReturnType<typeof stray>[] = [];
      const failing = join(transaction, async (session) => {
        parts.push(stray(session, "late failing"));
        await someMicrotasks();
        throw new Error(FAILED);
      });
      expect(await outcomeOf(failing)).to.equal(`Error: ${FAILED}`);
      await Promise.all(parts);
      await commit();
      expect(await namesIn(opened.database)).to.deep.equal([]);
      await opened.close();
    });
  });
}

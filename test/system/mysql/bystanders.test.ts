import { expect } from "chai";
import { type KnexDatabase, openDatabase } from "../../../adapters/storage/sql/index.js";
import { type ApiResponse, dataOf, errorOf } from "../../support/api-client.js";
import { SILENT } from "../../support/databases.js";
import { SCRIPTED_TRACK, submitAccepts } from "../../support/doubles/scripted-provider.js";
import { createMigratedMysqlDatabase } from "../../support/mysql.js";
import { eventually } from "../../support/process.js";
import { Gate } from "../../support/stepping.js";
import { startTestApp, type TestAccount, type TestApp } from "../../support/test-app.js";

/** More than there are lanes: some share the lane of the account whose rows are held. */
const OTHERS = 12;

describe("Accounts next to one whose rows another session of MySQL holds", function () {
  this.timeout(60_000);

  let test: TestApp;
  let session: KnexDatabase;
  let drop: () => Promise<void>;
  let held: TestAccount;
  let others: TestAccount[];

  before(async () => {
    const database = await createMigratedMysqlDatabase();
    drop = database.drop;
    test = await startTestApp({ settings: { storage: { url: database.url } }, work: true });
    session = await openDatabase({ url: database.url, logger: SILENT });
  });
  beforeEach(async () => {
    held = await test.account();
    others = await Promise.all(Array.from({ length: OTHERS }, () => test.account()));
    test.provider.behaviour = submitAccepts(20);
  });
  after(async () => {
    await session.close();
    await test.close();
    await drop();
  });

  /** Holds a row, as a process does that was stopped in the middle of a transaction, until `work` is done. */
  async function holding(query: string, id: string, work: () => Promise<void>): Promise<void> {
    const [isHeld, letGo] = [new Gate(), new Gate()];
    const holder = session.transaction(async (transaction) => {
      await transaction.all(`${query} FOR UPDATE`, [id]);
      isHeld.open();
      await letGo.opened;
    });
    await isHeld.opened;
    try {
      await work();
    } finally {
      letGo.open();
      await holder;
    }
  }

  const holdingBalance = (work: () => Promise<void>): Promise<void> =>
    holding("SELECT 1 FROM {balances} WHERE account_id = ?", held.account.id, work);

  const generateForAll = (): Promise<ApiResponse[]> => Promise.all([held, ...others].map(({ api }) => api.generate()));

  const statusOf = async ({ api }: TestAccount, id: unknown): Promise<unknown> =>
    dataOf(await api.get(`/api/v1/generations/${String(id)}`))["status"];

  const reaches = (account: TestAccount, id: unknown, status: string): Promise<unknown> =>
    eventually(status, async () => (await statusOf(account, id)) === status);

  it("are served, while that account is asked to try again, and nothing is taken from it", async () => {
    await holdingBalance(async () => {
      const [refused, ...accepted] = await generateForAll();
      expect(accepted.map(({ status }) => status)).to.deep.equal(Array(OTHERS).fill(202));
      expect(refused?.status).to.equal(503);
      expect(errorOf(refused as ApiResponse)).to.include({ code: "service_unavailable" });
      expect(Number(refused?.headers.get("retry-after"))).to.be.within(1, 5);
    });
    const jobs = dataOf<{ generations: unknown[] }>(await held.api.get("/api/v1/generations"));
    expect(jobs.generations).to.deep.equal([]);
    expect((await held.api.generate()).status).to.equal(202);
    expect(
      await session.all("SELECT COUNT(*) AS jobs FROM {jobs} WHERE account_id = ?", [held.account.id]),
    ).to.deep.equal([{ jobs: 1 }]);
  });

  /** Generations of all that render, and what lets them be completed. */
  async function rendering(): Promise<{ readonly ids: readonly string[]; complete(): void }> {
    let isDone = false;
    test.provider.pollBehaviour = () =>
      Promise.resolve(isDone ? { state: "completed", tracks: [SCRIPTED_TRACK] } : { state: "running", nextPollMs: 50 });
    const ids = (await generateForAll()).map((response) => String(dataOf(response)["id"]));
    for (const [index, account] of [held, ...others].entries()) await reaches(account, ids[index], "processing");
    return { ids, complete: () => void (isDone = true) };
  }

  it("have their jobs completed, and that account has its own as soon as the rows are free", async () => {
    const { ids, complete } = await rendering();
    await holdingBalance(async () => {
      complete();
      for (const [index, account] of others.entries()) await reaches(account, ids[index + 1], "completed");
      expect(await statusOf(held, ids[0])).to.equal("processing");
    });
    await reaches(held, ids[0], "completed");
    const kinds = await session.all<{ kind: string }>(
      "SELECT kind FROM {ledger_entries} WHERE job_id = ? ORDER BY seq",
      [ids[0] as string],
    );
    expect(kinds.map(({ kind }) => kind)).to.deep.equal(["reserve", "charge"]);
  });

  it("go on while the row of a job is held", async () => {
    const { ids, complete } = await rendering();
    await holding("SELECT 1 FROM {jobs} WHERE id = ?", ids[0] as string, async () => {
      complete();
      for (const [index, account] of others.entries()) await reaches(account, ids[index + 1], "completed");
    });
    await reaches(held, ids[0], "completed");
  });

  it("are served next to an account whose numbers in the ledger clash", async () => {
    await session.transaction((transaction) =>
      transaction.run(
        "INSERT INTO {ledger_entries} (account_id, seq, kind, monthly, pack, reserved_monthly, reserved_pack, spent, " +
          "created_at) SELECT account_id, seq + 1, kind, monthly, pack, reserved_monthly, reserved_pack, spent, " +
          "created_at FROM {ledger_entries} WHERE account_id = ? ORDER BY seq DESC LIMIT 1",
        [held.account.id],
      ),
    );
    for (let round = 0; round < 3; round++) {
      const [failed, ...accepted] = await generateForAll();
      expect(accepted.map(({ status }) => status)).to.deep.equal(Array(OTHERS).fill(202));
      expect(failed?.status).to.equal(500);
    }
  });
});

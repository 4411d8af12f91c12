import { join } from "node:path";
import BetterSqlite3 from "better-sqlite3";
import { expect } from "chai";
import { Sandbox, useSandbox } from "../../support/process.js";

describe("fermata credits", () => {
  const sandbox = new Sandbox();
  let dataDir: string;
  let account: string;
  before(async () => {
    dataDir = await sandbox.dataDir();
    await sandbox.json(["migrate"], dataDir);
  });
  beforeEach(async () => {
    account = (
      await sandbox.json<{ id: string }>(["accounts", "create", "alice", "--tier", "plus", "--credits", "10"], dataDir)
    ).id;
  });
  after(() => sandbox.clear());

  const json = (...args: readonly string[]): Promise<object> => sandbox.json(args, dataDir);

  it("grants to the monthly bucket, or with --pack to the pack's, and prints what GET /credits returns", async () => {
    expect(await json("credits", "grant", account, "5")).to.deep.equal({
      available: 15,
      monthly_credits: 15,
      pack_credits: 0,
      total_spent: 0,
    });
    expect(await json("credits", "grant", account, "30", "--pack")).to.deep.equal({
      available: 45,
      monthly_credits: 15,
      pack_credits: 30,
      total_spent: 0,
    });
    expect(await json("credits", "show", account)).to.deep.equal({
      available: 45,
      monthly_credits: 15,
      pack_credits: 30,
      total_spent: 0,
    });
  });

  it("grants once under one reference, and refuses the reference for another grant", async () => {
    const order = `order of ${account}`;
    await json("credits", "grant", account, "5", "--pack", "--reference", order);
    expect(await json("credits", "grant", account, "5", "--pack", "--reference", order)).to.include({
      pack_credits: 5,
    });
    const { code, stderr } = await sandbox.command(
      ["credits", "grant", account, "6", "--pack", "--reference", order],
      dataDir,
    );
    expect([code, stderr]).to.deep.equal([1, `The reference ${order} was used for another grant.\n`]);
  });

  it("renews to the allowance of the tier and leaves the pack alone", async () => {
    await json("credits", "grant", account, "3", "--pack");
    expect(await json("credits", "renew", account)).to.deep.equal({
      available: 503,
      monthly_credits: 500,
      pack_credits: 3,
      total_spent: 0,
    });
  });

  it("renews a period once, and says when it was renewed already", async () => {
    const renewed = await sandbox.command(["credits", "renew", account, "--period", "2026-11"], dataDir);
    expect([renewed.code, renewed.stdout.split("\n")[0]]).to.deep.equal([0, "available  500"]);
    await json("credits", "grant", account, "7");
    const again = await sandbox.command(["credits", "renew", account, "--period", "2026-11"], dataDir);
    const said = again.stdout.split("\n").slice(0, 2);
    expect([again.code, ...said]).to.deep.equal([
      0,
      "2026-11 was renewed already; nothing was changed.",
      "available  507",
    ]);
    const credits = { available: 507, monthly_credits: 507, pack_credits: 0, total_spent: 0 };
    expect(await json("credits", "renew", account, "--period", "2026-11")).to.deep.equal(credits);
    expect(await json("credits", "renew", account, "--period", "2026-12")).to.include({ monthly_credits: 500 });
    expect(await json("ledger", "verify")).to.include({ ok: true });
  });

  it("says in words what an account has", async () => {
    const { stdout } = await sandbox.command(["credits", "show", account], dataDir);
    expect(stdout).to.equal("available  10\nmonthly    10\npack       0\nreserved   0\nspent      0\n");
  });

  it("refuses an unknown account and an impossible grant with 1, and no number with 2 and the reason", async () => {
    const run = async (...args: readonly string[]): Promise<unknown> => {
      const { code, stdout, stderr } = await sandbox.command(args, dataDir);
      return [code, stdout, stderr.split("\n")[0]];
    };
    expect(await run("credits", "show", "acct_unknown")).to.deep.equal([1, "", "There is no account acct_unknown."]);
    expect(await run("credits", "renew", "acct_unknown")).to.deep.equal([1, "", "There is no account acct_unknown."]);
    expect(await run("credits", "grant", account, "0")).to.deep.equal([
      1,
      "",
      "A grant is a whole number of credits from 1 on; got 0.",
    ]);
    const amount = "error: command-argument value 'many' is invalid for argument 'amount'. Allowed: a whole number.";
    expect(await run("credits", "grant", account, "many")).to.deep.equal([2, "", amount]);
    const period = "error: option '--period <month>' argument '2026-13' is invalid. Allowed: a month such as 2026-11.";
    expect(await run("credits", "renew", account, "--period", "2026-13")).to.deep.equal([2, "", period]);
  });
});

describe("fermata ledger verify", function () {
  this.timeout(90_000);
  const sandbox = useSandbox();

  async function installation(): Promise<{ dataDir: string; account: string }> {
    const dataDir = await sandbox.dataDir();
    await sandbox.json(["migrate"], dataDir);
    const create = ["accounts", "create", "alice", "--tier", "pro", "--credits", "10"];
    return { dataDir, account: (await sandbox.json<{ id: string }>(create, dataDir)).id };
  }

  it("finds nothing wrong in a sound ledger", async () => {
    const { dataDir } = await installation();
    const first = await sandbox.json<{ last_full_at: string }>(["ledger", "verify"], dataDir);
    const { last_full_at: at } = first;
    expect(first).to.deep.equal({ ok: true, checked: 2, violations: [], full: true, last_full_at: at });
    expect(new Date(at).toISOString()).to.equal(at);
    const { code, stdout } = await sandbox.command(["ledger", "verify", "--full"], dataDir);
    expect([code, stdout]).to.deep.equal([0, "1 accounts, 1 entries and 0 jobs checked: all is well.\n"]);
  });

  it("goes on from where it ended; a change of what was verified is found by --full, and from then on", async () => {
    const { dataDir, account } = await installation();
    await sandbox.json(["ledger", "verify"], dataDir);
    await sandbox.json(["credits", "grant", account, "5"], dataDir);
    const next = await sandbox.json(["ledger", "verify"], dataDir);
    expect(next).to.include({ ok: true, checked: 2, full: false });
    const { stdout } = await sandbox.command(["ledger", "verify"], dataDir);
    expect(stdout).to.match(
      /^1 accounts checked; 0 entries and 0 jobs are new since\. Last full check: \S+Z: all is well\.\n$/,
    );
    change(dataDir, "UPDATE fermata_ledger_entries SET created_at = created_at + 1 WHERE seq = 1");
    expect(await sandbox.json(["ledger", "verify"], dataDir)).to.include({ ok: true, full: false });
    for (const args of [["--full"], []]) {
      const { code, json } = await sandbox.command(["ledger", "verify", ...args, "--json"], dataDir);
      expect([code, json().violations]).to.deep.equal([
        1,
        [{ invariant: "verified-entries-are-unchanged", subject: account, found: "up_to_number 2, checksum differs" }],
      ]);
    }
  });

  it("exits with 1 and names the row that was tampered with", async () => {
    const { dataDir, account } = await installation();
    change(dataDir, `UPDATE fermata_balances SET monthly = monthly + 5 WHERE account_id = '${account}'`);
    const process = sandbox.spawn(["ledger", "verify", "--json"], dataDir);
    expect(await process.exited).to.deep.equal({ code: 1, signal: null });
    const found = JSON.parse(process.stdout) as { ok: boolean; checked: number; violations: Record<string, string>[] };
    expect(found).to.include({ ok: false, checked: 2 });
    expect(found.violations).to.not.be.empty;
    for (const violation of found.violations) {
      expect(Object.keys(violation)).to.have.members(["invariant", "subject", "found"]);
      expect(violation.subject).to.include(account);
    }
    const human = await sandbox.command(["ledger", "verify"], dataDir);
    expect([human.code, human.stderr]).to.deep.equal([1, ""]);
    expect(human.stdout)
      .to.include(account)
      .and.to.match(/1 entries and 0 jobs checked: \d+ rows break an invariant\.\n$/);
  });

  it("finds a ledger row that vanished", async () => {
    const { dataDir } = await installation();
    change(dataDir, "DELETE FROM fermata_ledger_entries");
    const { code, json } = await sandbox.command(["ledger", "verify", "--json"], dataDir);
    expect([code, json().ok]).to.deep.equal([1, false]);
  });
});

function change(dataDir: string, sql: string): void {
  const database = new BetterSqlite3(join(dataDir, "fermata.sqlite"));
  database.exec(sql);
  database.close();
}

import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import BetterSqlite3 from "better-sqlite3";
import { expect } from "chai";
import { useSandbox } from "../../support/process.js";

describe("fermata ledger archive and restore", function () {
  this.timeout(120_000);
  const sandbox = useSandbox();
  let dataDir: string;
  let account: string;
  let file: string;
  beforeEach(async () => {
    dataDir = await sandbox.dataDir();
    await sandbox.json(["migrate"], dataDir);
    const create = ["accounts", "create", "alice", "--tier", "pro", "--credits", "10"];
    account = (await sandbox.json<{ id: string }>(create, dataDir)).id;
    await sandbox.json(["credits", "grant", account, "5", "--pack"], dataDir);
    await sandbox.json(["credits", "grant", account, "7", "--pack", "--reference", "order 17"], dataDir);
    // As if all this was long ago.
    sql("UPDATE fermata_ledger_entries SET created_at = 1700000000000");
    file = join(dataDir, "ledger-archives", "ledger-000001.jsonl");
  });

  function sql(text: string): unknown[] {
    const database = new BetterSqlite3(join(dataDir, "fermata.sqlite"));
    try {
      const statement = database.prepare(text);
      return statement.reader ? statement.all() : [statement.run()];
    } finally {
      database.close();
    }
  }
  const entries = (): unknown[] => sql("SELECT * FROM fermata_ledger_entries ORDER BY seq");

  it("archives nothing unless it is asked to", async () => {
    const { code, stderr } = await sandbox.command(["ledger", "archive"], dataDir);
    expect([code, stderr]).to.deep.equal([1, "Set ledger.keepMonths, or say --older-than.\n"]);
    expect(entries()).to.have.length(3);
  });

  it("moves old entries to a file and puts them back; credits, exports and the check stay right", async () => {
    const before = entries();
    const credits = await sandbox.json(["credits", "show", account], dataDir);
    const env = { FERMATA_LEDGER__KEEP_MONTHS: "6" };
    const archived = await sandbox.json<{ archives: { sha256: string }[] }>(["ledger", "archive"], dataDir, env);
    const sha256 = archived.archives[0]?.sha256;
    expect(archived).to.deep.equal({ entries: 2, archives: [{ file: "ledger-000001.jsonl", entries: 2, sha256 }] });
    const lines = (await readFile(file, "utf8"))
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as object);
    expect(lines).to.have.length(4);
    expect(lines[0]).to.include({ type: "ledger-archive", version: 1, number: 1, previous: null });
    expect(lines[1]).to.include({ accountId: account, seq: 1, kind: "grant", monthly: 10 });
    expect(lines[3]).to.include({ type: "end", entries: 2 });
    expect(await sandbox.json(["credits", "show", account], dataDir)).to.deep.equal(credits);
    const out = join(dataDir, "alice.jsonl");
    await sandbox.json(["accounts", "export", account, "--out", out], dataDir);
    const exported = (await readFile(out, "utf8")).split("\n").filter((line) => line.includes('"ledger_entry"'));
    expect(exported.map((line) => (JSON.parse(line) as { kind: string }).kind)).to.deep.equal(["grant", "opening"]);
    const again = await sandbox.command(
      ["credits", "grant", account, "8", "--pack", "--reference", "order 17"],
      dataDir,
    );
    expect(again.stderr).to.equal("The reference order 17 was used for another grant.\n");
    const verify = ["ledger", "verify", "--full", "--archives", join(dataDir, "ledger-archives")];
    expect(await sandbox.json(verify, dataDir)).to.include({ ok: true });
    expect((await sandbox.command(["ledger", "archive"], dataDir, env)).stdout).to.equal(
      "There was nothing to archive.\n",
    );
    expect(await sandbox.json(["ledger", "restore", file], dataDir)).to.deep.equal({
      file: "ledger-000001.jsonl",
      entries: 2,
    });
    expect(entries()).to.deep.equal(before);
    expect(await sandbox.json(verify, dataDir)).to.include({ ok: true });
    const { records } = await sandbox.json<{ records: { action: string }[] }>(["audit", "list"], dataDir);
    const actions = records.map(({ action }) => action).filter((action) => action.startsWith("ledger."));
    expect(actions).to.deep.equal(["ledger.restore", "ledger.archive", "ledger.archive"]);
  });

  it("names a damaged archive, and puts nothing of it back", async () => {
    await sandbox.json(["ledger", "archive", "--older-than", "1"], dataDir);
    await writeFile(file, (await readFile(file, "utf8")).replace('"monthly":10', '"monthly":11'));
    const verify = ["ledger", "verify", "--archives", join(dataDir, "ledger-archives"), "--json"];
    const { code, json } = await sandbox.command(verify, dataDir);
    expect([code, json().ok]).to.deep.equal([1, false]);
    expect(JSON.stringify(json().violations)).to.include("archive-is-as-written").and.to.include("it was changed");
    const restored = await sandbox.command(["ledger", "restore", file], dataDir);
    expect([restored.code, restored.stderr]).to.deep.equal([
      1,
      "ledger-000001.jsonl is damaged: it is not what was written. Nothing was put back.\n",
    ]);
    expect(entries()).to.have.length(1);
  });
});

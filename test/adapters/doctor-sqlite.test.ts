import { chmod, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import BetterSqlite3 from "better-sqlite3";
import { expect } from "chai";
import { checkStorage } from "../../adapters/storage/sql/doctor/doctor.js";
import type { CheckResult } from "../../core/ports/self-check.js";
import { SILENT, type SqliteUnderTest, sqliteStorage, temporaryFolder } from "../support/databases.js";

describe("The doctor's checks of SQLite", () => {
  let storage: SqliteUnderTest;
  let path: string;
  beforeEach(async () => {
    storage = await sqliteStorage.open();
    path = storage.url.slice("sqlite:".length);
  });
  afterEach(() => storage.close());

  const check = (url = storage.url): Promise<readonly CheckResult[]> => checkStorage({ url, logger: SILENT });

  /** The problems that the check reports. */
  async function wrong(url?: string): Promise<readonly CheckResult[]> {
    return (await check(url)).filter(({ result }) => result !== "ok");
  }

  it("pass for a database of Fermata, and name the SQLite version", async () => {
    expect(await wrong()).to.deep.equal([]);
    expect((await check()).find(({ name }) => name === "sqlite mode")?.message).to.match(
      /^SQLite 3\.\d+\.\d+, write-ahead log/,
    );
  });

  it("report a missing file, and create none", async () => {
    const folder = await temporaryFolder();
    const [checkResult, ...others] = await wrong(`sqlite:${join(folder, "fermata.sqlite")}`);
    expect(checkResult).to.include({
      name: "sqlite file",
      result: "failed",
      fix: "Run `fermata migrate`, or `fermata start`.",
    });
    expect([others, await readdir(folder)]).to.deep.equal([[], []]);
  });

  it("report a file that cannot be opened", async () => {
    const [checkResult] = await wrong(`sqlite:${path}/fermata.sqlite`);
    expect(checkResult).to.include({ name: "sqlite file", result: "failed" });
    expect(checkResult?.message).to.include("ENOTDIR");
    expect(checkResult?.fix).to.include("chown");
  });

  it("report a file that is not a database", async () => {
    const garbage = join(await temporaryFolder(), "fermata.sqlite");
    await writeFile(garbage, "not a database".repeat(1_000));
    const [checkResult] = await wrong(`sqlite:${garbage}`);
    expect(checkResult).to.include({ name: "sqlite file", result: "failed", fix: "Restore the file from a backup." });
    expect(checkResult?.message).to.include("not a database");
  });

  it("report that other users may read the file or its WAL files", async () => {
    for (const [ending, mode] of [
      ["-shm", 0o660],
      ["", 0o640],
      ["", 0o604],
    ] as const) {
      for (const companion of ["", "-wal", "-shm"]) await chmod(`${path}${companion}`, 0o600);
      await chmod(`${path}${ending}`, mode);
      const [found, ...others] = await wrong();
      expect([found?.name, found?.result, others]).to.deep.equal(["sqlite file", "failed", []]);
      // A WAL file that is empty or created again gets the permissions of the database file.
      expect(found?.fix?.slice(1, -1).split(" ")).to.include.members(["chmod", "600", `${path}${ending}`]);
    }
  });

  it("report that another process holds the write lock", async () => {
    const other = new BetterSqlite3(path);
    try {
      other.exec("BEGIN IMMEDIATE");
      const [checkResult, ...others] = await wrong();
      expect(checkResult).to.include({ name: "sqlite writes", result: "failed" });
      expect(checkResult?.message).to.include("database is locked");
      expect(others).to.deep.equal([]);
    } finally {
      other.close();
    }
  });

  it("warn of an in-memory database", async () => {
    expect(await wrong("sqlite::memory:")).to.have.lengthOf(1);
  });

  it("report an older and a newer schema", async () => {
    const other = new BetterSqlite3(path);
    try {
      other.exec(
        "INSERT INTO fermata_migrations (name, batch, migration_time) VALUES ('9999-tomorrow', 2, '2030-01-01')",
      );
      const [added] = await wrong();
      expect(added).to.include({ name: "schema", result: "warning" });
      expect(added?.message).to.include("9999-tomorrow").and.include("this version runs on it");
      other.exec("UPDATE fermata_installation SET value = '9999-tomorrow' WHERE name = 'schema_needs'");
      const [ahead] = await wrong();
      expect(ahead).to.include({ name: "schema", result: "failed" });
      expect(ahead?.message).to.include("9999-tomorrow");
      other.exec("DELETE FROM fermata_migrations WHERE name IN ('9999-tomorrow', '0008-lease-index')");
      const [behind] = await wrong();
      expect(behind).to.deep.equal({
        name: "schema",
        result: "failed",
        message: "The schema lacks 0008-lease-index.",
        fix: "Run `fermata migrate`.",
      });
    } finally {
      other.close();
    }
  });
});

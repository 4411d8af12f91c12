import { chmod, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import BetterSqlite3 from "better-sqlite3";
import { expect } from "chai";
import { checkStorage } from "../../adapters/storage/knex/doctor/doctor.js";
import type { CheckResult } from "../../core/ports/self-check.js";
import { SILENT, type SqliteUnderTest, sqliteStorage, temporaryFolder } from "../support/databases.js";

describe("The doctor of SQLite", () => {
  let storage: SqliteUnderTest;
  let path: string;
  beforeEach(async () => {
    storage = await sqliteStorage.open();
    path = storage.url.slice("sqlite:".length);
  });
  afterEach(() => storage.close());

  const check = (url = storage.url): Promise<readonly CheckResult[]> => checkStorage({ url, logger: SILENT });

  /** What is not as it should be. */
  async function wrong(url?: string): Promise<readonly CheckResult[]> {
    return (await check(url)).filter(({ result }) => result !== "ok");
  }

  it("finds a database of ours well, and says which SQLite it is", async () => {
    expect(await wrong()).to.deep.equal([]);
    expect((await check()).find(({ name }) => name === "sqlite mode")?.message).to.match(
      /^SQLite 3\.\d+\.\d+, write-ahead log/,
    );
  });

  it("finds that there is no file, and makes none", async () => {
    const folder = await temporaryFolder();
    const [checkResult, ...others] = await wrong(`sqlite:${join(folder, "fermata.sqlite")}`);
    expect(checkResult).to.include({
      name: "sqlite file",
      result: "failed",
      fix: "Run `fermata migrate`, or `fermata start`.",
    });
    expect([others, await readdir(folder)]).to.deep.equal([[], []]);
  });

  it("finds that the file cannot be reached", async () => {
    const [checkResult] = await wrong(`sqlite:${path}/fermata.sqlite`);
    expect(checkResult).to.include({ name: "sqlite file", result: "failed" });
    expect(checkResult?.message).to.include("ENOTDIR");
    expect(checkResult?.fix).to.include("chown");
  });

  it("finds a file that is no database", async () => {
    const garbage = join(await temporaryFolder(), "fermata.sqlite");
    await writeFile(garbage, "not a database".repeat(1_000));
    const [checkResult] = await wrong(`sqlite:${garbage}`);
    expect(checkResult).to.include({ name: "sqlite file", result: "failed", fix: "Restore the file from a backup." });
    expect(checkResult?.message).to.include("not a database");
  });

  it("finds that other users may read the file or its companions", async () => {
    for (const [ending, mode] of [
      ["-shm", 0o660],
      ["", 0o640],
      ["", 0o604],
    ] as const) {
      for (const companion of ["", "-wal", "-shm"]) await chmod(`${path}${companion}`, 0o600);
      await chmod(`${path}${ending}`, mode);
      const [found, ...others] = await wrong();
      expect([found?.name, found?.result, others]).to.deep.equal(["sqlite file", "failed", []]);
      // A companion that is empty or created again gets the rights of the file.
      expect(found?.fix?.slice(1, -1).split(" ")).to.include.members(["chmod", "600", `${path}${ending}`]);
    }
  });

  it("finds that another process holds the write lock", async () => {
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

  it("warns of a database that ends with its process", async () => {
    expect(await wrong("sqlite::memory:")).to.have.lengthOf(1);
  });

  it("finds a schema that is behind, and one that is ahead", async () => {
    const other = new BetterSqlite3(path);
    try {
      other.exec("INSERT INTO knex_migrations (name, batch, migration_time) VALUES ('9999-tomorrow', 2, '2030-01-01')");
      const [ahead] = await wrong();
      expect(ahead).to.include({ name: "schema", result: "failed" });
      expect(ahead?.message).to.include("9999-tomorrow");
      other.exec("DELETE FROM knex_migrations WHERE name IN ('9999-tomorrow', '0007-installation')");
      const [behind] = await wrong();
      expect(behind).to.deep.equal({
        name: "schema",
        result: "failed",
        message: "The schema lacks 0007-installation.",
        fix: "Run `fermata migrate`.",
      });
    } finally {
      other.close();
    }
  });
});

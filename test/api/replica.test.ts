import { mkdir, mkdtemp, rm, rmdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import BetterSqlite3 from "better-sqlite3";
import { expect } from "chai";
import { createMigratedFile } from "../support/databases.js";
import { dataOf } from "../support/api-client.js";
import { eventually } from "../support/rabbitmq.js";
import { startTestApp, type TestAccount, type TestApp } from "../support/test-app.js";

/** By the mark the replica has everything up to then. */
const MARK = "UPDATE fermata_installation SET value = ? WHERE name = 'replica_mark'";
const FUTURE = String(Date.now() + 365 * 24 * 3_600_000);

interface Items {
  readonly [name: string]: unknown;
}

/** Endpoints whose reads may be old, and what of them changes with the caller's generations and requests. */
const OLD: Readonly<Record<string, (data: Items) => unknown>> = {
  "/api/v1/library/search?q=beat": ({ tracks }) => (tracks as object[]).length,
  "/api/v1/logs?limit=1": ({ logs }) => (logs as { id: string }[]).map(({ id }) => id).join(),
  "/api/v1/usage?limit=1": ({ summary }) => (summary as { credits_used: number }).credits_used,
};

/** Endpoints that show what the caller has just done. */
const FRESH: Readonly<Record<string, (data: Items) => number>> = {
  "/api/v1/generations": ({ generations }) => (generations as object[]).length,
  "/api/v1/playlists": ({ playlists }) => (playlists as object[]).length,
  "/api/v1/webhook-endpoints": ({ webhook_endpoints }) => (webhook_endpoints as object[]).length,
  "/api/v1/credits": ({ total_spent }) => total_spent as number,
};

describe("Reads while there is a replica", function () {
  this.timeout(60_000);

  let folder: string;
  let test: TestApp;
  let caller: TestAccount;

  /** A file that stays as the primary is now. */
  const replica = (): string => join(folder, "replica.sqlite");

  async function write(times: number): Promise<void> {
    for (let time = 0; time < times; time++) {
      const id = dataOf<{ id: string }>(await caller.api.generate({ model_id: "scripted/beat", prompt: "a beat" })).id;
      await eventually(async () =>
        expect(dataOf(await caller.api.get(`/api/v1/generations/${id}`))).to.include({ status: "completed" }),
      );
    }
  }

  function onReplica(sql: string, ...values: readonly unknown[]): void {
    const database = new BetterSqlite3(replica());
    try {
      database.prepare(sql).run(...values);
    } finally {
      database.close();
    }
  }

  function newestOnReplica(): unknown {
    const database = new BetterSqlite3(replica(), { readonly: true });
    try {
      return database.prepare("SELECT id FROM fermata_request_log ORDER BY created_at DESC, id DESC").pluck().get();
    } finally {
      database.close();
    }
  }

  const shown = async <T>(path: string, of: (data: Items) => T): Promise<T> =>
    of(dataOf<Items>(await caller.api.get(path)));

  /** What the replica shows, while it is read. */
  const old = new Map<string, unknown>();

  async function comesFromPrimary(): Promise<void> {
    await eventually(async () => {
      for (const [path, of] of Object.entries(OLD)) expect(await shown(path, of), path).not.to.equal(old.get(path));
    });
  }

  async function comesFromReplica(): Promise<void> {
    await eventually(async () => {
      for (const [path, of] of Object.entries(OLD)) expect(await shown(path, of), path).to.equal(old.get(path));
    });
  }

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "fermata-replica-"));
    const primary = join(folder, "primary.sqlite");
    await createMigratedFile(primary);
    // No database yet.
    await mkdir(replica());
    const storage = { url: `sqlite:${primary}`, readUrl: `sqlite:${replica()}`, readLagSeconds: 2 };
    test = await startTestApp({ settings: { storage }, work: true });
    caller = await test.account();
  });

  after(async () => {
    await test.close();
    await rm(folder, { recursive: true });
  });

  it("come from the primary before there is one", async () => {
    await write(1);
    for (const [path, of] of Object.entries(OLD)) old.set(path, await shown(path, of));
    await write(1);
    await comesFromPrimary();
    expect(test.logger.lines.filter(({ message }) => message.startsWith("The replica"))).to.have.lengthOf(1);
  });

  it("that may be old come from it, and no others do", async () => {
    await rmdir(replica());
    const copied = new BetterSqlite3(join(folder, "primary.sqlite"));
    copied.prepare("VACUUM INTO ?").run(replica());
    copied.close();
    const newest = newestOnReplica();
    onReplica("INSERT OR REPLACE INTO fermata_installation (name, value) VALUES ('replica_mark', ?)", FUTURE);
    // The log of the primary goes on with each request.
    const logs = "/api/v1/logs?limit=1";
    await eventually(async () => expect(await shown(logs, OLD[logs] as (data: Items) => unknown)).to.equal(newest));
    for (const [path, of] of Object.entries(OLD)) old.set(path, await shown(path, of));
    const before = new Map<string, number>();
    for (const [path, of] of Object.entries(FRESH)) before.set(path, await shown(path, of));
    await write(2);
    await createPlaylistAndEndpoint();
    await comesFromReplica();
    for (const [path, of] of Object.entries(FRESH))
      expect(await shown(path, of), path).to.be.above(before.get(path) ?? 0);
  });

  it("come from the primary when it lags behind", async () => {
    onReplica(MARK, String(Date.now() - 60_000));
    await comesFromPrimary();
  });

  it("come from the primary when it fails", async () => {
    onReplica(MARK, FUTURE);
    await comesFromReplica();
    const database = new BetterSqlite3(replica());
    const tables = database
      .prepare("SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE 'fermata_%'")
      .pluck()
      .all() as string[];
    for (const table of tables.filter((name) => name !== "fermata_installation"))
      database.exec(`ALTER TABLE ${table} RENAME TO lost_${table}`);
    database.close();
    await comesFromPrimary();
  });

  async function createPlaylistAndEndpoint(): Promise<void> {
    const headers = { "Content-Type": "application/json" };
    const playlist = await caller.api.send("POST", "/api/v1/playlists", { headers, body: { title: "Beats" } });
    expect(playlist.status, playlist.text).to.equal(201);
    const body = { url: "https://example.com/hook" };
    const endpoint = await caller.api.send("POST", "/api/v1/webhook-endpoints", { headers, body });
    expect(endpoint.status, endpoint.text).to.equal(201);
  }
});

import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect } from "chai";
import type { App } from "../../../config/app.js";
import { type HostProcessTask, KILL_POINTS, openEmbedded } from "../../support/host-process.js";
import { type Host, HOSTS } from "../../support/hosts.js";
import { createMigratedMysqlDatabase } from "../../support/mysql.js";

const PROGRAM = fileURLToPath(new URL(`../../support/host-process${import.meta.url.slice(-3)}`, import.meta.url));
const KINDS = ["better-sqlite3", "knex on better-sqlite3", "mysql2/promise", "knex on mysql2"];

/** Runs an app's order in a process of its own, and kills it at the point. */
async function killAt(task: HostProcessTask): Promise<void> {
  const child = fork(PROGRAM, [JSON.stringify(task)], { stdio: ["ignore", "ignore", "pipe", "ipc"] });
  let errors = "";
  child.stderr?.on("data", (text: Buffer) => (errors += text.toString()));
  const ended = once(child, "close");
  const first = await Promise.race([once(child, "message"), ended]);
  child.kill("SIGKILL");
  await ended;
  expect(first[0], errors).to.equal(task.point);
}

for (const kind of HOSTS.filter(({ name }) => KINDS.includes(name))) {
  describe(`An app that is killed in its transaction: ${kind.name}`, function () {
    this.timeout(60_000);
    let dataDir: string;
    let database: { readonly url: string; drop(): Promise<void> };
    let app: App;
    let host: Host;
    before(async () => {
      dataDir = await mkdtemp(join(tmpdir(), "fermata-killed-"));
      const nothing = { url: `sqlite:${join(dataDir, "shared.db")}`, drop: () => Promise.resolve() };
      database = kind.engine === "MySQL" ? await createMigratedMysqlDatabase() : nothing;
      app = await openEmbedded({ url: database.url, dataDir });
      host = await kind.open(database.url);
    });
    after(async () => {
      await host.close();
      await app.stop();
      await database.drop();
      await rm(dataDir, { recursive: true, force: true });
    });

    for (const point of KILL_POINTS) {
      const isThere = point === "after the commit";
      it(`${point}: ${isThere ? "its order and the generation are both there" : "neither is there"}`, async () => {
        const { id } = await app.accounts.create({ name: "Alice", tier: "pro", credits: 5, acceptTerms: true });
        const before = await app.credits.balance(id);
        await killAt({ kind: kind.name, url: database.url, dataDir, accountId: id, point });
        const orders = (await host.orders()).filter((name) => name === id);
        const generations = await app.generations.list(id);
        expect([orders.length, generations.length]).to.deep.equal(isThere ? [1, 1] : [0, 0]);
        if (!isThere) expect(await app.credits.balance(id)).to.deep.equal(before);
        expect((await app.credits.verify()).violations).to.deep.equal([]);
      });
    }

    it("leaves work that another process does", async () => {
      await app.work();
      const { id } = await app.accounts.create({ name: "Bob", tier: "pro", credits: 5, acceptTerms: true });
      const point = "after the commit";
      await killAt({ kind: kind.name, url: database.url, dataDir, accountId: id, point });
      const [created] = await app.generations.list(id);
      const ended = await app.generations.wait(created?.id ?? "");
      expect(ended).to.include({ status: "completed", accountId: id });
      expect(await app.credits.balance(id)).to.include({ monthly: 0, pack: 5, spent: 10 });
    });
  });
}

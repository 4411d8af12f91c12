import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import type { FermataError } from "../../core/index.js";
import { aTrack } from "../support/builders.js";
import { SCRIPTED_TRACK, ScriptedProvider, submitCompletes } from "../support/doubles/scripted-provider.js";
import { type Host, type HostKind, HOSTS } from "../support/hosts.js";
import { createMigratedMysqlDatabase } from "../support/mysql.js";
import { startTestApp, type TestAccount, type TestApp } from "../support/test-app.js";

const INPUT = { modelId: "scripted/song", prompt: "slow sad piano" };
/** Longer than a test: workers start a job because they were notified. */
const RARELY_MS = 60_000;

const ANY = { sources: "any" } as const;

class Splitting extends ScriptedProvider {
  override readonly definition = {
    ...this.define("scripted"),
    capabilities: { idempotentSubmit: true, lookup: false, cancel: false, stemSplit: ANY },
  };
}

async function emptyDatabase(engine: HostKind["engine"]): Promise<{ readonly url: string; drop(): Promise<void> }> {
  if (engine === "MySQL") return createMigratedMysqlDatabase();
  const folder = await mkdtemp(join(tmpdir(), "fermata-host-"));
  return { url: `sqlite:${join(folder, "shared.db")}`, drop: () => rm(folder, { recursive: true, force: true }) };
}

async function codeOf(call: Promise<unknown>): Promise<string> {
  return call.then(
    () => "none",
    (error: unknown) => (error as FermataError).code,
  );
}

for (const kind of HOSTS) {
  describe(`What joins a transaction of an app: ${kind.name}`, () => {
    let database: { readonly url: string; drop(): Promise<void> };
    let test: TestApp;
    let host: Host;
    let caller: TestAccount;
    let provider: Splitting;
    before(async () => {
      database = await emptyDatabase(kind.engine);
      const sweepMs = kind.tells ? RARELY_MS : 1_000;
      const jobs = { maxAttempts: 1, backoffMs: 0, shutdownGraceSeconds: 0.1, sweepMs };
      provider = new Splitting();
      test = await startTestApp({
        work: true,
        plugins: [provider.definition],
        settings: { storage: { url: database.url }, jobs, stemSplit: { providers: ["scripted"] } },
      });
      host = await kind.open(database.url);
    });
    beforeEach(async () => {
      provider.behaviour = submitCompletes;
      caller = await test.account({ credits: 100 });
    });
    after(async () => {
      await host.close();
      await test.close();
      await database.drop();
    });

    const orderNames = async (): Promise<string[]> =>
      (await host.orders()).filter((name) => name.startsWith(caller.account.id));
    const order = (name: string): string => `${caller.account.id} ${name}`;

    it("is there with the app's own rows once it commits, and is worked on", async () => {
      const { generations, credits } = test.app;
      const { id } = caller.account;
      const before = await credits.balance(id);
      const { transaction, addOrder, commit } = await host.begin();
      await addOrder(order("one"));
      const granted = await credits.grant(id, 50, { bucket: "pack", reference: order("one"), transaction });
      expect(granted.pack).to.equal(50);
      const created = await generations.create(id, INPUT, { key: "one", transaction });
      expect(created).to.include({ accountId: id, status: "queued", isRepeated: false });
      expect(await codeOf(generations.get(created.id))).to.equal("job_not_found");
      expect(await credits.balance(id)).to.deep.equal(before);
      expect(await orderNames()).to.deep.equal([]);

      await commit();
      expect(await orderNames()).to.deep.equal([order("one")]);
      const ended = await generations.wait(created.id);
      expect(ended.status).to.equal("completed");
      expect((await credits.balance(id)).spent).to.equal(ended.creditsCharged);
    });

    it("is not there when the app rolls back, and can be created again under the same key and reference", async () => {
      const { generations, credits } = test.app;
      const { id } = caller.account;
      const before = await credits.balance(id);
      const { transaction, addOrder, rollback } = await host.begin();
      await addOrder(order("two"));
      await credits.grant(id, 50, { reference: order("two"), transaction });
      const created = await generations.create(id, INPUT, { key: "two", transaction });
      await rollback();
      expect(await orderNames()).to.deep.equal([]);
      expect(await credits.balance(id)).to.deep.equal(before);
      expect(await codeOf(generations.get(created.id))).to.equal("job_not_found");
      expect(await generations.list(id)).to.deep.equal([]);

      expect((await generations.create(id, INPUT, { key: "two" })).isRepeated).to.equal(false);
      expect((await credits.grant(id, 50, { reference: order("two") })).monthly).to.be.above(before.monthly);
    });

    it("that is refused leaves the app's transaction as it was", async () => {
      const { generations, credits } = test.app;
      const { id } = caller.account;
      const before = await credits.balance(id);
      const poor = await test.account({ credits: 0 });
      const { transaction, addOrder, commit } = await host.begin();
      await addOrder(order("three"));
      expect(await codeOf(generations.create(id, { ...INPUT, prompt: "" }, { transaction }))).to.equal(
        "invalid_request",
      );
      expect(await codeOf(generations.create(poor.account.id, INPUT, { transaction }))).to.equal(
        "insufficient_credits",
      );
      expect(await codeOf(credits.grant(id, -1, { transaction }))).to.equal("invalid_request");
      await commit();
      expect(await orderNames()).to.deep.equal([order("three")]);
      expect(await credits.balance(id)).to.deep.equal(before);
    });

    it("is created once under a key, in the transaction and after it", async () => {
      const { generations } = test.app;
      const { id } = caller.account;
      const { transaction, commit } = await host.begin();
      const created = await generations.create(id, INPUT, { key: "four", transaction });
      const again = await generations.create(id, INPUT, { key: "four", transaction });
      expect(again).to.include({ id: created.id, status: "queued", isRepeated: true });
      const other = { ...INPUT, prompt: "something else" };
      expect(await codeOf(generations.create(id, other, { key: "four", transaction }))).to.equal(
        "idempotency_conflict",
      );
      await commit();
      await generations.wait(created.id);
      expect(await generations.create(id, INPUT, { key: "four" })).to.include({ id: created.id, isRepeated: true });
      const next = await host.begin();
      const later = await generations.create(id, INPUT, { key: "four", transaction: next.transaction });
      expect(later).to.include({ id: created.id, status: "completed", isRepeated: true });
      await next.commit();
      expect(await generations.list(id)).to.have.lengthOf(1);
    });

    it("is a split as well", async () => {
      const { generations, splits } = test.app;
      const { id } = caller.account;
      const { tracks } = await generations.wait((await generations.create(id, INPUT)).id);
      const trackId = tracks[0]?.id ?? aTrack().id;
      const stems = SCRIPTED_TRACK.assets.filter(({ role }) => role === "stem");
      provider.behaviour = () => Promise.resolve({ state: "completed", tracks: [], stems });
      const split = { kind: "stem_split", accountId: id, trackId, reference: "five" } as const;
      const lost = await host.begin();
      await splits.start({ ...split, transaction: lost.transaction });
      await lost.rollback();
      const kept = await host.begin();
      const started = await splits.start({ ...split, transaction: kept.transaction });
      expect(started.isRepeated).to.equal(false);
      expect((await splits.start({ ...split, transaction: kept.transaction })).isRepeated).to.equal(true);
      await kept.commit();
      const { accountId, status } = await generations.wait(started.id);
      expect({ accountId, status }).to.deep.equal({ accountId: id, status: "completed" });
    });
  });
}

import { join } from "node:path";
import { expect } from "chai";
import type { Account, FermataError } from "../../core/index.js";
import { temporaryFolder } from "../support/databases.js";
import { createMigratedMysqlDatabase } from "../support/mysql.js";
import { startTestApp, type TestApp } from "../support/test-app.js";

const ENGINES = {
  SQLite: async () => ({ url: `sqlite:${join(await temporaryFolder(), "shared.db")}`, drop: () => Promise.resolve() }),
  MySQL: () => createMigratedMysqlDatabase(),
} as const;

const NOT_IDS = {
  nothing: "",
  "too much": "x".repeat(256),
  "a line break": "user\n17",
  "a control character": "user\u000017",
  "what is not shown": "user\u200b17",
  "half a character": "user\ud800",
  "a space at its end": "user 17 ",
  "a space at its start": " user 17",
};

async function messageOf(call: Promise<unknown>): Promise<string> {
  return call.then(
    () => "none",
    (error: unknown) => `${(error as FermataError).code}: ${(error as Error).message}`,
  );
}

for (const [engine, openDatabase] of Object.entries(ENGINES)) {
  describe(`Accounts of an embedding app's users: ${engine}`, () => {
    let database: { readonly url: string; drop(): Promise<void> };
    let apps: TestApp[];

    /** An app in a process of its own, as far as the storage can see. */
    async function start(): Promise<TestApp["app"]> {
      const settings = { storage: { url: database.url }, secrets: { key: "k".repeat(64) } };
      const test = await startTestApp({ settings, listen: false });
      apps.push(test);
      return test.app;
    }
    const all = (app: TestApp["app"]): Promise<Account[]> => app.accounts.list({ limit: 100 });

    before(async () => {
      database = await openDatabase();
    });
    after(() => database.drop());
    beforeEach(() => {
      apps = [];
    });
    afterEach(() => Promise.all(apps.map((test) => test.close())));

    it("are created once for each, however many calls of however many processes come at once", async () => {
      const [one, other] = [await start(), await start()];
      const before = await all(one);
      const wanted = { externalId: "Zoë 1", name: "Zoë", tier: "pro", acceptTerms: true, credits: 70 };
      const calls = Array.from({ length: 20 }, (_, index) => (index % 2 === 0 ? one : other).accounts.ensure(wanted));
      const accounts = await Promise.all(calls);
      const [account] = accounts as [Account];
      expect(account).to.include({ externalId: "Zoë 1", name: "Zoë", tier: "pro", suspendedAt: null });
      expect(account.termsAcceptedAt).to.be.a("number");
      for (const same of accounts) expect(same).to.deep.equal(account);
      expect(await all(one)).to.deep.equal([account, ...before]);
      expect(await one.credits.balance(account.id)).to.include({ monthly: 70, spent: 0 });
      const records = await one.audit.list({ accountId: account.id, limit: 10 });
      // The log is kept for ever: it has no name of a person.
      expect(records.map(({ action, fields }) => [action, fields])).to.deep.equal([
        ["accounts.create", { tier: "pro", terms_accepted: true, credits: 70 }],
      ]);
      expect((await one.credits.verify()).violations).to.deep.equal([]);
    });

    it("are found after a restart, as they are by then, whatever else the later call says", async () => {
      const first = await start();
      const created = await first.accounts.ensure({ externalId: "user-2", tier: "plus" });
      await first.accounts.changeTier(created.id, "pro");
      const suspended = await first.accounts.suspend(created.id, { reason: "late" });
      await first.stop();
      const second = await start();
      const wanted = { externalId: "user-2", tier: "gold", name: "", credits: -1 };
      expect(await second.accounts.ensure(wanted)).to.deep.equal(suspended);
      expect(await second.accounts.findByExternalId("user-2")).to.deep.equal(suspended);
      expect((await second.credits.balance(created.id)).monthly).to.equal(0);
    });

    it("have the external id as their name, and the tier free, unless the call names others", async () => {
      const app = await start();
      const externalId = "x".repeat(255);
      const account = await app.accounts.ensure({ externalId });
      expect(account).to.include({ externalId, name: "x".repeat(100), tier: "free", termsAcceptedAt: null });
    });

    it("differ by every character of the id", async () => {
      const app = await start();
      const ids = ["user-3", "USER-3", "üser-3", "u\u0308ser-3", "user  3", "user 3", "🎻"];
      const accounts = await Promise.all(ids.map((externalId) => app.accounts.ensure({ externalId })));
      expect(new Set(accounts.map(({ id }) => id)).size).to.equal(ids.length);
      for (const [index, id] of ids.entries()) {
        expect(await app.accounts.findByExternalId(id)).to.deep.equal(accounts[index]);
      }
    });

    it("are not created with an id that cannot be, and not found", async () => {
      const app = await start();
      const before = await all(app);
      for (const [what, externalId] of Object.entries(NOT_IDS)) {
        expect(await messageOf(app.accounts.ensure({ externalId })), what).to.include("An external id has 1 to 255");
        expect(await app.accounts.findByExternalId(externalId), what).to.equal(null);
      }
      expect(await messageOf(app.accounts.ensure({ externalId: "user-4", tier: "gold" }))).to.include("no tier gold");
      expect(await app.accounts.findByExternalId("user-4")).to.equal(null);
      expect(await all(app)).to.deep.equal(before);
    });

    it("are not created a second time under an id that another has", async () => {
      const app = await start();
      const account = await app.accounts.create({ name: "alice", tier: "pro", externalId: "user-5" });
      expect(await app.accounts.ensure({ externalId: "user-5" })).to.deep.equal(account);
      const again = app.accounts.create({ name: "eve", tier: "pro", externalId: "user-5" });
      expect(await messageOf(again)).to.include(`The account ${account.id} has the external id user-5.`);
      expect((await all(app)).filter(({ externalId }) => externalId === "user-5")).to.deep.equal([account]);
    });

    it("get the credits of a reference once, and a reference for something else is refused", async () => {
      const [one, other] = [await start(), await start()];
      const account = await one.accounts.ensure({ externalId: "user-6" });
      const grant = (app: TestApp["app"], amount = 100): Promise<{ readonly pack: number }> =>
        app.credits.grant(account.id, amount, { bucket: "pack", reference: "order 6" });
      const balances = await Promise.all([one, other, one, other].map((app) => grant(app)));
      expect(balances.map(({ pack }) => pack)).to.deep.equal([100, 100, 100, 100]);
      const refusal = "The reference order 6 was used for another grant.";
      expect(await messageOf(grant(other, 200))).to.include(refusal);
      expect(await messageOf(one.credits.grant(account.id, 100, { reference: "order 6" }))).to.include(refusal);
      const someone = await one.accounts.ensure({ externalId: "user-7" });
      const theirs = one.credits.grant(someone.id, 100, { bucket: "pack", reference: "order 6" });
      expect(await messageOf(theirs)).to.include(refusal);
      expect(await one.credits.balance(account.id)).to.include({ pack: 100, monthly: 0 });
      expect(await one.credits.balance(someone.id)).to.include({ pack: 0, monthly: 0 });
    });
  });
}

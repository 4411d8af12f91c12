import { expect } from "chai";
import { CancellableProvider } from "../../support/doubles/cancellable-provider.js";
import { ScriptedProvider } from "../../support/doubles/scripted-provider.js";
import { SHARED_DATABASES, type SharedDatabase } from "../../support/shared-database.js";
import type { TestApp } from "../../support/test-app.js";

for (const [name, open] of SHARED_DATABASES) {
  describe(`A job that one app works on and another cancels: ${name}`, () => {
    let database: SharedDatabase;
    let provider: CancellableProvider;
    let working: TestApp;
    let calling: TestApp;
    before(async () => {
      database = await open();
    });
    after(() => database.close());
    beforeEach(async () => {
      provider = new CancellableProvider();
      working = await database.open({ ...provider.options, work: true });
      calling = await database.open(new CancellableProvider().options);
    });
    afterEach(() => database.stopAll());

    /** A job that the provider renders. */
    async function rendering(): Promise<{ readonly id: string; readonly accountId: string }> {
      const account = { name: "alice", tier: "pro", credits: 100, acceptTerms: true };
      const { id: accountId } = await calling.app.accounts.create(account);
      const { id } = await calling.app.generations.create(accountId, {
        modelId: "scripted/song",
        prompt: "slow piano",
      });
      await provider.polled;
      return { id, accountId };
    }

    it("is refunded when the provider confirms, recorded, and heard of by both", async () => {
      const ended = [working, calling].map(
        ({ app }) =>
          new Promise<string>((resolve) => app.events.on("generation.failed", (event) => resolve(event.generation.id))),
      );
      const { id, accountId } = await rendering();
      const { outcome, generation } = await calling.app.jobs.cancel(id, { accountId });
      expect([outcome, generation.status, generation.error?.details]).to.deep.equal([
        "cancelled",
        "failed",
        { reason: "cancelled" },
      ]);
      expect(provider.asked).to.equal(1);
      expect(await calling.app.credits.balance(accountId)).to.include({ monthly: 100, reservedMonthly: 0, spent: 0 });
      const [record] = await calling.app.audit.list({ limit: 1 });
      expect(record).to.deep.include({ action: "jobs.cancel", accountId, targets: [id], fields: { refunded: false } });
      expect(await Promise.all(ended)).to.deep.equal([id, id]);
    });

    it("runs to its end when the provider is asked too late, and is recorded once", async () => {
      provider.reply = "too_late";
      const { id, accountId } = await rendering();
      const { count } = await calling.app.audit.verify();
      const outcomes = [(await calling.app.jobs.cancel(id)).outcome, (await calling.app.jobs.cancel(id)).outcome];
      expect([outcomes, provider.asked]).to.deep.equal([["running", "running"], 1]);
      expect((await calling.app.audit.verify()).count).to.equal(count + 1);
      provider.pollBehaviour = new ScriptedProvider().pollBehaviour;
      expect(await calling.app.generations.wait(id)).to.include({ status: "completed", creditsCharged: 10 });
      expect(await calling.app.jobs.cancel(id)).to.have.property("outcome", "ended");
      expect(await calling.app.credits.balance(accountId)).to.include({ monthly: 90, spent: 10 });
    });
  });
}

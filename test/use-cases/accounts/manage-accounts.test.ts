import { expect } from "chai";
import { AccountSuspendedError, UnknownObjectError } from "../../../core/errors.js";
import { checkIsOpen } from "../../../core/accounts/closed-account.js";
import { anAccount, anId } from "../../support/builders.js";
import { accountsKit, type AccountsKit, refused } from "./accounts-kit.js";

describe("Accounts", () => {
  let { memory, accounts, records, newest } = {} as AccountsKit;
  const open = async (options = {}): Promise<void> => {
    ({ memory, accounts, records, newest } = await accountsKit(options));
  };
  beforeEach(() => open());

  describe("are created", () => {
    it("with a name, a tier and their credits, and recorded without their name", async () => {
      const account = await accounts.create({ name: "Nightingale", tier: "pro", credits: 40 });
      const expected = {
        name: "Nightingale",
        tier: "pro",
        externalId: null,
        emailVerified: false,
        termsAcceptedAt: null,
        suspendedAt: null,
        suspendedReason: null,
        deletedAt: null,
        createdAt: memory.clock.now(),
      };
      expect(account).to.deep.include(expected);
      expect(await accounts.get(account.id)).to.deep.equal(account);
      expect(await memory.storage.balanceOf(account.id)).to.include({ monthly: 40, pack: 0 });
      expect(await newest()).to.deep.include({
        action: "accounts.create",
        accountId: account.id,
        targets: [account.id],
        fields: { tier: "pro", terms_accepted: false, credits: 40 },
      });
    });

    it("with terms that are accepted, a verified address, an external id and a name in one line", async () => {
      const given = { name: "Night\u0007in\ngale", tier: "free", acceptTerms: true, emailVerified: true };
      const account = await accounts.create({ ...given, externalId: "user 17" });
      expect(account).to.include({
        emailVerified: true,
        termsAcceptedAt: memory.clock.now(),
        externalId: "user 17",
      });
      expect(account.name).not.to.match(/\p{Cc}/u);
      expect(await memory.storage.balanceOf(account.id)).to.include({ monthly: 0 });
    });

    it("not with a tier, name, external id or credits that cannot be", async () => {
      const given = { name: "a", tier: "pro" };
      expect(await refused(accounts.create({ ...given, tier: "gold" }))).to.equal(
        "There is no tier gold; the tiers are free, pro.",
      );
      expect(await refused(accounts.create({ ...given, name: "" }))).to.include("has 1 to 100 characters; got 0.");
      expect(await refused(accounts.create({ ...given, name: "x".repeat(101) }))).to.include("got 101.");
      for (const externalId of ["", " a", "a ", "a\nb", "x".repeat(256)])
        expect(await refused(accounts.create({ ...given, externalId }))).to.include("An external id has 1 to 255");
      expect(await refused(accounts.create({ ...given, credits: -1 }))).not.to.equal("done");
      expect(await accounts.list({ limit: 9 })).to.deep.equal([]);
      for (const name of ["x", "𝄞".repeat(100)]) await accounts.create({ ...given, name, externalId: name.repeat(2) });
    });

    it("once for an external id", async () => {
      const { id } = await accounts.create({ name: "a", tier: "pro", externalId: "u1" });
      expect(await refused(accounts.create({ name: "b", tier: "pro", externalId: "u1" }))).to.equal(
        `The account ${id} has the external id u1.`,
      );
      expect(await records()).to.have.length(1);
    });

    it("once, also when the reply to the commit is lost", async () => {
      await open({ isTwice: true });
      const account = await accounts.create({ name: "a", tier: "pro", credits: 7 });
      const other = await accounts.create({ name: "b", tier: "pro", externalId: "u2", credits: 8 });
      expect(await memory.storage.balanceOf(account.id)).to.include({ monthly: 7 });
      expect(await memory.storage.balanceOf(other.id)).to.include({ monthly: 8 });
      expect(await records()).to.have.length(2);
    });
  });

  describe("of an app's users", () => {
    it("are created by the first call, and returned as they are by any later one", async () => {
      const first = await accounts.ensure({ externalId: "u1", credits: 5 });
      expect(first).to.include({ externalId: "u1", name: "u1", tier: "free" });
      const again = await accounts.ensure({ externalId: "u1", tier: "pro", name: "other", credits: 9 });
      expect(again).to.deep.equal(first);
      expect(await memory.storage.balanceOf(first.id)).to.include({ monthly: 5 });
      expect(await accounts.ensure({ externalId: "u2", name: "Ada", tier: "pro" })).to.include({
        name: "Ada",
        tier: "pro",
      });
      const long = "𝄞".repeat(101);
      expect((await accounts.ensure({ externalId: long })).name).to.equal("𝄞".repeat(100));
      expect(await refused(accounts.ensure({ externalId: " " }))).to.include("An external id has");
    });

    it("are found by their external id", async () => {
      const { id } = await accounts.ensure({ externalId: "u1" });
      expect(await accounts.findByExternalId("u1")).to.include({ id });
      for (const other of ["U1", "u2", "", " u1"]) expect(await accounts.findByExternalId(other)).to.equal(null);
    });
  });

  describe("are found", () => {
    it("by id, and listed the newest first", async () => {
      const first = await accounts.create({ name: "a", tier: "pro" });
      await memory.clock.advance(1);
      const second = await accounts.create({ name: "b", tier: "pro" });
      expect((await accounts.list({ limit: 9 })).map(({ id }) => id)).to.deep.equal([second.id, first.id]);
      for (const id of [anId("acct"), "key_1", ""]) {
        const unknown = await accounts.get(id).catch((error: unknown) => error);
        expect(unknown).to.be.instanceOf(UnknownObjectError);
        expect(String(unknown)).to.include(`There is no account ${id}.`);
      }
    });

    it("by a name that no other account has", async () => {
      const { id } = await accounts.create({ name: "Ada", tier: "pro" });
      await accounts.create({ name: "Adam", tier: "pro" });
      expect(await accounts.find("Ada")).to.include({ id });
      expect(await accounts.find(id)).to.include({ id });
      expect(await refused(accounts.find("Eve"))).to.equal("There is no account Eve.");
      expect(await refused(accounts.find(anId("acct")))).to.include("There is no account acct_");
      const { id: other } = await accounts.create({ name: "Ada", tier: "pro" });
      const several = await refused(accounts.find("Ada"));
      expect(several).to.include("Several accounts are named Ada: ").and.include(id).and.include(other);
      expect(several).not.to.include("and more");
      for (let count = 0; count < 9; count++) await accounts.create({ name: "Ada", tier: "pro" });
      expect(await refused(accounts.find("Ada"))).to.include(" and more. Name one by its id.");
    });
  });

  describe("are changed", () => {
    it("by terms that are accepted once", async () => {
      const { id } = await accounts.create({ name: "a", tier: "pro" });
      const first = memory.clock.now();
      expect(await accounts.acceptTerms(id)).to.include({ termsAcceptedAt: first });
      await memory.clock.advance(5);
      expect(await accounts.acceptTerms(id)).to.include({ termsAcceptedAt: first });
      expect((await records()).filter(({ action }) => action === "accounts.accept_terms")).to.have.length(1);
    });

    it("by another tier", async () => {
      const { id } = await accounts.create({ name: "a", tier: "pro" });
      expect(await accounts.changeTier(id, "free")).to.include({ tier: "free" });
      expect(await newest()).to.deep.include({ action: "accounts.change_tier", fields: { from: "pro", to: "free" } });
      expect(await refused(accounts.changeTier(id, "gold"))).to.include("There is no tier gold");
    });

    it("by a suspension, which keeps its first moment, and its end", async () => {
      const { id } = await accounts.create({ name: "a", tier: "pro" });
      const since = memory.clock.now();
      const suspended = await accounts.suspend(id, { reason: "leaked" });
      expect(suspended).to.include({ suspendedAt: since, suspendedReason: "leaked" });
      expect(() => checkIsOpen(suspended)).to.throw(AccountSuspendedError);
      expect(await newest()).to.deep.include({ action: "accounts.suspend", fields: { reason: "leaked" } });
      await memory.clock.advance(5);
      expect(await accounts.suspend(id)).to.include({ suspendedAt: since, suspendedReason: "leaked" });
      expect(await accounts.suspend(id, { reason: "spam" })).to.include({
        suspendedAt: since,
        suspendedReason: "spam",
      });
      expect(await refused(accounts.suspend(id, { reason: "" }))).to.equal("A reason has 1 to 200 characters; got 0.");
      expect(await refused(accounts.suspend(id, { reason: "x".repeat(201) }))).to.include("got 201.");
      expect(await refused(accounts.suspend(id, { reason: "\ud800" }))).to.include("got 1.");
      const resumed = await accounts.resume(id);
      expect(resumed).to.include({ suspendedAt: null, suspendedReason: null });
      expect(() => checkIsOpen(resumed)).not.to.throw();
      const count = (await records()).length;
      expect(await accounts.resume(id)).to.deep.equal(resumed);
      expect(await records()).to.have.length(count);
    });
  });

  describe("are deleted", () => {
    it("at once: no key, no name, no external id, and then erased", async () => {
      const { id } = await accounts.create({ name: "Ada", tier: "pro", externalId: "u1", acceptTerms: true });
      const { key } = await accounts.issueKey(id);
      expect(await accounts.deletion(id)).to.equal(null);
      const now = memory.clock.now();
      expect(await accounts.delete(id)).to.deep.include({
        accountId: id,
        requestedAt: now,
        erasedAt: null,
        erased: {},
      });
      expect(await accounts.get(id)).to.deep.include({
        name: "(deleted)",
        externalId: null,
        emailVerified: false,
        termsAcceptedAt: null,
        suspendedAt: now,
        suspendedReason: null,
        deletedAt: now,
      });
      expect((await accounts.listKeys(id)).map(({ id: keyId, revokedAt }) => [keyId, revokedAt])).to.deep.equal([
        [key.id, now],
      ]);
      expect(await newest()).to.deep.include({ action: "accounts.delete", fields: { keys: 1 } });
      expect(() => checkIsOpen(anAccount({ deletedAt: 1 }))).to.throw(AccountSuspendedError);
    });

    it("once", async () => {
      const { id } = await accounts.create({ name: "Ada", tier: "pro" });
      const first = await accounts.delete(id);
      await memory.clock.advance(5);
      expect(await accounts.delete(id)).to.deep.equal(first);
      expect(await accounts.deletion(id)).to.deep.equal(first);
      expect((await records()).filter(({ action }) => action === "accounts.delete")).to.have.length(1);
    });

    it("and are not changed any more", async () => {
      const { id } = await accounts.create({ name: "Ada", tier: "pro" });
      await accounts.delete(id);
      const changes = [
        () => accounts.acceptTerms(id),
        () => accounts.changeTier(id, "free"),
        () => accounts.suspend(id),
        () => accounts.resume(id),
        () => accounts.issueKey(id),
        () => accounts.recordStudioLink(id, 1),
      ];
      for (const change of changes) expect(await refused(change())).to.equal(`The account ${id} is deleted.`);
    });
  });

  it("have links to the studio recorded", async () => {
    const { id } = await accounts.create({ name: "a", tier: "pro" });
    await accounts.recordStudioLink(id, 77);
    expect(await newest()).to.deep.include({ action: "studio.link", accountId: id, fields: { expires_at: 77 } });
  });
});

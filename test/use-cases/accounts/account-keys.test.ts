import { expect } from "chai";
import type { ManageAccounts } from "../../../core/accounts/manage-accounts.js";
import { anId } from "../../support/builders.js";
import { accountsKit, type AccountsKit, refused } from "./accounts-kit.js";

const SCOPES = [
  "models:read",
  "credits:read",
  "generations:create",
  "generations:read",
  "library:read",
  "profile:read",
];

describe("Accounts", () => {
  let { memory, accounts, records, newest } = {} as AccountsKit;
  const open = async (options = {}): Promise<void> => {
    ({ memory, accounts, records, newest } = await accountsKit(options));
  };
  beforeEach(() => open());

  describe("have keys", () => {
    it("that do all by default, whose token is shown once", async () => {
      const { id } = await accounts.create({ name: "a", tier: "pro" });
      const { key, token } = await accounts.issueKey(id);
      expect(key).to.deep.include({ accountId: id, name: null, scopes: SCOPES, expiresAt: null, revokedAt: null });
      expect(key).not.to.have.property("tokenHash");
      expect(token.startsWith(key.shownPrefix)).to.equal(true);
      expect(await accounts.listKeys(id)).to.deep.equal([key]);
      expect(await newest()).to.deep.include({
        action: "keys.issue",
        accountId: id,
        targets: [key.id],
        fields: { scopes: SCOPES.join(","), expires_at: null },
      });
    });

    it("with a name, some scopes and an end", async () => {
      const { id } = await accounts.create({ name: "a", tier: "pro" });
      const expiresAt = memory.clock.now() + 1;
      const scopes = ["models:read", "credits:read", "models:read"];
      const { key } = await accounts.issueKey(id, { name: "ci", scopes, expiresAt });
      expect(key).to.deep.include({ name: "ci", scopes: ["models:read", "credits:read"], expiresAt });
      const issue = (wanted: Parameters<ManageAccounts["issueKey"]>[1]) => refused(accounts.issueKey(id, wanted));
      expect(await issue({ scopes: ["all", "models:read"] })).to.include("got all.");
      expect(await issue({ scopes: [] })).to.include("got none.");
      expect(await issue({ name: "" })).to.include("A key's name has 1 to 100 characters");
      for (const wrong of [memory.clock.now(), 1.5 + expiresAt, 8.64e15 + 1, NaN])
        expect(await issue({ expiresAt: wrong })).to.include("A key expires at a moment in the future");
      expect(await issue({ expiresAt: 8.64e15 })).to.equal("done");
    });

    it("that are issued once, also when the reply to the commit is lost", async () => {
      await open({ isTwice: true });
      const { id } = await accounts.create({ name: "a", tier: "pro" });
      await accounts.issueKey(id);
      expect(await accounts.listKeys(id)).to.have.length(1);
      await accounts.issueKey(id);
      expect(await accounts.revokeKeys({ accountId: id })).to.equal(2);
      expect((await newest())?.fields).to.deep.equal({ revoked: 2 });
    });

    it("that are revoked one by one", async () => {
      const { id } = await accounts.create({ name: "a", tier: "pro" });
      const { key } = await accounts.issueKey(id);
      await accounts.revokeKey(key.id);
      expect((await accounts.listKeys(id))[0]).to.include({ revokedAt: memory.clock.now() });
      expect(await newest()).to.deep.include({ action: "keys.revoke", accountId: null, targets: [key.id] });
      await accounts.revokeKey(key.id);
      for (const unknown of [anId("key"), id]) {
        const count = (await records()).length;
        expect(String(await accounts.revokeKey(unknown).catch((error: unknown) => error))) //
          .to.include(`There is no key ${unknown}.`);
        expect(await records()).to.have.length(count);
      }
    });

    it("that are revoked together, of one account or of all", async () => {
      const [one, other] = [
        await accounts.create({ name: "a", tier: "pro" }),
        await accounts.create({ name: "b", tier: "pro" }),
      ];
      for (const { id } of [one, one, other]) await accounts.issueKey(id);
      expect(await accounts.revokeKeys({ accountId: one.id })).to.equal(2);
      expect(await newest()).to.deep.include({ action: "keys.revoke_all", accountId: one.id, fields: { revoked: 2 } });
      expect(await accounts.revokeKeys("all")).to.equal(1);
      expect(await newest()).to.deep.include({ accountId: null, targets: [], fields: { revoked: 1 } });
      expect(await refused(accounts.revokeKeys({ accountId: anId("acct") }))).to.include("There is no account");
    });
  });
});

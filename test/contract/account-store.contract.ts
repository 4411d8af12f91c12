import { expect } from "chai";
import { emptyBalance } from "../../core/credits/balance.js";
import type { AccountId } from "../../core/ids.js";
import type { Account } from "../../core/ports/account.js";
import type { AccountChanges, AccountFilter } from "../../core/ports/account-store.js";
import { anAccount, anApiKey, anId, aHash, NOON } from "../support/builders.js";
import type { StorageWith } from "../support/storage-under-test.js";

type Storage = StorageWith<"accounts" | "addAccount" | "balanceOf">;

/**
 * The promises of every `AccountStore`.
 *
 * @param open opens a storage without rows, once for the suite; {@link storageUnderTest} creates it
 */
export function accountStoreContract(name: string, open: () => Promise<Storage>): void {
  describe(`AccountStore contract: ${name}`, () => {
    let storage: Storage;
    before(async () => {
      storage = await open();
    });
    after(() => storage.close());

    // First of all: every other test creates accounts.
    it("is empty until the first account is created", async () => {
      expect(await storage.accounts.isEmpty()).to.equal(true);
      await storage.addAccount();
      expect(await storage.accounts.isEmpty()).to.equal(false);
    });

    describe("accounts", () => {
      it("stores every member", async () => {
        const bare = anAccount({ name: "Ä 🎼 x", termsAcceptedAt: null, emailVerified: false });
        const suspension = { suspendedAt: NOON + 3, suspendedReason: "Schlüssel ✂ " };
        const dates = { termsAcceptedAt: NOON + 1, createdAt: NOON + 2 };
        const full = anAccount({
          externalId: `üser 1 🎻 ${aHash()}`,
          tier: "free",
          emailVerified: true,
          ...dates,
          ...suspension,
        });
        await storage.inTransaction((tx) => storage.accounts.insertAccounts(tx, [bare, full]));
        const found = await storage.accounts.findAccounts([bare.id, full.id]);
        expect([...found]).to.deep.equal([
          [bare.id, bare],
          [full.id, full],
        ]);
      });

      it("gives each new account an empty balance", async () => {
        const account = anAccount();
        await storage.inTransaction((tx) => storage.accounts.insertAccounts(tx, [account]));
        expect(await storage.balanceOf(account.id)).to.deep.equal(emptyBalance(account.id));
      });

      it("omits unknown ids", async () => {
        const account = await storage.addAccount();
        const found = await storage.accounts.findAccounts([anId("acct"), account.id]);
        expect([...found.keys()]).to.deep.equal([account.id]);
      });

      it("compares ids byte by byte", async () => {
        const account = await storage.addAccount();
        const shouted = account.id.toUpperCase() as typeof account.id;
        expect((await storage.accounts.findAccounts([shouted])).size).to.equal(0);
      });

      it("finds accounts by their external ids, and omits unknown ones", async () => {
        const [one, other] = [anAccount({ externalId: aHash() }), anAccount({ externalId: aHash() })];
        await storage.inTransaction((tx) => storage.accounts.insertAccounts(tx, [one, other, anAccount()]));
        const ids = [one.externalId, other.externalId].map(String);
        const found = await storage.accounts.findByExternalIds([...ids, aHash()]);
        expect([...found]).to.have.deep.members([
          [one.externalId, one],
          [other.externalId, other],
        ]);
      });

      it("compares external ids byte by byte, with case, accents and spaces", async () => {
        const id = `Zoë ${aHash().slice(0, 8)}`;
        const others = [id.toLowerCase(), id.replace("ë", "e"), `${id} `, id.normalize("NFD")];
        const accounts = [id, ...others].map((externalId) => anAccount({ externalId }));
        await storage.inTransaction((tx) => storage.accounts.insertAccounts(tx, accounts));
        const found = await storage.accounts.findByExternalIds([id]);
        expect([...found.values()].map((account) => account.id)).to.deep.equal([accounts[0]?.id]);
      });

      it("takes external ids of 255 characters of any script", async () => {
        const account = anAccount({ externalId: aHash() + "🎻".repeat(191) });
        await storage.inTransaction((tx) => storage.accounts.insertAccounts(tx, [account]));
        const found = await storage.accounts.findByExternalIds([String(account.externalId)]);
        expect([...found.values()]).to.deep.equal([account]);
      });

      it("refuses a second account with the same external id, and takes any number without one", async () => {
        const externalId = aHash();
        const first = await storage.addAccount({ externalId });
        const second = anAccount({ externalId });
        const insert = (account: Account): Promise<void> =>
          storage.inTransaction((tx) => storage.accounts.insertAccounts(tx, [account]));
        expect(await insert(second).catch((error: unknown) => error)).to.be.instanceOf(Error);
        expect((await storage.accounts.findByExternalIds([externalId])).get(externalId)).to.deep.equal(first);
        expect((await storage.accounts.findAccounts([second.id])).size).to.equal(0);
        await insert(anAccount());
        await insert(anAccount());
      });

      it("accepts empty lists", async () => {
        await storage.inTransaction(async (tx) => {
          await storage.accounts.insertAccounts(tx, []);
          await storage.accounts.insertKeys(tx, []);
        });
        expect((await storage.accounts.findAccounts([])).size).to.equal(0);
        expect((await storage.accounts.findByExternalIds([])).size).to.equal(0);
        expect((await storage.accounts.findKeyHolders([])).size).to.equal(0);
      });

      it("changes the named members and nothing else", async () => {
        const account = await storage.addAccount({ tier: "free", termsAcceptedAt: null });
        const changed = await storage.inTransaction((tx) =>
          storage.accounts.updateAccount(tx, account.id, { tier: "pro", emailVerified: true }),
        );
        expect(changed).to.equal(true);
        const after = (await storage.accounts.findAccounts([account.id])).get(account.id);
        expect(after).to.deep.equal({ ...account, tier: "pro", emailVerified: true });
      });

      it("revokes the acceptance of the terms", async () => {
        const account = await storage.addAccount({ termsAcceptedAt: NOON });
        await storage.inTransaction((tx) => storage.accounts.updateAccount(tx, account.id, { termsAcceptedAt: null }));
        expect((await storage.accounts.findAccounts([account.id])).get(account.id)?.termsAcceptedAt).to.equal(null);
      });

      it("lists suspended accounts from their suspension to their resumption", async () => {
        const account = await storage.addAccount();
        const change = (changes: AccountChanges): Promise<boolean> =>
          storage.inTransaction((tx) => storage.accounts.updateAccount(tx, account.id, changes));
        expect(await storage.accounts.listSuspended()).to.not.include(account.id);
        await change({ suspendedAt: NOON, suspendedReason: "leaked" });
        expect(await storage.accounts.listSuspended()).to.include(account.id);
        const listed = await storage.accounts.listAccounts({ isSuspended: true, limit: 100 });
        expect(listed.find(({ id }) => id === account.id)).to.deep.equal({
          ...account,
          suspendedAt: NOON,
          suspendedReason: "leaked",
        });
        expect(listed.every(({ suspendedAt }) => suspendedAt !== null)).to.equal(true);
        await change({ suspendedAt: null, suspendedReason: null });
        expect(await storage.accounts.listSuspended()).to.not.include(account.id);
        expect((await storage.accounts.findAccounts([account.id])).get(account.id)).to.deep.equal(account);
      });

      it("lists deleted accounts alone, and only when they are asked for", async () => {
        const account = await storage.addAccount({ name: "Ada", externalId: `User_${aHash()}` });
        const changes = { name: "(deleted)", externalId: null, deletedAt: NOON, suspendedAt: NOON };
        await storage.inTransaction((tx) => storage.accounts.updateAccount(tx, account.id, changes));
        const found = async (filter: Partial<AccountFilter>): Promise<boolean> =>
          (await storage.accounts.listAccounts({ limit: 1_000, ...filter })).some(({ id }) => id === account.id);
        expect([
          await found({}),
          await found({ isSuspended: true }),
          await found({ search: account.id }),
        ]).to.deep.equal([false, false, false]);
        expect(await found({ isDeleted: true })).to.equal(true);
        expect((await storage.accounts.findAccounts([account.id])).get(account.id)).to.deep.equal({
          ...account,
          ...changes,
        });
        expect(await storage.accounts.listSuspended()).to.include(account.id);
        expect(await storage.accounts.findByExternalIds([account.externalId ?? ""])).to.deep.equal(new Map());
      });

      it("lists the newest accounts first, up to the limit, and from a place in the list on", async () => {
        const [older, newer] = [await storage.addAccount(), await storage.addAccount()];
        expect(await storage.accounts.listAccounts({ limit: 2 })).to.deep.equal([newer, older]);
        expect(await storage.accounts.listAccounts({ limit: 1, after: newer.id })).to.deep.equal([older]);
      });

      it("lists accounts by a part of their name, by their ids and by their tier", async () => {
        const tier = `tier ${aHash().slice(0, 8)}`;
        const [named, percent, other] = [
          await storage.addAccount({ name: "Ada's Music 100%", externalId: `User_${aHash()}`, tier }),
          await storage.addAccount({ name: "Ada's Music 100 per cent", tier }),
          await storage.addAccount({ name: "Grace", tier: `${tier} too` }),
        ];
        const found = async (filter: Partial<AccountFilter>): Promise<string[]> =>
          (await storage.accounts.listAccounts({ limit: 100, ...filter })).map(({ id }) => id);
        expect(await found({ tier })).to.deep.equal([percent.id, named.id]);
        expect(await found({ tier, search: "ADA's music" })).to.deep.equal([percent.id, named.id]);
        expect(await found({ tier, search: "100%" })).to.deep.equal([named.id]);
        expect(await found({ search: named.externalId ?? "" })).to.deep.equal([named.id]);
        expect(await found({ search: (named.externalId ?? "").toLowerCase() })).to.deep.equal([]);
        expect(await found({ search: other.id })).to.deep.equal([other.id]);
        expect(await found({ tier, search: "a_a" })).to.deep.equal([]);
      });

      it("lists the accounts of exactly one name, and of those the suspended ones", async () => {
        const name = `Ärger ${aHash()}`;
        const suspended = await storage.addAccount({ name, suspendedAt: NOON, suspendedReason: null });
        const [active] = [await storage.addAccount({ name }), await storage.addAccount({ name: name.toUpperCase() })];
        await storage.addAccount({ name: `${name}!` });
        expect(await storage.accounts.listAccounts({ name, limit: 10 })).to.deep.equal([active, suspended]);
        expect(await storage.accounts.listAccounts({ name, limit: 1 })).to.deep.equal([active]);
        expect(await storage.accounts.listAccounts({ name, isSuspended: true, limit: 10 })).to.deep.equal([suspended]);
        expect(await storage.accounts.listAccounts({ name: `${name}?`, limit: 10 })).to.deep.equal([]);
      });

      it("returns whether the account exists, also for a change without an effect", async () => {
        const account = await storage.addAccount({ tier: "pro" });
        const responses = await storage.inTransaction(async (tx) => [
          await storage.accounts.updateAccount(tx, account.id, { tier: "pro" }),
          await storage.accounts.updateAccount(tx, account.id, {}),
          await storage.accounts.updateAccount(tx, anId("acct"), { tier: "pro" }),
          await storage.accounts.updateAccount(tx, anId("acct"), {}),
        ]);
        expect(responses).to.deep.equal([true, true, false, false]);
        expect((await storage.accounts.findAccounts([account.id])).get(account.id)).to.deep.equal(account);
      });
    });

    describe("keys", () => {
      it("finds a key with its account by the token's hash", async () => {
        const account = await storage.addAccount({ name: "Holder" });
        const key = anApiKey({ accountId: account.id, name: "CI 🎹", scopes: ["models:read"], expiresAt: NOON + 1 });
        await storage.inTransaction((tx) => storage.accounts.insertKeys(tx, [key]));
        const found = await storage.accounts.findKeyHolders([key.tokenHash]);
        expect([...found]).to.deep.equal([[key.tokenHash, { key, account }]]);
      });

      it("finds several keys at once, revoked ones included, and omits unknown hashes", async () => {
        const [first, second] = [await storage.addAccount(), await storage.addAccount()];
        const keys = [
          anApiKey({ accountId: first.id }),
          anApiKey({ accountId: second.id, revokedAt: NOON, scopes: [] }),
        ];
        await storage.inTransaction((tx) => storage.accounts.insertKeys(tx, keys));
        const found = await storage.accounts.findKeyHolders([...keys.map((key) => key.tokenHash), aHash()]);
        expect([...found.values()].map((holder) => holder.key)).to.deep.equal(keys);
        expect([...found.values()].map((holder) => holder.account)).to.deep.equal([first, second]);
      });

      it("refuses a second key with the same token", async () => {
        const account = await storage.addAccount();
        const key = anApiKey({ accountId: account.id });
        const outcome = storage.inTransaction((tx) =>
          storage.accounts.insertKeys(tx, [key, { ...key, id: anId("key") }]),
        );
        expect(await outcome.catch((error: unknown) => error)).to.be.instanceOf(Error);
        expect((await storage.accounts.findKeyHolders([key.tokenHash])).size).to.equal(0);
      });

      it("lists an account's own keys, newest first, then by id", async () => {
        const account = await storage.addAccount();
        const old = anApiKey({ accountId: account.id, createdAt: NOON });
        const older = anApiKey({ accountId: account.id, createdAt: NOON - 1, revokedAt: NOON });
        const laterId = anApiKey({ accountId: account.id, createdAt: NOON });
        await storage.inTransaction((tx) => storage.accounts.insertKeys(tx, [old, older, laterId, anApiKey()]));
        expect(await storage.accounts.listKeys(account.id)).to.deep.equal([laterId, old, older]);
        expect(await storage.accounts.listKeys(anId("acct"))).to.deep.equal([]);
      });

      it("finds a key with the suspension and the external id of its account", async () => {
        const account = await storage.addAccount({ externalId: aHash(), suspendedAt: NOON, suspendedReason: "leaked" });
        const key = anApiKey({ accountId: account.id });
        await storage.inTransaction((tx) => storage.accounts.insertKeys(tx, [key]));
        const holder = (await storage.accounts.findKeyHolders([key.tokenHash])).get(key.tokenHash);
        expect(holder?.account).to.deep.equal(account);
      });

      it("notes the last use of keys, unless one after a moment is stored", async () => {
        const account = await storage.addAccount();
        const [used, unused] = [anApiKey({ accountId: account.id }), anApiKey({ accountId: account.id })];
        await storage.inTransaction((tx) => storage.accounts.insertKeys(tx, [used, unused]));
        const note = (usedAt: number, unlessAfter: number): Promise<void> =>
          storage.inTransaction((tx) =>
            storage.accounts.noteKeyUses(tx, [
              { id: used.id, usedAt, unlessAfter },
              { id: anId("key"), usedAt, unlessAfter },
            ]),
          );
        const lastUse = async (): Promise<number | null | undefined> =>
          (await storage.accounts.listKeys(account.id)).find(({ id }) => id === used.id)?.lastUsedAt;
        await note(NOON, NOON - 60_000);
        expect(await lastUse()).to.equal(NOON);
        await note(NOON + 59_999, NOON - 1);
        expect(await lastUse()).to.equal(NOON);
        await note(NOON + 60_000, NOON);
        expect(await lastUse()).to.equal(NOON + 60_000);
        const holder = (await storage.accounts.findKeyHolders([used.tokenHash])).get(used.tokenHash);
        expect(holder?.key.lastUsedAt).to.equal(NOON + 60_000);
        expect((await storage.accounts.findKeyHolders([unused.tokenHash])).get(unused.tokenHash)?.key).to.deep.equal(
          unused,
        );
        await storage.inTransaction((tx) => storage.accounts.noteKeyUses(tx, []));
      });

      it("revokes all keys of an account, then of all accounts, and counts the newly revoked ones", async () => {
        const [account, other] = [await storage.addAccount(), await storage.addAccount()];
        const old = anApiKey({ accountId: account.id, revokedAt: NOON });
        const keys = [anApiKey({ accountId: account.id }), anApiKey({ accountId: account.id })];
        const ofOther = anApiKey({ accountId: other.id });
        await storage.inTransaction((tx) => storage.accounts.insertKeys(tx, [old, ...keys, ofOther]));
        const revoke = (id: AccountId | null, at: number): Promise<number> =>
          storage.inTransaction((tx) => storage.accounts.revokeKeys(tx, id, at));
        expect(await revoke(account.id, NOON + 1)).to.equal(2);
        expect(await revoke(account.id, NOON + 2)).to.equal(0);
        const moments = (await storage.accounts.listKeys(account.id)).map(({ revokedAt }) => revokedAt);
        expect(moments).to.have.members([NOON, NOON + 1, NOON + 1]);
        expect(await storage.accounts.listKeys(other.id)).to.deep.equal([ofOther]);
        expect(await revoke(null, NOON + 3)).to.be.at.least(1);
        expect(await storage.accounts.listKeys(other.id)).to.deep.equal([{ ...ofOther, revokedAt: NOON + 3 }]);
        expect(await revoke(null, NOON + 4)).to.equal(0);
      });

      it("revokes a key once and keeps the time of the first revocation", async () => {
        const account = await storage.addAccount();
        const key = anApiKey({ accountId: account.id });
        await storage.inTransaction((tx) => storage.accounts.insertKeys(tx, [key]));
        const responses = await storage.inTransaction(async (tx) => [
          await storage.accounts.revokeKey(tx, key.id, NOON + 1),
          await storage.accounts.revokeKey(tx, key.id, NOON + 2),
          await storage.accounts.revokeKey(tx, anId("key"), NOON),
        ]);
        expect(responses).to.deep.equal([true, true, false]);
        expect(await storage.accounts.listKeys(account.id)).to.deep.equal([{ ...key, revokedAt: NOON + 1 }]);
      });
    });
  });
}

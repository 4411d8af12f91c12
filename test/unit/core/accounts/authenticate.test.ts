import { expect } from "chai";
import { NodeDigest } from "../../../../adapters/crypto/digest.js";
import type { Account, ApiKey } from "../../../../core/ports/account.js";
import { makeToken } from "../../../../core/accounts/api-key.js";
import { Authenticate, authorize, type Caller } from "../../../../core/accounts/authenticate.js";
import {
  AccountSuspendedError,
  ApiTermsNotAcceptedError,
  AuthenticationRequiredError,
  InsufficientScopeError,
  InvalidApiKeyError,
  RevokedApiKeyError,
} from "../../../../core/errors.js";
import type { AccountStore, KeyHolder } from "../../../../core/ports/account-store.js";
import { anAccount, anApiKey } from "../../../support/builders.js";
import { ManualClock } from "../../../support/doubles/manual-clock.js";
import { ManualRandom } from "../../../support/doubles/manual-random.js";

const random = new ManualRandom(11);
const TOKEN = makeToken((count) => random.bytes(count));
const OTHER_TOKEN = makeToken((count) => random.bytes(count));
const digest = new NodeDigest();

/** Keys in a map, with the reads counted; a test may hold them back. */
class KeyTable implements Pick<AccountStore, "findKeyHolders"> {
  readonly holders = new Map<string, KeyHolder>();
  reads = 0;
  /** What a read waits for before it answers with what it saw when it began. */
  gate: Promise<void> = Promise.resolve();

  async findKeyHolders(tokenHashes: readonly string[]): Promise<Map<string, KeyHolder>> {
    this.reads++;
    const seen = tokenHashes.flatMap((hash) => {
      const holder = this.holders.get(hash);
      return holder === undefined ? [] : [[hash, holder] as const];
    });
    await this.gate;
    return new Map(seen);
  }

  give(token: string, key: Partial<ApiKey> = {}, account: Partial<Account> = {}): KeyHolder {
    const tokenHash = digest.sha256(token);
    const holder = { key: anApiKey({ tokenHash, ...key }), account: anAccount(account) };
    this.holders.set(tokenHash, holder);
    return holder;
  }
}

function setUp(): { readonly table: KeyTable; readonly clock: ManualClock; readonly authenticate: Authenticate } {
  const table = new KeyTable();
  const clock = new ManualClock();
  return {
    table,
    clock,
    authenticate: new Authenticate({ accounts: table as Partial<AccountStore> as AccountStore, digest, clock }),
  };
}

async function errorOf(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => null,
    (error: unknown) => error,
  );
}

describe("Authenticate", () => {
  const mistyped = TOKEN.slice(0, -1) + (TOKEN.endsWith("A") ? "B" : "A");
  const headers: readonly (readonly [header: string | undefined, expected: "known" | (new () => Error)])[] = [
    [`Bearer ${TOKEN}`, "known"],
    [`bearer ${TOKEN}`, "known"],
    [`BEARER ${TOKEN}`, "known"],
    [`Bearer   ${TOKEN}`, "known"],
    [`Bearer ${TOKEN} `, "known"],
    [undefined, AuthenticationRequiredError],
    ["", AuthenticationRequiredError],
    ["   ", AuthenticationRequiredError],
    ["Bearer", AuthenticationRequiredError],
    ["Bearer ", AuthenticationRequiredError],
    [`Basic ${TOKEN}`, AuthenticationRequiredError],
    ["Basic dXNlcjpwYXNz", AuthenticationRequiredError],
    [TOKEN, AuthenticationRequiredError],
    [`Bearer${TOKEN}`, AuthenticationRequiredError],
    [`Bearer ${TOKEN} ${TOKEN}`, InvalidApiKeyError],
    [`Bearer ${TOKEN}, Bearer ${TOKEN}`, InvalidApiKeyError],
    [`Bearer "${TOKEN}"`, InvalidApiKeyError],
    ["Bearer null", InvalidApiKeyError],
    [`Bearer ${mistyped}`, InvalidApiKeyError],
    [`Bearer ${TOKEN.toLowerCase()}`, InvalidApiKeyError],
    [`Bearer ${OTHER_TOKEN}`, InvalidApiKeyError],
  ];
  for (const [header, expected] of headers) {
    const shown = header
      ?.replaceAll(TOKEN, "<key>")
      .replaceAll(OTHER_TOKEN, "<unknown key>")
      .replaceAll(mistyped, "<mistyped key>");
    const result = expected === "known" ? "returns the holder" : `throws ${expected.name}`;
    it(`${result} for ${shown === undefined ? "no header" : JSON.stringify(shown)}`, async () => {
      const { table, authenticate } = setUp();
      const holder = table.give(TOKEN);
      const identified = authenticate.identify(header);
      if (expected === "known") expect(await identified).to.deep.equal(holder);
      else expect(await errorOf(identified)).to.be.instanceOf(expected);
    });
  }

  it("refuses a malformed key without a look at the storage", async () => {
    const { table, authenticate } = setUp();
    await errorOf(authenticate.identify(`Bearer ${mistyped}`));
    await errorOf(authenticate.identify("Bearer x"));
    expect(table.reads).to.equal(0);
  });

  it("distinguishes a revoked key from an invalid one", async () => {
    const { table, clock, authenticate } = setUp();
    table.give(TOKEN, { revokedAt: clock.now() });
    expect(await errorOf(authenticate.identify(`Bearer ${TOKEN}`))).to.be.instanceOf(RevokedApiKeyError);
  });

  it("refuses a key from the moment on at which it expires, also while it is cached", async () => {
    const { table, clock, authenticate } = setUp();
    table.give(TOKEN, { expiresAt: clock.now() + 100 });
    await authenticate.identify(`Bearer ${TOKEN}`);
    await clock.advance(99);
    await authenticate.identify(`Bearer ${TOKEN}`);
    await clock.advance(1);
    expect(await errorOf(authenticate.identify(`Bearer ${TOKEN}`))).to.be.instanceOf(RevokedApiKeyError);
    expect(table.reads).to.equal(1);
  });

  it("reads keys that stay in use again ahead, many in one read, so that no request waits", async () => {
    const { table, clock, authenticate } = setUp();
    for (const token of [TOKEN, OTHER_TOKEN]) table.give(token);
    const both = async (): Promise<void> => {
      for (const token of [TOKEN, OTHER_TOKEN]) await authenticate.identify(`Bearer ${token}`);
    };
    await both();
    expect(table.reads).to.equal(2);
    await clock.advance(450);
    await both();
    await clock.advance(150);
    const ahead = table.reads;
    expect(ahead).to.be.at.most(4);
    await clock.advance(300);
    await both();
    expect(table.reads).to.equal(ahead);
  });

  it("refuses a revoked key within a second, also while it is read ahead", async () => {
    const { table, clock, authenticate } = setUp();
    const { key } = table.give(TOKEN);
    await authenticate.identify(`Bearer ${TOKEN}`);
    await clock.advance(500);
    await authenticate.identify(`Bearer ${TOKEN}`);
    await clock.advance(150);
    table.give(TOKEN, { ...key, revokedAt: clock.now() });
    const readAt = clock.now();
    while (clock.now() < readAt + 900) {
      await errorOf(authenticate.identify(`Bearer ${TOKEN}`));
      await clock.advance(100);
    }
    expect(await errorOf(authenticate.identify(`Bearer ${TOKEN}`))).to.be.instanceOf(RevokedApiKeyError);
  });

  it("reads a key that could not be read ahead when a request needs it, and reports the failure there", async () => {
    const { table, clock, authenticate } = setUp();
    table.give(TOKEN);
    await authenticate.identify(`Bearer ${TOKEN}`);
    await clock.advance(500);
    table.gate = Promise.reject(new Error("the storage is gone"));
    table.gate.catch(() => undefined);
    await authenticate.identify(`Bearer ${TOKEN}`);
    await clock.advance(399);
    await authenticate.identify(`Bearer ${TOKEN}`);
    await clock.advance(1);
    expect(await errorOf(authenticate.identify(`Bearer ${TOKEN}`))).to.have.property("message", "the storage is gone");
    table.gate = Promise.resolve();
    await authenticate.identify(`Bearer ${TOKEN}`);
  });

  it("reads a key once for the requests of almost a second", async () => {
    const { table, clock, authenticate } = setUp();
    table.give(TOKEN);
    await authenticate.identify(`Bearer ${TOKEN}`);
    await clock.advance(899);
    await authenticate.identify(`Bearer ${TOKEN}`);
    expect(table.reads).to.equal(1);
    await clock.advance(1);
    await authenticate.identify(`Bearer ${TOKEN}`);
    expect(table.reads).to.equal(2);
  });

  it("keeps a revocation from no request that comes a second later", async () => {
    const { table, clock, authenticate } = setUp();
    table.give(TOKEN);
    await authenticate.identify(`Bearer ${TOKEN}`);
    table.give(TOKEN, { revokedAt: clock.now() });
    await clock.advance(1_000);
    expect(await errorOf(authenticate.identify(`Bearer ${TOKEN}`))).to.be.instanceOf(RevokedApiKeyError);
  });

  it("counts the second from before the read, however long that takes", async () => {
    const { table, clock, authenticate } = setUp();
    table.give(TOKEN);
    let response: () => void = () => undefined;
    table.gate = new Promise((resolve) => (response = resolve));
    const slow = authenticate.identify(`Bearer ${TOKEN}`);
    table.give(TOKEN, { revokedAt: clock.now() });
    await clock.advance(1_000);
    response();
    await slow;
    expect(await errorOf(authenticate.identify(`Bearer ${TOKEN}`))).to.be.instanceOf(RevokedApiKeyError);
  });

  it("shares no read that began a second ago", async () => {
    const { table, clock, authenticate } = setUp();
    table.give(TOKEN);
    let response: () => void = () => undefined;
    table.gate = new Promise((resolve) => (response = resolve));
    const hanging = authenticate.identify(`Bearer ${TOKEN}`);
    table.give(TOKEN, { revokedAt: clock.now() });
    await clock.advance(1_000);
    const late = errorOf(authenticate.identify(`Bearer ${TOKEN}`));
    response();
    await hanging;
    expect(await late).to.be.instanceOf(RevokedApiKeyError);
    expect(table.reads).to.equal(2);
  });

  it("trusts nothing it read before the clock was set back", async () => {
    const { table, clock, authenticate } = setUp();
    table.give(TOKEN);
    await authenticate.identify(`Bearer ${TOKEN}`);
    table.give(TOKEN, { revokedAt: clock.now() });
    clock.set(clock.now() - 3_600_000);
    expect(await errorOf(authenticate.identify(`Bearer ${TOKEN}`))).to.be.instanceOf(RevokedApiKeyError);
  });

  it("shares one read among requests that come together", async () => {
    const { table, authenticate } = setUp();
    const holder = table.give(TOKEN);
    const together = await Promise.all(Array.from({ length: 20 }, () => authenticate.identify(`Bearer ${TOKEN}`)));
    expect(together).to.deep.equal(Array(20).fill(holder));
    expect(table.reads).to.equal(1);
  });

  it("fails with the storage and asks it again afterwards", async () => {
    const { table, authenticate } = setUp();
    table.give(TOKEN);
    table.gate = Promise.reject(new Error("no storage"));
    const refused = await Promise.all([1, 2].map(() => errorOf(authenticate.identify(`Bearer ${TOKEN}`))));
    expect(refused.map((error) => (error as Error).message)).to.deep.equal(["no storage", "no storage"]);
    table.gate = Promise.resolve();
    expect((await authenticate.identify(`Bearer ${TOKEN}`)).key.tokenHash).to.equal(digest.sha256(TOKEN));
  });

  it("remembers no key that was never issued: it works as soon as it is issued", async () => {
    const { table, authenticate } = setUp();
    expect(await errorOf(authenticate.identify(`Bearer ${TOKEN}`))).to.be.instanceOf(InvalidApiKeyError);
    table.give(TOKEN);
    expect((await authenticate.identify(`Bearer ${TOKEN}`)).key.revokedAt).to.equal(null);
  });
});

describe("authorize", () => {
  const caller = (account: Partial<Account>, scopes: Caller["scopes"]): Caller => ({
    account: anAccount(account),
    scopes,
  });

  it("lets a key do what its scopes name, and any key where no scope is asked", () => {
    expect(() => authorize(caller({}, ["models:read"]), "models:read")).not.to.throw();
    expect(() => authorize(caller({}, []), null)).not.to.throw();
  });

  it("names the scope that is missing", () => {
    const refused = expect(() => authorize(caller({}, ["models:read"]), "generations:create")).to.throw(
      InsufficientScopeError,
    );
    refused.with.deep.property("details", { required_scope: "generations:create" });
  });

  it("refuses a suspended account before anything else is asked", () => {
    for (const scope of ["generations:create", null] as const) {
      const suspended = caller({ suspendedAt: 1, suspendedReason: "leaked", termsAcceptedAt: null }, []);
      const refused = expect(() => authorize(suspended, scope)).to.throw(AccountSuspendedError);
      refused.with.property("message").that.does.not.include("leaked");
    }
  });

  it("asks for the terms before the scope, everywhere", () => {
    for (const scope of ["generations:create", null] as const) {
      expect(() => authorize(caller({ termsAcceptedAt: null }, []), scope)).to.throw(ApiTermsNotAcceptedError);
    }
  });
});

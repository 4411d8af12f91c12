import { expect } from "chai";
import { KnownKeys } from "../../../../core/idempotency/known-keys.js";
import type { IdempotencyKey, IdempotencyRecord } from "../../../../core/ports/idempotency-store.js";
import { aHash, anId, anIdempotencyRecord, NOON } from "../../../support/builders.js";

describe("KnownKeys", () => {
  const aKey = (): IdempotencyKey => ({ accountId: anId("acct"), keyHash: aHash() });
  function keysWith(...records: readonly IdempotencyRecord[]): KnownKeys {
    const clock = { now: () => NOON };
    const readRecords = async (keys: readonly IdempotencyKey[]): Promise<IdempotencyRecord[]> =>
      records.filter(({ accountId, keyHash }) =>
        keys.some((key) => key.accountId === accountId && key.keyHash === keyHash),
      );
    return new KnownKeys({ clock, idempotency: { readRecords } });
  }

  it("has what was noted, by account", () => {
    const [keys, key] = [keysWith(), aKey()];
    expect(keys.has(key)).to.equal(false);
    keys.note(key);
    expect(keys.has(key)).to.equal(true);
    expect(keys.has({ ...key, accountId: anId("acct") })).to.equal(false);
  });

  it("finds the record of each key, also of several at once", async () => {
    const [first, second] = [anIdempotencyRecord(), anIdempotencyRecord()];
    const keys = keysWith(first, second);
    expect(await Promise.all([keys.find(second), keys.find(first), keys.find(aKey())])).to.deep.equal([
      second,
      first,
      null,
    ]);
  });

  it("forgets a key whose record is gone", async () => {
    const [keys, key] = [keysWith(), aKey()];
    keys.note(key);
    expect(await keys.find(key)).to.equal(null);
    expect(keys.has(key)).to.equal(false);
  });

  it("finds a record up to its expiry, and forgets its key then", async () => {
    const [valid, expired] = [NOON + 1, NOON].map((expiresAt) => anIdempotencyRecord({ expiresAt }));
    const keys = keysWith(valid as IdempotencyRecord, expired as IdempotencyRecord);
    keys.note(expired as IdempotencyKey);
    expect(await keys.find(valid as IdempotencyKey)).to.equal(valid);
    expect(await keys.find(expired as IdempotencyKey)).to.equal(null);
    expect(keys.has(expired as IdempotencyKey)).to.equal(false);
  });

  it("keeps the 10,000 that were used last", () => {
    const keys = keysWith();
    const [oldest, used] = [aKey(), aKey()];
    keys.note(oldest);
    keys.note(used);
    for (let more = 0; more < 9_998; more++) keys.note(aKey());
    expect([keys.has(oldest), keys.has(used)]).to.deep.equal([true, true]);
    keys.note(used);
    keys.note(aKey());
    expect([keys.has(oldest), keys.has(used)]).to.deep.equal([false, true]);
  });
});

import { createHash } from "node:crypto";
import { expect } from "chai";
import { NodeDigest } from "../../../../adapters/crypto/digest.js";
import { EMPTY_CHAIN, hashOf, nextRecord } from "../../../../core/audit/audit-record.js";
import type { AuditRecord } from "../../../../core/ports/audit-record.js";

const CREATED = {
  id: "aud_1",
  createdAt: 1_700_000_000_000,
  actor: "alice",
  action: "accounts.suspend",
  accountId: "acct_1",
  targets: ["acct_1"],
  fields: { reason: "leaked", count: 2 },
} as const;

describe("A record of the audit log", () => {
  const digest = new NodeDigest();

  it("has the SHA-256 of its members as a JSON list, those of its fields by name, as its hash", () => {
    const text =
      `[1,"aud_1",1700000000000,"alice","accounts.suspend","acct_1",["acct_1"],` +
      `[["count",2],["reason","leaked"]],"${"0".repeat(64)}"]`;
    const { hash, number } = nextRecord(EMPTY_CHAIN, CREATED, digest);
    expect([number, hash]).to.deep.equal([1, createHash("sha256").update(text).digest("hex")]);
  });

  it("follows the one before it", () => {
    const first = nextRecord(EMPTY_CHAIN, CREATED, digest);
    expect(nextRecord(first, CREATED, digest)).to.include({ number: 2, previousHash: first.hash });
  });

  it("has the same hash whatever the order of its fields, and another when any member is another", () => {
    const record = nextRecord(EMPTY_CHAIN, CREATED, digest);
    expect(hashOf({ ...record, fields: { count: 2, reason: "leaked" } }, digest)).to.equal(record.hash);
    const others: Partial<AuditRecord>[] = [
      { number: 2 },
      { id: "aud_2" },
      { createdAt: 1 },
      { actor: "bob" },
      { action: "accounts.resume" },
      { accountId: null },
      { targets: [] },
      { fields: { reason: "leaked", count: "2" } },
      { previousHash: "1".repeat(64) },
    ];
    for (const other of others)
      expect(hashOf({ ...record, ...other }, digest), JSON.stringify(other)).to.not.equal(record.hash);
  });
});

import { expect } from "chai";
import { NodeDigest } from "../../../../adapters/crypto/digest.js";
import { fingerprint } from "../../../../core/idempotency/fingerprint.js";
import { keptIdempotency } from "../../../../core/idempotency/given-idempotency.js";
import { NOON } from "../../../support/builders.js";

describe("keptIdempotency", () => {
  it("keeps the hash of the key, the fingerprint of route and body, and until when", () => {
    const digest = new NodeDigest();
    const body = { model_id: "synth/song", prompt: "rain" };
    const present = (): { readonly status: number; readonly body: string } => ({ status: 202, body: "{}" });
    const given = { key: "order 17", route: "POST /api/v1/generations", body, present };
    const kept = keptIdempotency({ digest, idempotencyTtlMs: 3_600_000 }, given, NOON);
    expect(kept).to.deep.equal({
      keyHash: digest.sha256("order 17"),
      fingerprint: fingerprint(digest, "POST /api/v1/generations", body),
      expiresAt: NOON + 3_600_000,
      present,
    });
  });
});

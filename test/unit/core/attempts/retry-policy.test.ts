import { expect } from "chai";
import fc from "fast-check";
import { backoffMs, isRetryable, needsOperator, retryDelayMs } from "../../../../core/attempts/retry-policy.js";
import type { ProviderFailureKind } from "../../../../core/ports/music-provider.js";

const POLICY = { maxAttempts: 3, backoffMs: 1_000 };

describe("isRetryable", () => {
  const kinds: readonly ProviderFailureKind[] = [
    "unavailable",
    "rate_limited",
    "timeout",
    "misconfigured",
    "out_of_credit",
    "model_unavailable",
    "content_rejected",
    "invalid_input",
    "failed",
    "cancelled",
    "gone",
    "outcome_unknown",
  ];

  it("holds for what says that nothing was accepted, and for a reported timeout", () => {
    expect(kinds.filter(isRetryable)).to.deep.equal([
      "unavailable",
      "rate_limited",
      "timeout",
      "misconfigured",
      "out_of_credit",
      "model_unavailable",
    ]);
  });

  it("knows which failures only the operator can fix", () => {
    expect(kinds.filter(needsOperator)).to.deep.equal(["misconfigured", "out_of_credit", "model_unavailable"]);
  });
});

describe("retryDelayMs", () => {
  it("doubles the wait with every refusal", () => {
    const patient = { ...POLICY, maxAttempts: 10 };
    expect([1, 2, 3, 4].map((refusals) => retryDelayMs(patient, refusals, null, 1))).to.deep.equal([
      1_000, 2_000, 4_000, 8_000,
    ]);
  });

  it("spreads waits over their upper half", () => {
    expect([0, 0.5, 1].map((fraction) => retryDelayMs(POLICY, 1, null, fraction))).to.deep.equal([500, 750, 1_000]);
  });

  it("ends with the last attempt", () => {
    expect([1, 2, 3, 4].map((refusals) => retryDelayMs(POLICY, refusals, 60_000, 1) === null)).to.deep.equal([
      false,
      false,
      true,
      true,
    ]);
    expect(retryDelayMs({ ...POLICY, maxAttempts: 1 }, 1, null, 1)).to.equal(null);
  });

  it("waits as long as the provider asks, when that is longer", () => {
    expect(retryDelayMs(POLICY, 1, 30_000, 0)).to.equal(30_000);
    expect(retryDelayMs(POLICY, 1, 10, 1)).to.equal(1_000);
  });

  it("waits no longer than a quarter of an hour for a provider", () => {
    expect(retryDelayMs(POLICY, 1, 86_400_000, 0)).to.equal(900_000);
  });
});

describe("backoffMs", () => {
  it("is between half of the doubled base and all of it, and never above a minute", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 100_000 }),
        fc.integer({ min: 1, max: 200 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (base, tries, fraction) => {
          const full = Math.min(base * 2 ** (tries - 1), 60_000);
          expect(backoffMs(base, tries, fraction)).to.be.within(Math.floor(full / 2), full);
        },
      ),
    );
  });
});

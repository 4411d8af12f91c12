import { expect } from "chai";
import { rotationResult } from "../../../config/doctor-secrets.js";
import type { KeyId } from "../../../core/ports/keyring.js";

const NOON = 1_700_000_000_000;
const DAY_MS = 86_400_000;

describe("The doctor of rotations", () => {
  const state = { current: "new" as KeyId, previous: "old" as KeyId, unnamed: null, rotatedAt: NOON };

  it("is content with one key, and with two for less than 7 days", () => {
    for (const fine of [null, { ...state, previous: null, rotatedAt: null }, { ...state, previous: null }])
      expect(rotationResult(fine, NOON + 365 * DAY_MS)).to.include({ result: "ok" });
    expect(rotationResult(state, NOON + 7 * DAY_MS - 1)).to.include({ result: "ok" });
  });

  it("warns of two keys after 7 days, and says how to retire the old one", () => {
    const found = rotationResult(state, NOON + 7 * DAY_MS);
    expect(found).to.include({ name: "secret key rotation", result: "warning" });
    expect(found.message).to.include("for 7 days").and.include("old");
    expect(found.fix).to.include("fermata secrets retire");
  });
});

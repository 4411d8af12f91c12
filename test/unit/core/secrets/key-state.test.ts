import { expect } from "chai";
import {
  keyOf,
  type KeyState,
  type OpeningKeys,
  openKeys,
  retired,
  rotated,
} from "../../../../core/secrets/key-state.js";
import { NOON } from "../../../support/builders.js";

const [A, B, C] = ["a".repeat(16), "b".repeat(16), "c".repeat(16)];
const ONE: KeyState = { current: A, previous: null, unnamed: null, rotatedAt: null };
const TWO: KeyState = { current: B, previous: A, unnamed: null, rotatedAt: NOON };

const opened = (given: Partial<OpeningKeys>): KeyState | string => {
  try {
    return openKeys({ stored: ONE, firstKey: null, held: [A], origin: "settings", now: NOON, ...given });
  } catch (error) {
    return (error as Error).message;
  }
};

describe("The state of the secret keys", () => {
  it("begins with the first key that a storage is opened with", () => {
    expect(opened({ stored: null })).to.deep.equal(ONE);
    expect(opened({ stored: null, held: [A, B], origin: "file" })).to.deep.equal(ONE);
  });

  it("accepts, after an upgrade, what the only key before signed without a key id", () => {
    expect(opened({ stored: null, firstKey: A })).to.deep.equal({ ...ONE, unnamed: A });
    expect(opened({ stored: null, firstKey: B })).to.include("is not the key this storage was first opened with");
    expect(opened({ stored: null, firstKey: A, held: [B, A] })).to.deep.equal({ ...TWO, unnamed: A });
  });

  it("refuses a set of keys without the current one", () => {
    for (const held of [[B], [B, C]]) expect(opened({ held })).to.include("Set that key again");
    expect(opened({ stored: TWO, held: [A] })).to.include("Set that key again");
    expect(opened({ held: [] })).to.equal("There is no secret key.");
  });

  it("does not call a key of the settings wrong that was never set", () => {
    expect(opened({ held: [B], origin: "file" }))
      .to.include("secrets.key is not set, and the key in secret.key")
      .and.include("Set secrets.key (FERMATA_SECRETS__KEY) to that key");
  });

  it("brings a new key into force that the settings name first next to the current one", () => {
    expect(opened({ held: [B, A] })).to.deep.equal(TWO);
  });

  it("leaves the state alone where the settings name no new key first", () => {
    for (const held of [[A], [A, B]]) expect(opened({ held })).to.equal(ONE);
    for (const held of [[B], [B, A], [A, B]]) expect(opened({ stored: TWO, held })).to.equal(TWO);
    expect(opened({ held: [B, A], origin: "file" })).to.equal(ONE);
  });

  it("never has three keys in force", () => {
    expect(opened({ stored: TWO, held: [C, B] }))
      .to.include("run `fermata secrets retire` to drop")
      .and.include(A);
    expect(() => rotated(TWO, C, NOON)).to.throw("Two keys are in force already");
  });

  it("accepts the current and the previous key until that is retired", () => {
    const state = { ...TWO, unnamed: A };
    expect([A, B, C, "none", ""].map((id) => keyOf(state, id))).to.deep.equal([A, B, null, A, null]);
    expect([A, B, C, "none"].map((id) => keyOf(retired(state), id))).to.deep.equal([null, B, null, null]);
    expect(retired({ ...ONE, unnamed: A })).to.deep.equal(ONE);
    expect(() => retired(ONE)).to.throw(`There is nothing to retire: ${A} is the only key in force.`);
  });
});

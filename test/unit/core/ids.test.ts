import { expect } from "chai";
import { UlidGenerator } from "../../../adapters/system/id-generator.js";
import { createdAtOf, firstIdAt, isId } from "../../../core/ids.js";
import { ManualClock } from "../../support/doubles/manual-clock.js";
import { ManualRandom } from "../../support/doubles/manual-random.js";

const ULID = "01k9m5s8e0abcdefghjkmnpqrs";

describe("isId", () => {
  it("knows every id that the generator makes", () => {
    const ids = new UlidGenerator(new ManualClock(), new ManualRandom());
    for (const prefix of ["acct", "key", "job", "trk", "req", "att", "prc"] as const) {
      expect(isId(prefix, ids.next(prefix)), prefix).to.equal(true);
    }
  });

  const wrong = {
    "another prefix": `trk_${ULID}`,
    "no prefix": ULID,
    "no underscore": `job${ULID}`,
    "upper case": `job_${ULID.toUpperCase()}`,
    "a letter that no ULID has": `job_${ULID.slice(0, -1)}i`,
    "one character too few": `job_${ULID.slice(1)}`,
    "one character too many": `job_0${ULID}`,
    "a line break behind": `job_${ULID}\n`,
    "a space before": ` job_${ULID}`,
    "nothing behind the prefix": "job_",
    nothing: "",
    "a path": "job_../../../../etc/passwd00",
  };
  for (const [what, id] of Object.entries(wrong)) {
    it(`refuses ${what}`, () => {
      expect(isId("job", id)).to.equal(false);
    });
  }

  it("takes the form as it is meant", () => {
    expect(isId("job", `job_${ULID}`)).to.equal(true);
  });
});

describe("firstIdAt", () => {
  it("has the time as ten digits of a ULID, and nothing but zeros behind it", () => {
    expect(firstIdAt("job", 0)).to.equal(`job_${"0".repeat(26)}`);
    expect(firstIdAt("trk", 33)).to.equal(`trk_0000000011${"0".repeat(16)}`);
    expect(firstIdAt("evt", 2 ** 48 - 1)).to.equal(`evt_7zzzzzzzzz${"0".repeat(16)}`);
  });

  it("is the form of an id, in the order of time", () => {
    const [earlier, later] = [firstIdAt("job", 1_763_000_000_031), firstIdAt("job", 1_763_000_000_032)];
    expect(isId("job", earlier)).to.equal(true);
    expect(earlier < later).to.equal(true);
  });
});

describe("createdAtOf", () => {
  it("reads the time of an id", () => {
    for (const time of [0, 31, 32, 1_763_000_000_123, 2 ** 48 - 1]) {
      expect(createdAtOf(firstIdAt("job", time))).to.equal(time);
    }
  });

  it("reads it from an id of the generator", () => {
    const clock = new ManualClock();
    expect(createdAtOf(new UlidGenerator(clock, new ManualRandom()).next("acct"))).to.equal(clock.now());
  });
});

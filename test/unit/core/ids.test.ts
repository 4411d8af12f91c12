import { expect } from "chai";
import { UlidGenerator } from "../../../adapters/system/id-generator.js";
import { isId } from "../../../core/ids.js";
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

import { expect } from "chai";
import { parseDateTime } from "../../../adapters/http/date-time.js";

describe("parseDateTime", () => {
  const at = Date.UTC(2026, 10, 21, 6, 30);

  for (const [text, moment] of [
    ["2026-11-21T06:30:00Z", at],
    ["2026-11-21t06:30:00z", at],
    ["2026-11-21T06:30:00.000Z", at],
    ["2026-11-21T06:30:00+00:00", at],
    ["2026-11-21T06:30:00-00:00", at],
    ["2026-11-21T12:00:00+05:30", at],
    ["2026-11-20T23:30:00-07:00", at],
    ["2026-11-21T06:30:00.5Z", at + 500],
    ["2026-11-21T06:30:00.012Z", at + 12],
    ["2024-02-29T00:00:00Z", Date.UTC(2024, 1, 29)],
    ["0000-01-01T00:00:00Z", Date.parse("0000-01-01T00:00:00Z")],
    ["9999-12-31T23:59:59.999Z", Date.UTC(9999, 11, 31, 23, 59, 59, 999)],
  ] as const) {
    it(`reads ${text}`, () => expect(parseDateTime(text)).to.equal(moment));
  }

  it("rounds up what is finer than a millisecond", () => {
    expect(parseDateTime("2026-11-21T06:30:00.0000001Z")).to.equal(at + 1);
    expect(parseDateTime("2026-11-21T06:30:00.0010000Z")).to.equal(at + 1);
    expect(parseDateTime("2026-11-21T06:30:00.9991Z")).to.equal(at + 1_000);
    expect(parseDateTime("2026-11-21T06:30:00.57Z")).to.equal(at + 570);
  });

  for (const text of [
    "",
    "2026-11-21",
    "2026-11-21T06:30:00",
    "2026-11-21T06:30Z",
    "2026-11-21 06:30:00Z",
    "2026-11-21T06:30:00.Z",
    `2026-11-21T06:30:00.${"0".repeat(21)}Z`,
    "2026-11-21T06:30:00 01:00",
    "2026-11-21T06:30:00+0100",
    "2026-11-21T06:30:00+24:00",
    "2026-11-21T24:00:00Z",
    "2026-11-21T06:60:00Z",
    "2026-11-21T06:30:60Z",
    "2026-02-29T00:00:00Z",
    "2026-04-31T00:00:00Z",
    "2026-00-10T00:00:00Z",
    "2026-13-10T00:00:00Z",
    "+002026-11-21T06:30:00Z",
    " 2026-11-21T06:30:00Z",
    "2026-11-21T06:30:00Z\n",
    "２０２６-11-21T06:30:00Z",
  ]) {
    it(`refuses ${JSON.stringify(text)}`, () => expect(parseDateTime(text)).to.equal(null));
  }
});

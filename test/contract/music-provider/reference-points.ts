import { expect } from "chai";
import type { MusicReference } from "../../../core/ports/music-provider.js";
import type { ModeUnderTest } from "./mode-under-test.js";
import type { SentPoints } from "./reference-scenarios.js";
import type { ProviderUnderTest } from "./tested.js";

/** Half a hundredth: a provider may count the strength in whole hundredths. */
const STRENGTH_TOLERANCE = 0.005;
/** A provider may take whole milliseconds, or frames. */
const SECONDS_TOLERANCE = 0.05;

/** Where a generation goes on or begins and ends, and how much of the track is kept: as it was given, or refused. */
export function describePoints(mode: ModeUnderTest, tested: () => ProviderUnderTest): void {
  if (mode.scenario.sent === undefined) return;

  const sent = async (use: Partial<Omit<MusicReference, "source">>): Promise<SentPoints | "refused"> => {
    const { requests, failure } = await mode.sentFor(tested(), mode.request(tested(), use));
    if (failure === null) return mode.pointsIn(requests);
    // A point that a provider cannot take is refused; left out, it would give something else than was asked for.
    expect([failure.kind, failure.billable], failure.message).to.deep.equal(["invalid_input", "no"]);
    expect(mode.created(tested()), "calls that create").to.equal(0);
    return "refused";
  };

  if (mode.mode === "inpaint") {
    for (const [from, to] of [[4, 9] as const, [0, mode.seconds] as const]) {
      it(`sends the part of the track that it replaces: inpaint, ${from} to ${to} s`, async () => {
        const points = await sent({ fromSeconds: from, toSeconds: to });
        expect(points, "the part").to.not.equal("refused");
        expectClose(points, { from, to });
      });
    }
  }

  if (mode.mode === "extend") {
    it("goes on from the end of the track where no point is given: extend", async () => {
      const points = await sent({});
      expect(points, "the end").to.not.equal("refused");
      // The end of a track may be left out, or named.
      const { from = mode.seconds } = points === "refused" ? {} : points;
      expect(from, "the end").to.be.closeTo(mode.seconds, SECONDS_TOLERANCE);
    });
    it("sends the point of the track that it goes on from, or refuses it: extend, 7 s", async () => {
      const points = await sent({ fromSeconds: 7 });
      if (points !== "refused") expectClose(points, { from: 7 });
    });
  }

  if (mode.mode === "cover") {
    it("sends no points of a track: cover", async () => {
      expect(await sent({}), "points").to.not.have.any.keys("from", "to");
    });
  }

  if (mode.capability.takesStrength !== true) return;
  for (const strength of [0, 0.25, 1]) {
    it(`sends how much of the track is kept: ${mode.mode}, ${strength}`, async () => {
      const points = await sent({ strength });
      expect(points, "the strength").to.not.equal("refused");
      if (points === "refused") return;
      expect(points.strength, "the strength").to.be.a("number");
      expect(points.strength).to.be.closeTo(strength, STRENGTH_TOLERANCE);
    });
  }
}

function expectClose(points: SentPoints | "refused", expected: { readonly from: number; readonly to?: number }): void {
  for (const [name, at] of Object.entries(expected) as ["from" | "to", number][]) {
    const value = points === "refused" ? undefined : points[name];
    expect(value, `what was sent of \`${name}\``).to.be.a("number");
    expect(value, `what was sent of \`${name}\`, in seconds`).to.be.closeTo(at, SECONDS_TOLERANCE);
  }
}

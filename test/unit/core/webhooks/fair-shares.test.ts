import { expect } from "chai";
import fc from "fast-check";
import { fairShares } from "../../../../core/webhooks/fair-shares.js";

describe("Sharing out", () => {
  it("gives every demand in full while the capacity is enough", () => {
    expect(
      fairShares(10, [
        { of: "a", count: 3 },
        { of: "b", count: 4 },
      ]),
    ).to.deep.equal([
      { of: "a", count: 3 },
      { of: "b", count: 4 },
    ]);
  });

  it("gives in rounds of one, in the order of the demands", () => {
    expect(
      fairShares(4, [
        { of: "a", count: 9 },
        { of: "b", count: 1 },
        { of: "c", count: 9 },
      ]),
    ).to.deep.equal([
      { of: "a", count: 2 },
      { of: "b", count: 1 },
      { of: "c", count: 1 },
    ]);
  });

  it("leaves out empty shares and negative demands", () => {
    expect(
      fairShares(1, [
        { of: "a", count: -2 },
        { of: "b", count: 1 },
        { of: "c", count: 1 },
      ]),
    ).to.deep.equal([{ of: "b", count: 1 }]);
    expect(fairShares(-3, [{ of: "a", count: 1 }])).to.deep.equal([]);
  });

  it("gives the whole capacity or every demand, and no demand gets more than one above another", () => {
    fc.assert(
      fc.property(fc.nat({ max: 60 }), fc.array(fc.nat({ max: 12 }), { maxLength: 20 }), (capacity, counts) => {
        const shares = fairShares(
          capacity,
          counts.map((count, of) => ({ of, count })),
        );
        const given = new Map(shares.map(({ of, count }) => [of, count]));
        const sum = [...given.values()].reduce((total, count) => total + count, 0);
        expect(sum).to.equal(
          Math.min(
            capacity,
            counts.reduce((total, count) => total + count, 0),
          ),
        );
        const unsated = counts.flatMap((count, of) => ((given.get(of) ?? 0) < count ? [given.get(of) ?? 0] : []));
        for (const share of given.values())
          if (unsated.length > 0) expect(share).to.be.at.most(Math.min(...unsated) + 1);
      }),
    );
  });
});

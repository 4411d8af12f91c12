import { expect } from "chai";
import { TrackNotFoundError } from "../../../../core/errors.js";
import { checkPlayable, checkReference, sourceUseOf } from "../../../../core/generations/reference-rules.js";
import { anAsset, anId, aTrack } from "../../../support/builders.js";

const trackId = anId("trk");
const issues = (given: Partial<NonNullable<Parameters<typeof checkReference>[0]>>): string[] =>
  checkReference({ trackId, mode: "extend", ...given }).map(({ path, message }) => `${path} ${message}`);

describe("A track to work from", () => {
  it("may be left out", () => {
    expect(checkReference(undefined)).to.deep.equal([]);
    expect(sourceUseOf(undefined)).to.deep.equal({ sourceTrackId: null, sourceUse: null });
  });

  it("has a mode, and the members that go with it", () => {
    expect(issues({})).to.deep.equal([]);
    expect(issues({ from: 3, strength: 1 })).to.deep.equal([]);
    expect(issues({ mode: "cover", strength: 0 })).to.deep.equal([]);
    expect(issues({ mode: "inpaint", from: 0, to: 1 })).to.deep.equal([]);
    expect(issues({ mode: "remix", to: -1 })).to.deep.equal([
      "body.reference.mode must be one of extend, cover, inpaint",
    ]);
    expect(issues({ to: 3 })).to.deep.equal(["body.reference.to does not go with extend"]);
    expect(issues({ mode: "cover", from: 1, to: 2 })).to.deep.equal([
      "body.reference.from does not go with cover",
      "body.reference.to does not go with cover",
    ]);
    expect(issues({ mode: "inpaint" })).to.deep.equal([
      "body.reference.from is required to inpaint",
      "body.reference.to is required to inpaint",
    ]);
  });

  it("has numbers within their bounds, the second behind the first", () => {
    for (const from of [-1, NaN, Infinity])
      expect(issues({ from })).to.deep.equal(["body.reference.from must be a number of at least 0"]);
    expect(issues({ from: 2, strength: 1.1 })).to.deep.equal(["body.reference.strength must be 0 to 1"]);
    expect(issues({ strength: -0.1 })).to.deep.equal(["body.reference.strength must be a number of at least 0"]);
    for (const to of [1, 0.5])
      expect(issues({ mode: "inpaint", from: 1, to })).to.deep.equal(["body.reference.to must be behind from"]);
    expect(issues({ mode: "inpaint", from: 1, to: -1 })).to.deep.equal([
      "body.reference.to must be a number of at least 0",
    ]);
  });

  it("is kept as it was given", () => {
    expect(sourceUseOf({ trackId, mode: "inpaint", from: 1, to: 2, strength: 0.5 })).to.deep.equal({
      sourceTrackId: trackId,
      sourceUse: { mode: "inpaint", fromSeconds: 1, toSeconds: 2, strength: 0.5 },
    });
    expect(sourceUseOf({ trackId: "nonsense", mode: "cover" })).to.deep.equal({
      sourceTrackId: null,
      sourceUse: { mode: "cover", fromSeconds: null, toSeconds: null, strength: null },
    });
  });

  it("is one that the account may play", () => {
    const own = aTrack();
    const check = (track: Parameters<typeof checkPlayable>[0]) => () =>
      checkPlayable(track, own.accountId ?? anId("acct"));
    expect(check(own)).not.to.throw();
    expect(check(aTrack({ visibility: "public" }))).not.to.throw();
    for (const track of [null, aTrack(), { ...own, assets: [anAsset({ role: "stem" })] }])
      expect(check(track)).to.throw(TrackNotFoundError);
  });
});

import { expect } from "chai";
import type { SourceUse } from "../../../../core/jobs/job.js";
import type { ProviderModel, ReferenceCapability } from "../../../../core/ports/music-provider.js";
import { modelIssues } from "../../../../core/providers/model-rules.js";
import { modesOf, referenceIssues } from "../../../../core/providers/sources.js";
import { anAsset, aTrack } from "../../../support/builders.js";

const OWL = { id: "owl", label: "Owl", isReachable: false };
const USE: SourceUse = { mode: "cover", fromSeconds: null, toSeconds: null, strength: null };

function aModel(cover?: ReferenceCapability): ProviderModel {
  return {
    ...{ id: "owl/v1", name: "Owl", creditCost: 5, supportsLyrics: false, supportsInstrumental: true, duration: null },
    ...(cover === undefined ? {} : { references: { cover } }),
  };
}

describe("A track to work from", () => {
  const track = aTrack({
    origin: { providerId: "owl", reference: null },
    assets: [anAsset({ role: "mix", contentType: "audio/mpeg", durationSeconds: 20 })],
  });
  const paths = (capability: ReferenceCapability | undefined, use: Partial<SourceUse> = {}, of = track): string[] =>
    referenceIssues(aModel(capability), OWL, { ...USE, ...use }, of).map(({ path }) => path);

  it("is taken where the model declares the mode and takes the file", () => {
    expect(paths({ sources: "any" })).to.deep.equal([]);
    expect(paths({ sources: "own" })).to.deep.equal([]);
    expect(paths({ sources: "any", takesStrength: true }, { strength: 0.5 })).to.deep.equal([]);
  });

  it("is refused with the member that is to blame", () => {
    const foreign = { ...track, origin: { providerId: "lark", reference: null } };
    expect(paths(undefined)).to.deep.equal(["body.reference.mode"]);
    expect(paths({ sources: "any" }, { mode: "extend" })).to.deep.equal(["body.reference.mode"]);
    expect(paths({ sources: "own" }, {}, foreign)).to.deep.equal(["body.reference.track_id"]);
    expect(paths({ sources: "any", contentTypes: ["audio/flac"] })).to.deep.equal(["body.reference.track_id"]);
    expect(paths({ sources: "any", maxSeconds: 19 })).to.deep.equal(["body.reference.track_id"]);
    expect(paths({ sources: "any" }, { strength: 0.5 })).to.deep.equal(["body.reference.strength"]);
    expect(paths({ sources: "any" }, { fromSeconds: 21, toSeconds: 22 })).to.deep.equal([
      "body.reference.from",
      "body.reference.to",
    ]);
  });

  it("goes to no model that would fetch it from an installation without a public address", () => {
    const model = aModel({ sources: "any", needsUrl: true });
    expect([modesOf(model, OWL), modesOf(model, { ...OWL, isReachable: true })]).to.deep.equal([[], ["cover"]]);
    expect(referenceIssues(model, OWL, USE, track).map(({ path }) => path)).to.deep.equal(["body.reference.mode"]);
    expect(referenceIssues(model, { ...OWL, isReachable: true }, USE, track)).to.deep.equal([]);
  });

  it("is declared as the port says, or the plugin is not loaded", () => {
    const issues = (references: unknown): string[] => modelIssues([{ ...aModel(), references }], "owl");
    const cover = { sources: "any", creditCost: 0, takesStrength: true };
    expect(issues({ extend: { sources: "own" }, cover })).to.deep.equal([]);
    expect(issues({ remix: { sources: "any" } })).to.deep.equal([
      "models[0].references.remix: there is no such mode; allowed: extend, cover, inpaint",
    ]);
    expect(issues([])).to.have.length(1);
    const wrong = { sources: "all", creditCost: 1.5, takesStrength: 1, bytes: 3, maxBytes: 0 };
    expect(issues({ cover: wrong })).to.deep.equal([
      'models[0].references.cover.sources: "all"; allowed: any, own',
      "models[0].references.cover.maxBytes: 0; allowed: a whole number from 1",
      "models[0].references.cover.bytes: no such member; allowed: " +
        "sources, contentTypes, maxBytes, maxSeconds, needsUrl, upstreamCost, creditCost, takesStrength",
      "models[0].references.cover.creditCost: 1.5; allowed: a whole number of credits",
      "models[0].references.cover.takesStrength: 1; allowed: true, false",
    ]);
  });
});

import { expect } from "chai";
import { Policies } from "../../../../core/attempts/policies.js";
import type { JobKind } from "../../../../core/jobs/job.js";
import type {
  ProviderCost,
  ProviderModel,
  ReferenceMode,
  SplitCapability,
} from "../../../../core/ports/music-provider.js";
import { Catalogue, type CatalogueProvider } from "../../../../core/providers/catalogue.js";
import { ManualRandom } from "../../../support/doubles/manual-random.js";
import { ScriptedProvider } from "../../../support/doubles/scripted-provider.js";

const SETTINGS = {
  retry: { maxAttempts: 3, backoffMs: 1_000 },
  queueDeadlineMs: 1_000_000,
  renderDeadlineMs: 600_000,
  unknownGraceMs: 120_000,
  confirmMs: 60_000,
};
const NO_CAPABILITIES = {
  idempotentSubmit: false,
  lookup: false,
  lookupSettlesMs: 0,
  cancel: false,
  callbacks: "none",
} as const;
const usd = (amount: number): ProviderCost => ({ amount, unit: "USD" });
const aSplit = (cost: number): SplitCapability => ({ sources: "any", upstreamCost: usd(cost) });

const [SONG] = new ScriptedProvider().definition.models as readonly [ProviderModel];
const PROVIDER: CatalogueProvider = {
  id: "scripted",
  label: "Scripted",
  enabled: true,
  isReachable: true,
  models: [SONG],
};
const A_SONG = { kind: "music", providerId: "scripted", servedModelId: "scripted/song" } as const;
const split = (kind: JobKind) => ({ kind, providerId: "scripted", servedModelId: null });

function policies(provider: Partial<CatalogueProvider> = {}, model: Partial<ProviderModel> = {}): Policies {
  const catalogue = new Catalogue([
    { ...PROVIDER, id: "other", models: [], cancel: true, stemSplit: aSplit(9) },
    { ...PROVIDER, models: [{ ...SONG, ...model }], ...provider },
  ]);
  return new Policies({ settings: SETTINGS, catalogue, random: new ManualRandom() });
}

describe("Policies", () => {
  it("are the settings for a provider and a model that declare nothing", () => {
    const policy = policies().of(A_SONG);
    expect(policy).to.deep.equal({ ...SETTINGS, capabilities: NO_CAPABILITIES, expectedCost: null, fraction: 0.5 });
  });

  it("have the capabilities of the job's own provider, and none of a provider that left the settings", () => {
    const declared = {
      idempotentSubmit: true,
      lookup: true,
      lookupSettlesMs: 5_000,
      cancel: true,
      callbacks: "signed",
    } as const;
    expect(policies(declared).of(A_SONG).capabilities).to.deep.equal(declared);
    const gone = { ...A_SONG, providerId: "gone", servedModelId: "gone/song" };
    expect(policies(declared).of(gone)).to.deep.include({
      capabilities: NO_CAPABILITIES,
      expectedCost: null,
    });
  });

  it("have the render deadline of the model that serves the job", () => {
    expect(policies({}, { renderDeadlineMinutes: 3 }).of(A_SONG).renderDeadlineMs).to.equal(180_000);
    expect(policies({}, { renderDeadlineMinutes: 3 }).of(split("stem_split")).renderDeadlineMs).to.equal(600_000);
  });

  it("expect of a song what its model costs, or the way in which it uses a track", () => {
    const references = { cover: { sources: "any", upstreamCost: usd(0.4) }, extend: { sources: "any" } } as const;
    const priced = policies({}, { upstreamCost: usd(0.1), references });
    const use = (mode: ReferenceMode) => ({
      sourceUse: { mode, fromSeconds: null, toSeconds: null, strength: null },
    });
    expect(priced.of(A_SONG).expectedCost).to.deep.equal(usd(0.1));
    expect(priced.of(A_SONG, { sourceUse: null }).expectedCost).to.deep.equal(usd(0.1));
    expect(priced.of(A_SONG, use("cover")).expectedCost).to.deep.equal(usd(0.4));
    expect(priced.of(A_SONG, use("extend")).expectedCost).to.deep.equal(usd(0.1));
  });

  it("expect of a split what its provider declares for its kind", () => {
    const priced = policies({
      stemSplit: aSplit(0.2),
      vocalRemoval: aSplit(0.3),
    });
    expect(priced.of(split("stem_split")).expectedCost).to.deep.equal(usd(0.2));
    expect(priced.of(split("vocal_removal")).expectedCost).to.deep.equal(usd(0.3));
    expect(policies().of(split("stem_split")).expectedCost).to.equal(null);
    expect(policies().of({ ...split("vocal_removal"), providerId: "gone" }).expectedCost).to.equal(null);
  });

  it("depend on the request only where a model has a price for a way to use a track", () => {
    const extend = { sources: "any" } as const;
    const priced = policies({}, { references: { extend, cover: { ...extend, upstreamCost: usd(0.2) } } });
    expect(priced.dependsOnRequest(A_SONG)).to.equal(true);
    expect(priced.dependsOnRequest({ ...A_SONG, servedModelId: "gone/song" })).to.equal(false);
    expect(priced.dependsOnRequest({ ...A_SONG, kind: "stem_split" })).to.equal(false);
    expect(policies({}, { references: { extend } }).dependsOnRequest(A_SONG)).to.equal(false);
    expect(policies().dependsOnRequest(A_SONG)).to.equal(false);
  });
});

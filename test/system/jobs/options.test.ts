import { expect } from "chai";
import type { MusicRequest, OptionValues, ProviderModel } from "../../../core/ports/music-provider.js";
import { submitFails, type ScriptedProvider } from "../../support/doubles/scripted-provider.js";
import { WorkerHarness } from "./worker-harness.js";

const GIVEN = { seed: 7, key: "C major" } as const;

const optionsAt = (provider: ScriptedProvider): OptionValues[] =>
  provider.submissions.map((request) => (request as MusicRequest).options);

/** The model without an option, as an operator may configure it. */
function without(id: string, name: string): (model: ProviderModel) => ProviderModel {
  return (model) => {
    const { [name]: _removed, ...requestOptions } = model.requestOptions ?? {};
    return model.id === id ? { ...model, requestOptions } : model;
  };
}

describe("A job with options", () => {
  let harness: WorkerHarness;
  beforeEach(async () => {
    harness = await WorkerHarness.open();
  });
  afterEach(() => harness.close());

  it("passes them to a fallback that declares them, with the fallback's own defaults", async () => {
    harness.provider.behaviour = submitFails("unavailable");
    const id = await harness.acceptOne(undefined, { options: GIVEN });
    const weight = { type: "number", minimum: 0, maximum: 1, default: 0.9, description: "Style." } as const;
    await harness.start({
      withFallback: true,
      maxAttempts: 2,
      changeModel: (model) =>
        model.id === "fallback/song"
          ? { ...model, requestOptions: { ...model.requestOptions, style_weight: weight } }
          : model,
    });
    await harness.pass(1_000);
    expect(await harness.expectCompleted(id)).to.include({ servedModelId: "fallback/song" });
    expect(optionsAt(harness.provider)).to.deep.equal(Array(2).fill({ ...GIVEN, style_weight: 0.5 }));
    expect(optionsAt(harness.fallback)).to.deep.equal([{ ...GIVEN, style_weight: 0.9 }]);
  });

  it("never goes to a fallback that does not accept one of them", async () => {
    harness.provider.behaviour = submitFails("unavailable");
    const id = await harness.acceptOne(undefined, { options: GIVEN });
    await harness.start({ withFallback: true, maxAttempts: 1, changeModel: without("fallback/song", "key") });
    await harness.pass(1_000);
    await harness.expectFailed(id, "provider_unavailable");
    expect(harness.fallback.submissions).to.have.length(0);
  });

  it("goes to that fallback without options", async () => {
    harness.provider.behaviour = submitFails("unavailable");
    const id = await harness.acceptOne();
    await harness.start({ withFallback: true, maxAttempts: 1, changeModel: without("fallback/song", "key") });
    await harness.pass(1_000);
    await harness.expectCompleted(id);
  });

  it("fails, refunded and not submitted, when its model no longer accepts one of them", async () => {
    const id = await harness.acceptOne(undefined, { options: GIVEN });
    await harness.start({ changeModel: without("scripted/song", "key") });
    await harness.quiet();
    await harness.expectFailed(id, "generation_failed");
    expect(harness.provider.submissions).to.have.length(0);
    expect(await harness.storage.jobs.listAttempts(id)).to.deep.equal([]);
  });
});

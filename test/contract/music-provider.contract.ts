import { describeCallbacks } from "./music-provider/callbacks.js";
import { describeDefinition } from "./music-provider/definition.js";
import { expectNone } from "./music-provider/expect-none.js";
import type { MusicProviderHarness } from "./music-provider/harness.js";
import { describeLosses } from "./music-provider/losses.js";
import { missingScenarios } from "./music-provider/missing-scenarios.js";
import { describeModels } from "./music-provider/models.js";
import { describeMultipart } from "./music-provider/multipart.js";
import { describeOperations } from "./music-provider/operations.js";
import { describeOptions } from "./music-provider/options.js";
import { describeRecovery } from "./music-provider/recovery.js";
import { describeReferences } from "./music-provider/references.js";
import { describeRefusals } from "./music-provider/refusals.js";
import { ProviderUnderTest } from "./music-provider/tested.js";
import { describeUnwritten, isUnwritten } from "./music-provider/unwritten.js";
import { describeWork } from "./music-provider/work.js";

export type * from "./music-provider/harness.js";
export type * from "./music-provider/reference-scenarios.js";

/**
 * What the plugin port promises, tried on one plugin against a scripted copy of its provider's API. Every test starts
 * the plugin again, and at its end closes it and looks for secrets in all that it said.
 */
export function musicProviderContract(name: string, harness: MusicProviderHarness): void {
  describe(`MusicProvider contract: ${name}`, () => {
    const { firstTask } = harness;
    if (firstTask !== undefined && isUnwritten(firstTask)) return describeUnwritten(firstTask);
    it("is tried with every scenario: each is given, or said not to exist and why", () => {
      expectNone(missingScenarios(harness), "scenarios that the harness lacks");
    });
    if (missingScenarios(harness).length > 0) return;

    let provider: ProviderUnderTest;
    beforeEach(async () => {
      provider = await ProviderUnderTest.open(harness);
    });
    afterEach(() => provider.close());

    const tested = (): ProviderUnderTest => provider;
    describeDefinition(harness, tested);
    describeOperations(harness, tested);
    describeMultipart(harness, tested);
    describeModels(harness, tested);
    describeOptions(harness, tested);
    describeReferences(harness, tested);
    describeLosses(harness, tested);
    describeWork(harness, tested);
    describeRefusals(harness, tested);
    describeRecovery(harness, tested);
    describeCallbacks(harness, tested);
  });
}

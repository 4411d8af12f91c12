import { expect } from "chai";
import type { ProviderFailureKind } from "../../../core/ports/music-provider.js";
import { json } from "../../support/provider-kit/responses.js";
import {
  isApplicable,
  type MusicProviderHarness,
  type NamedFailure,
  type OrNot,
  type RefusalScenarios,
  type Script,
} from "./harness.js";
import type { ProviderUnderTest } from "./tested.js";

/** What the provider refuses, and the failure that the core gets. */
export function describeRefusals(harness: MusicProviderHarness, tested: () => ProviderUnderTest): void {
  const { refusals } = harness;
  if (!isApplicable(refusals)) {
    it(`is refused nothing: ${refusals.notApplicable}`, () => {
      expect(tested().main.submit, "a provider with a call that creates can be refused it").to.equal(null);
    });
    return;
  }
  for (const [what, scenario] of tableOf(refusals)) {
    if (!isApplicable(scenario)) {
      it(`has no response for ${what}: ${scenario.notApplicable}`, () => {
        expect(scenario.notApplicable.trim(), "why not").to.not.equal("");
      });
      continue;
    }
    const { kind, script } = scenario;
    it(`says ${kind} of ${what}, and does not try again by itself`, async () => {
      const { fake, main } = tested();
      await script(fake);
      const failure = await tested().failure(tested().submit(main.request()));
      expect(failure.kind).to.equal(kind);
      expect(failure.billable, "a refusal is not billed").to.not.equal("yes");
      if (main.submit !== null) expect(fake.calls(main.submit).length, "calls that create").to.be.at.most(1);
    });
  }
  describeRetired(refusals, tested);
  if (refusals.retiredModel === undefined) describeRetiredSplits(harness, tested);
  const { rateLimit } = refusals;
  if (isApplicable(rateLimit) && typeof rateLimit !== "function") {
    it("passes on how long it asks to wait", async () => {
      await rateLimit.script(tested().fake);
      expect((await tested().failure(tested().submit(tested().main.request()))).retryAfterMs).to.equal(
        rateLimit.retryAfterMs,
      );
    });
  }
}

/** One retired model must not keep the others off. */
function describeRetired({ retiredModel }: RefusalScenarios, tested: () => ProviderUnderTest): void {
  if (retiredModel !== undefined && !isApplicable(retiredModel)) {
    it(`has no response for a model that is not there any more: ${retiredModel.notApplicable}`, () => {
      expect(retiredModel.notApplicable.trim(), "why not").to.not.equal("");
    });
    return;
  }
  it("says model_unavailable of a model that is not there any more, and does not try again by itself", async () => {
    const { fake, main } = tested();
    if (retiredModel !== undefined) await retiredModel(fake);
    else if (main.submit !== null) {
      // What comes before the call, an upload or a token, is still there.
      await main.completes(fake);
      fake.on(main.submit.method, main.submit.path, json({ error: "no such model" }, { status: 404 }));
    }
    const { kind, billable } = await tested().failure(tested().submit(main.request()));
    expect([kind, billable]).to.deep.equal(["model_unavailable", "no"]);
    if (main.submit !== null) expect(fake.calls(main.submit).length, "calls that create").to.be.at.most(1);
  });
}

/** Nor must a split that is gone keep the generations off. */
function describeRetiredSplits(harness: MusicProviderHarness, tested: () => ProviderUnderTest): void {
  for (const [name, scenarios] of [
    ["stem_split", harness.stemSplit],
    ["vocal_removal", harness.vocalRemoval],
  ] as const) {
    if (!isApplicable(scenarios) || !isApplicable(scenarios.submit)) continue;
    const { submit, completes } = scenarios;
    it(`says model_unavailable of ${name} where that is not there any more`, async () => {
      const { fake } = tested();
      await completes(fake);
      fake.on(submit.method, submit.path, json({ error: "no such operation" }, { status: 404 }));
      const { kind, billable } = await tested().failure(tested().submit(tested().split(name, scenarios)));
      expect([kind, billable]).to.deep.equal(["model_unavailable", "no"]);
      expect(fake.calls(submit).length, "calls that create").to.be.at.most(1);
    });
  }
}

function tableOf(refusals: RefusalScenarios): (readonly [what: string, scenario: OrNot<NamedFailure>])[] {
  const { content, rateLimit, key, credit, unavailable, input, errorWith200, others = {} } = refusals;
  const named = (kind: ProviderFailureKind, scenario: OrNot<NamedFailure["script"]>): OrNot<NamedFailure> =>
    isApplicable(scenario) ? { kind, script: scenario } : scenario;
  const scripts = isApplicable(credit) && typeof credit !== "function" ? credit : [credit as OrNot<Script>];
  const credits = scripts.map((script, index) => {
    const which = scripts.length > 1 ? ` (${index + 1})` : "";
    return [`an account without credit${which}`, named("out_of_credit", script)] as const;
  });
  return [
    ["content it refuses", named("content_rejected", content)],
    [
      "too many requests",
      named("rate_limited", isApplicable(rateLimit) && typeof rateLimit !== "function" ? rateLimit.script : rateLimit),
    ],
    ["a key it refuses", named("misconfigured", key)],
    ...credits,
    ["overload", named("unavailable", unavailable)],
    ["a request it does not take", named("invalid_input", input)],
    ["an error with status 200", errorWith200],
    ...Object.entries(others),
  ];
}

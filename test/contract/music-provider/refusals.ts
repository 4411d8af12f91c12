import { expect } from "chai";
import type { ProviderFailureKind } from "../../../core/ports/music-provider.js";
import {
  isApplicable,
  type MusicProviderHarness,
  type NamedFailure,
  type OrNot,
  type RefusalScenarios,
} from "./harness.js";
import { json } from "../../support/provider-kit/answers.js";
import type { ProviderUnderTest } from "./tested.js";

/** What the provider says no to, and what the core is told then. */
export function describeRefusals({ refusals }: MusicProviderHarness, tested: () => ProviderUnderTest): void {
  if (!isApplicable(refusals)) {
    it(`is refused nothing: ${refusals.notApplicable}`, () => {
      expect(tested().main.submit, "a provider with a call that creates can be refused it").to.equal(null);
    });
    return;
  }
  for (const [what, scenario] of tableOf(refusals)) {
    if (!isApplicable(scenario)) {
      it(`has no answer for ${what}: ${scenario.notApplicable}`, () => {
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
    it(`has no answer for a model that is not there any more: ${retiredModel.notApplicable}`, () => {
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

function tableOf(refusals: RefusalScenarios): (readonly [what: string, scenario: OrNot<NamedFailure>])[] {
  const { content, rateLimit, key, credit, unavailable, input, errorWith200, others = {} } = refusals;
  const named = (kind: ProviderFailureKind, scenario: OrNot<NamedFailure["script"]>): OrNot<NamedFailure> =>
    isApplicable(scenario) ? { kind, script: scenario } : scenario;
  return [
    ["content it refuses", named("content_rejected", content)],
    [
      "too many requests",
      named("rate_limited", isApplicable(rateLimit) && typeof rateLimit !== "function" ? rateLimit.script : rateLimit),
    ],
    ["a key it refuses", named("misconfigured", key)],
    ["an account without credit", named("out_of_credit", credit)],
    ["overload", named("unavailable", unavailable)],
    ["a request it does not take", named("invalid_input", input)],
    ["an error with status 200", errorWith200],
    ...Object.entries(others),
  ];
}

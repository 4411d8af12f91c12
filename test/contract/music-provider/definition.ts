import { expect } from "chai";
import { definitionIssues, methodIssues } from "../../../core/providers/definition-issues.js";
import { modelIssues } from "../../../core/providers/model-rules.js";
import { capabilityIssues, longestCallsIssues, longestCallsOf } from "../../../core/providers/definition-parts.js";
import { expectNone } from "./expect-none.js";
import { isApplicable, type MusicProviderHarness } from "./harness.js";
import { modelsOf, type ProviderUnderTest } from "./tested.js";

/** What the plugin declares, and whether harness and plugin say the same. */
export function describeDefinition(harness: MusicProviderHarness, tested: () => ProviderUnderTest): void {
  const { definition } = harness;

  it("exports a definition that the host can load", () => {
    expectNone(definitionIssues(definition), "issues of the definition");
  });

  it("knows every setting that the harness gives, and is given what it requires", () => {
    const given = harness.settings(tested().fake);
    expectNone(
      Object.keys(given).filter((name) => !(name in definition.settings)),
      "settings the plugin does not declare",
    );
    const required = Object.entries(definition.settings).filter(([, { required: isRequired }]) => isRequired === true);
    expectNone(
      required.map(([name]) => name).filter((name) => given[name] === undefined),
      "required settings that the harness does not give",
    );
    const secrets = Object.entries(definition.settings).filter(
      ([name, { secret }]) => secret === true && given[name] !== undefined,
    );
    expect(secrets.length, "secret settings of at least 8 characters, so that they can be searched for").to.equal(
      tested().secrets.length,
    );
  });

  it("declares sane capabilities, models and concurrency for these settings", () => {
    const { host, capabilities } = tested();
    const concurrency =
      typeof definition.concurrency === "function" ? definition.concurrency(host.settings) : definition.concurrency;
    expect(
      Number.isSafeInteger(concurrency) && concurrency > 0,
      `concurrency: ${concurrency}; allowed: a whole number from 1`,
    ).to.equal(true);
    expectNone(
      [
        ...capabilityIssues(capabilities),
        ...modelIssues(modelsOf(harness), definition.id),
        ...longestCallsIssues(longestCallsOf(definition, host.settings)),
      ],
      "issues of capabilities, models and the longest call",
    );
    for (const model of modelsOf(harness))
      expect(definition.checkModel?.(model) ?? null, `checkModel of ${model.id}`).to.equal(null);
  });

  it("has a method for every capability, and none that the host would never call", () => {
    expectNone(
      methodIssues(tested().provider, tested().capabilities),
      "methods and capabilities that contradict each other",
    );
  });

  it("asks the provider nothing before there is work", async () => {
    await tested().provider.close?.();
    // A call that `create` began is under way by then: the fake hears of it as soon as it arrives.
    expectNone(tested().host.fetched, "calls before there was work");
    expectNone(
      tested().fake.requests.map(({ method, path }) => `${method} ${path}`),
      "requests before there was work",
    );
  });

  it("has a scenario for every capability, and a capability for every scenario", () => {
    const { capabilities, provider } = tested();
    const pairs: readonly (readonly [what: string, declared: boolean, group: unknown])[] = [
      ["generation (models)", modelsOf(harness).length > 0, harness.generation],
      // A plugin may poll work for some servers and not for others: where it has a method, the harness decides.
      [
        "work (poll or pollMany)",
        (provider.poll ?? provider.pollMany) !== undefined && isApplicable(harness.work),
        harness.work,
      ],
      ["callbacks", (capabilities.callbacks ?? "none") !== "none", harness.callbacks],
      ["lookup", capabilities.lookup, harness.lookup],
      ["cancel", capabilities.cancel, harness.cancel],
      ["probe", provider.probe !== undefined, harness.probe],
      ["stemSplit", capabilities.stemSplit !== undefined, harness.stemSplit],
      ["vocalRemoval", capabilities.vocalRemoval !== undefined, harness.vocalRemoval],
    ];
    const unequal = pairs.filter(([, declared, group]) => declared !== isApplicable(group));
    const lines = unequal.map(([what, declared]) => {
      const why = declared
        ? "declared by the plugin, and not applicable in the harness"
        : "a scenario in the harness, and not declared by the plugin";
      return `${what}: ${why}`;
    });
    expectNone(lines, "plugin and harness contradict each other");
  });

  it("frees what it opened when it is closed, also before it ever worked", async () => {
    await tested().provider.close?.();
    await tested().fake.idle();
    expect(tested().fake.openRequests).to.equal(0);
  });

  for (const operation of ["stem_split", "vocal_removal"] as const) {
    const scenarios = operation === "stem_split" ? harness.stemSplit : harness.vocalRemoval;
    if (isApplicable(scenarios)) continue;
    it(`refuses ${operation} without asking the provider: ${scenarios.notApplicable}`, async () => {
      const failure = await tested().failure(
        tested().provider.submit(tested().split(operation, {}), { signal: new AbortController().signal }),
      );
      expect([failure.kind, tested().fake.requests.length]).to.deep.equal(["invalid_input", 0]);
    });
  }
}

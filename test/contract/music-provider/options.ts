import { expect } from "chai";
import type { OptionValue, OptionValues, ProviderModel, RequestOption } from "../../../core/ports/music-provider.js";
import { takesValue } from "../../../core/providers/request-options.js";
import { aMusicRequest } from "../../support/provider-kit/requests.js";
import { isApplicable, type MusicProviderHarness, type OptionScenarios } from "./harness.js";
import { modelsOf, type ProviderUnderTest } from "./tested.js";

/** A name and a value that no plugin can know. */
const UNDECLARED = { name: "zq_undeclared", value: "zq-undeclared-value" } as const;

/** Texts of the standard names that have a format; other options take any text. */
const TEXTS: Readonly<Record<string, string>> = { key: "F# minor", language: "pt-BR" };

/** Declared options reach the provider, each as it was given; others never do. */
export function describeOptions(harness: MusicProviderHarness, tested: () => ProviderUnderTest): void {
  const { options, generation } = harness;
  if (options === undefined || !isApplicable(options) || !isApplicable(generation)) return;

  const sentWith = async (
    given: OptionValues,
    model: ProviderModel,
    name?: string,
  ): Promise<{ readonly [name: string]: unknown }> => {
    const { fake } = tested();
    if (options.completes === undefined) await generation.completes(fake);
    else await options.completes(fake, model);
    const before = fake.requests.length;
    const besides = name === undefined ? {} : options.requestFor?.(name, model);
    await tested().submit(aMusicRequest(model, { ...harness.request, ...besides, options: given }));
    const requests = fake.requests.slice(before);
    for (const { path, text, query } of requests) {
      const all = `${path} ${text} ${JSON.stringify(query)}`;
      expect(all, "an option that the model does not declare").to.not.match(
        new RegExp(`${UNDECLARED.name}|${UNDECLARED.value}`),
      );
    }
    return named(options.sent(requests, model));
  };

  for (const model of modelsOf(harness)) {
    for (const [name, option] of Object.entries(model.requestOptions ?? {})) {
      for (const value of valuesOf(name, option)) {
        it(`sends the option ${name} of ${model.id} as it is given: ${JSON.stringify(value)}`, async () => {
          expect(await sentWith({ [name]: value }, model, name)).to.deep.equal({ [name]: value });
        });
      }
    }
    it(`sends no option of ${model.id} that was not given, and none that it does not declare`, async () => {
      expect(await sentWith({}, model)).to.deep.equal({});
      expect(await sentWith({ [UNDECLARED.name]: UNDECLARED.value }, model)).to.deep.equal({});
    });
  }
}

function named(sent: ReturnType<OptionScenarios["sent"]>): { readonly [name: string]: unknown } {
  return Object.fromEntries(Object.entries(sent).filter(([, value]) => value !== undefined));
}

/** Both ends of what it takes. */
function valuesOf(name: string, option: RequestOption): OptionValue[] {
  switch (option.type) {
    case "boolean":
      return [true, false];
    case "integer":
    case "number":
      return [...new Set([option.minimum, option.maximum])];
    case "string":
      return [...new Set(option.allowed ?? [TEXTS[name] ?? "x".repeat(Math.max(option.minLength ?? 0, 1))])].filter(
        (text) => takesValue(name, option, text),
      );
  }
}

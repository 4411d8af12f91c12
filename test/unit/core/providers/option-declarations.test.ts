import { expect } from "chai";
import { STANDARD_OPTIONS } from "../../../../core/ports/music-provider.js";
import { definitionIssues } from "../../../../core/providers/definition-issues.js";
import { optionDeclarationIssues } from "../../../../core/providers/option-declarations.js";

const issuesOf = (options: unknown): string[] => optionDeclarationIssues("o", options);
const weight = { type: "number", minimum: 0, maximum: 1, description: "How much." };

describe("Declared options of a model", () => {
  it("may be left out, be the standard ones, narrower ones, and others", () => {
    for (const right of [
      undefined,
      {},
      STANDARD_OPTIONS,
      { bpm: { ...STANDARD_OPTIONS.bpm, minimum: 60, maximum: 180, default: 120 } },
      { key: { ...STANDARD_OPTIONS.key, allowed: ["C major", "A minor"], default: "A minor" } },
      { language: { type: "string", allowed: ["en", "de"], description: "Language." } },
      { vocal_gender: { ...STANDARD_OPTIONS.vocal_gender, allowed: ["female"] } },
      { weight: { ...weight, default: 0 }, loop: { type: "boolean", default: true, description: "Loops." } },
    ])
      expect(issuesOf(right), JSON.stringify(right)).to.deep.equal([]);
  });

  const wrong: readonly (readonly [options: unknown, says: string])[] = [
    [null, "o: null; allowed: an object, a member for each option"],
    [[weight], "o: ["],
    [
      Object.fromEntries(Array.from({ length: 21 }, (_, index) => [`a${index}`, weight])),
      "o: 21 options; allowed: at most 20",
    ],
    [{ styleWeight: weight }, "o.styleWeight: its name is not in lower snake case"],
    [{ ["a".repeat(41)]: weight }, "o.aaa"],
    [{ weight: 1 }, "o.weight: 1; allowed: { type, description, … }"],
    [{ weight: { ...weight, type: "float" } }, 'o.weight.type: "float"; allowed: integer, number, string, boolean'],
    [{ weight: { ...weight, type: "constructor" } }, "o.weight.type: "],
    [{ weight: { ...weight, description: " " } }, 'o.weight.description: " "; allowed: 1 to 500 characters'],
    [{ weight: { ...weight, description: "a".repeat(501) } }, "o.weight.description: "],
    [
      { weight: { ...weight, allowed: [1] } },
      "o.weight.allowed: not a member of this type; allowed: type, description, minimum",
    ],
    [{ weight: { ...weight, minimum: undefined } }, "o.weight.minimum: missing; allowed: a number"],
    [{ weight: { ...weight, maximum: Number.POSITIVE_INFINITY } }, "o.weight.maximum: null; allowed: a number"],
    [{ weight: { ...weight, type: "integer", maximum: 1.5 } }, "o.weight.maximum: 1.5; allowed: a whole number"],
    [{ weight: { ...weight, minimum: 2 } }, "o.weight.maximum: 1; allowed: from minimum, 2, up"],
    [{ weight: { ...weight, default: 1.1 } }, "o.weight.default: 1.1; allowed: a number from 0 to 1"],
    [{ weight: { ...weight, default: "1" } }, 'o.weight.default: "1"; allowed: a number from 0 to 1'],
    [
      { text: { type: "string", description: "Text." } },
      "o.text.maxLength: missing; allowed: up to 3000, or a list of `allowed` values",
    ],
    [
      { text: { type: "string", maxLength: 3_001, description: "Text." } },
      "o.text.maxLength: 3001; allowed: up to 3000",
    ],
    [
      { text: { type: "string", minLength: 5, maxLength: 4, description: "Text." } },
      "o.text.minLength: 5; allowed: from 0 to maxLength",
    ],
    [
      { text: { type: "string", allowed: [], description: "Text." } },
      "o.text.allowed: []; allowed: 100 different strings at most",
    ],
    [{ text: { type: "string", allowed: ["a", "a"], description: "Text." } }, "o.text.allowed: "],
    [
      { text: { type: "string", allowed: ["a"], default: "b", description: "Text." } },
      'o.text.default: "b"; allowed: one of: a',
    ],
    [{ loop: { type: "boolean", default: 1, description: "Loops." } }, "o.loop.default: 1; allowed: true or false"],
    // Standard names mean the same in every plugin.
    [
      { seed: { ...STANDARD_OPTIONS.seed, type: "number" } },
      'o.seed.type: "number"; allowed: integer, as in every plugin',
    ],
    [
      { seed: { type: "string", maxLength: 9, description: "Seed." } },
      'o.seed.type: "string"; allowed: integer, as in every plugin',
    ],
    [{ seed: { ...STANDARD_OPTIONS.seed, minimum: -1 } }, "o.seed.minimum: -1; allowed: 0 to 4294967295"],
    [{ bpm: { ...STANDARD_OPTIONS.bpm, maximum: 301 } }, "o.bpm.maximum: 301; allowed: 20 to 300"],
    [{ bpm: { ...STANDARD_OPTIONS.bpm, default: 10 } }, "o.bpm.default: 10; allowed: a whole number from 20 to 300"],
    [{ key: { ...STANDARD_OPTIONS.key, default: "C" } }, 'o.key.default: "C"; allowed: a key such as'],
    [
      { key: { ...STANDARD_OPTIONS.key, allowed: ["C major", "c-minor"] } },
      'o.key.allowed: "c-minor"; allowed: a key such as',
    ],
    [{ language: { ...STANDARD_OPTIONS.language, maxLength: 36 } }, "o.language.maxLength: 36; allowed: up to 35"],
    [
      { vocal_gender: { type: "string", maxLength: 9, description: "Voice." } },
      "o.vocal_gender.allowed: missing; allowed: some of female, male",
    ],
    [
      { vocal_gender: { ...STANDARD_OPTIONS.vocal_gender, allowed: ["female", "any"] } },
      'o.vocal_gender.allowed: "any"; allowed: one of: female, male',
    ],
  ];
  for (const [options, says] of wrong) {
    it(`say what is wrong, where, and what is allowed: ${says.slice(0, 70)}`, () => {
      const issues = issuesOf(options);
      expect(issues).to.have.length(1);
      expect(issues[0]?.startsWith(says), issues[0]).to.equal(true);
    });
  }

  it("keep a plugin with a wrong one from being loaded", () => {
    const definition = {
      ...{ id: "owl", label: "Owl", portVersion: 2, concurrency: 1, settings: {}, create: () => ({}) },
      capabilities: { idempotentSubmit: false, lookup: false, cancel: false },
      models: [
        {
          ...{
            id: "owl/v1",
            name: "Owl",
            creditCost: 3,
            supportsLyrics: true,
            supportsInstrumental: true,
            duration: null,
          },
          requestOptions: { seed: { ...STANDARD_OPTIONS.seed, maximum: 2 ** 40 } },
        },
      ],
    };
    expect(definitionIssues(definition)).to.deep.equal([
      "models[0].requestOptions.seed.maximum: 1099511627776; allowed: 0 to 4294967295",
    ]);
  });
});

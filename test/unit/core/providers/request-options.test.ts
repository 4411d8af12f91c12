import { expect } from "chai";
import fc from "fast-check";
import {
  type OptionValue,
  type OptionValues,
  type RequestOption,
  STANDARD_OPTIONS,
} from "../../../../core/ports/music-provider.js";
import { optionDeclarationIssues } from "../../../../core/providers/option-declarations.js";
import { optionIssues, takesValue, withDefaults } from "../../../../core/providers/request-options.js";

const MODEL = {
  id: "owl/v1",
  requestOptions: {
    ...STANDARD_OPTIONS,
    style_weight: { type: "number", minimum: -1, maximum: 1, default: 0.5, description: "How much style." },
    loop: { type: "boolean", default: false, description: "Whether it loops." },
    mood: { type: "string", minLength: 2, maxLength: 4, description: "A mood." },
  },
} as const;

const issuesOf = (given: object, model: Parameters<typeof optionIssues>[0] = MODEL): string[] =>
  optionIssues(model, given as OptionValues).map(({ path, message }) => `${path} ${message}`);

describe("optionIssues", () => {
  const taken: readonly (readonly [name: string, values: readonly OptionValue[]])[] = [
    ["seed", [0, 42, 4_294_967_295]],
    ["negative_prompt", ["", "drums", "\u{1f3b5}".repeat(3_000)]],
    ["bpm", [20, 300]],
    ["key", ["C major", "F# minor", "Eb major", "B minor"]],
    ["language", ["en", "pt-BR", "zh-Hant-TW", "haw"]],
    ["vocal_gender", ["female", "male"]],
    ["variation_strength", [0, 0.25, 1]],
    ["style_weight", [-1, 0, 1]],
    ["loop", [true, false]],
    ["mood", ["ab", "\u{1f3b5}\u{1f3b5}\u{1f3b5}\u{1f3b5}"]],
  ];
  for (const [name, values] of taken) {
    for (const value of values) {
      const shown = String(value).slice(0, 20);
      it(`takes ${name}=${shown}`, () => expect(issuesOf({ [name]: value })).to.deep.equal([]));
    }
  }

  const refused: readonly (readonly [name: string, values: readonly unknown[], allowed: string])[] = [
    ["seed", [-1, 4_294_967_296, 1.5, "42", true, null, Number.NaN], "a whole number from 0 to 4294967295"],
    ["negative_prompt", ["a".repeat(3_001), "a\ud800", 7], "a string of at most 3000 characters"],
    ["bpm", [19, 301, 120.5], "a whole number from 20 to 300"],
    [
      "key",
      ["C", "c major", "H minor", "C Major", "C  major", "C##major", "C dorian", " C major"],
      "a key such as C major, F# minor or Eb major",
    ],
    [
      "language",
      ["", "e", "english language", "en_US", "en-", "en-123456789", "1a"],
      "a language tag such as en or pt-BR",
    ],
    ["vocal_gender", ["Female", "", "any", 1], "one of: female, male"],
    ["variation_strength", [-0.01, 1.01, "0.5", Infinity], "a number from 0 to 1"],
    ["loop", ["true", 1, 0], "true or false"],
    ["mood", ["a", "abcde"], "a string of 2 to 4 characters"],
  ];
  for (const [name, values, allowed] of refused) {
    for (const value of values) {
      const shown = (JSON.stringify(value) ?? String(value)).slice(0, 20);
      it(`refuses ${name}=${shown}, naming what is allowed`, () => {
        expect(issuesOf({ [name]: value })).to.deep.equal([`body.options.${name} must be ${allowed} for owl/v1`]);
      });
    }
  }

  it("refuses a name that the model does not declare, and lists those that it does", () => {
    const model = { id: "owl/v1", requestOptions: { seed: STANDARD_OPTIONS.seed, bpm: STANDARD_OPTIONS.bpm } };
    expect(issuesOf({ sed: 1 }, model)).to.deep.equal([
      "body.options.sed is not a known option; allowed for owl/v1: seed, bpm",
    ]);
    for (const none of [{ id: "owl/v1" }, { id: "owl/v1", requestOptions: {} }]) {
      expect(issuesOf({ seed: 1 }, none)).to.deep.equal([
        "body.options.seed is not a known option; owl/v1 takes no options",
      ]);
    }
  });

  it("takes names of Object.prototype for unknown ones", () => {
    const given = JSON.parse('{ "__proto__": 1, "constructor": 2, "toString": 3 }') as object;
    expect(optionIssues(MODEL, given as OptionValues).map(({ path }) => path)).to.deep.equal([
      "body.options.__proto__",
      "body.options.constructor",
      "body.options.toString",
    ]);
  });

  it("repeats no more than the beginning of a long name, and names every issue", () => {
    expect(issuesOf({ ["x".repeat(5_000)]: 1 })[0]?.length).to.be.below(250);
    expect(issuesOf({ seed: -1, bpm: 1, sed: 1 })).to.have.length(3);
  });
});

describe("withDefaults", () => {
  it("gives declared options alone, in the order of the declaration, defaults where nothing is given", () => {
    expect(withDefaults(MODEL, {})).to.deep.equal({ style_weight: 0.5, loop: false });
    const filled = withDefaults(MODEL, { loop: true, seed: 0, style_weight: -1, unknown: 1 });
    expect(JSON.stringify(filled)).to.equal('{"seed":0,"style_weight":-1,"loop":true}');
    expect(withDefaults({}, { seed: 1 })).to.deep.equal({});
  });
});

describe("Options of any declaration", () => {
  const integers = fc.integer({ min: -1_000, max: 1_000 });
  const bounds = fc.tuple(integers, integers).map(([a, b]) => ({ minimum: Math.min(a, b), maximum: Math.max(a, b) }));
  const description = "For the test.";
  const option: fc.Arbitrary<RequestOption> = fc.oneof(
    bounds.map((both) => ({ type: "integer" as const, description, ...both })),
    bounds.map((both) => ({ type: "number" as const, description, ...both })),
    fc.tuple(fc.nat(20), fc.nat(20)).map(([a, b]) => ({
      type: "string" as const,
      description,
      minLength: Math.min(a, b),
      maxLength: Math.max(a, b),
    })),
    fc
      .uniqueArray(fc.string({ minLength: 1, maxLength: 10, unit: "grapheme" }), { minLength: 1, maxLength: 5 })
      .map((allowed) => ({ type: "string" as const, description, allowed })),
    fc.constant({ type: "boolean" as const, description }),
  );
  const names = fc.stringMatching(/^x_[a-z0-9_]{0,38}$/);
  const declarations = fc.dictionary(names, option, { maxKeys: 20, noNullPrototype: true });
  const anything = fc.oneof(fc.jsonValue(), fc.string(), fc.double(), fc.boolean(), integers);

  it("are declared without an issue", () => {
    fc.assert(fc.property(declarations, (declared) => optionDeclarationIssues("o", declared).length === 0));
  });

  it("get the given values that fit them and nothing else", () => {
    fc.assert(
      fc.property(declarations, fc.dictionary(fc.oneof(names, fc.string()), anything), (declared, given) => {
        const model = { id: "owl/v1", requestOptions: declared };
        const values = {
          ...given,
          ...Object.fromEntries(
            Object.entries(declared).map(([name], index) => [name, Object.values(given)[index] ?? 1]),
          ),
        };
        const issues = optionIssues(model, values as OptionValues);
        const wrong = Object.entries(values).filter(([name, value]) => {
          const own = Object.hasOwn(declared, name) ? declared[name] : undefined;
          return own === undefined || !fits(own, value);
        });
        expect(issues).to.have.length(wrong.length);
        if (issues.length === 0) expect(withDefaults(model, values as OptionValues)).to.deep.equal(values);
      }),
    );
  });

  it("never break on a declaration that is none", () => {
    fc.assert(
      fc.property(anything, fc.dictionary(names, anything), (one, several) => {
        for (const declared of [one, several]) expect(optionDeclarationIssues("o", declared)).to.be.an("array");
      }),
    );
  });

  /** The rules once more, in the plainest words. */
  function fits(own: RequestOption, value: unknown): boolean {
    if (own.type === "boolean") return value === true || value === false;
    if (own.type === "string") {
      if (typeof value !== "string") return false;
      if (own.allowed !== undefined) return own.allowed.some((text) => text === value);
      const length = Array.from(value).length;
      return length >= (own.minLength ?? 0) && length <= (own.maxLength ?? 0) && value.isWellFormed();
    }
    if (typeof value !== "number" || (own.type === "integer" && !Number.isInteger(value))) return false;
    return value >= own.minimum && value <= own.maximum;
  }
});

describe("Standard options", () => {
  it("are declared right themselves, and take their own bounds", () => {
    expect(optionDeclarationIssues("o", STANDARD_OPTIONS)).to.deep.equal([]);
    expect(takesValue("seed", STANDARD_OPTIONS.seed, 4_294_967_295)).to.equal(true);
  });
});

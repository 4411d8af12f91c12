import { expect } from "chai";
import { IdempotencyKeyRequiredError, InvalidRequestError, type RequestIssue } from "../../../../core/errors.js";
import {
  checkGenerationInput,
  checkIdempotencyKey,
  type GenerationInput,
  METADATA_MAX_BYTES,
} from "../../../../core/generations/request-rules.js";

const NOTE = "\u{1f3b5}";
const FAMILY = "\u{1f468}\u200d\u{1f469}\u200d\u{1f467}";

function issuesOf(input: Partial<GenerationInput>): readonly RequestIssue[] {
  try {
    checkGenerationInput({ modelId: "synth/v1", prompt: "rain", ...input });
    return [];
  } catch (error) {
    if (!(error instanceof InvalidRequestError)) throw error;
    return error.details.issues;
  }
}

function pathsOf(input: Partial<GenerationInput>): string[] {
  return issuesOf(input).map(({ path }) => path);
}

/** `{ a: { a: … } }` of this many levels, with a number inside. */
function nested(levels: number): { readonly [key: string]: unknown } {
  let value: unknown = 1;
  for (let level = 0; level < levels; level++) value = { a: value };
  return value as { readonly [key: string]: unknown };
}

describe("checkGenerationInput", () => {
  it("passes a request with nothing but a prompt, and one with everything", () => {
    expect(issuesOf({})).to.deep.equal([]);
    const all = { lyrics: "la", duration: 30, instrumental: false, client: "radio", metadata: { order: 7 } };
    expect(issuesOf(all)).to.deep.equal([]);
  });

  describe("counts code points:", () => {
    const lengths: readonly (readonly [
      field: "prompt" | "lyrics" | "client",
      what: string,
      text: string,
      fits: boolean,
    ])[] = [
      ["prompt", "no character", "", false],
      ["prompt", "one character", "a", true],
      ["prompt", "3,000 letters", "a".repeat(3_000), true],
      ["prompt", "3,001 letters", "a".repeat(3_001), false],
      ["prompt", "3,000 emoji, which are 6,000 UTF-16 units", NOTE.repeat(3_000), true],
      ["prompt", "3,001 emoji", NOTE.repeat(3_001), false],
      ["prompt", "600 families of five code points each", FAMILY.repeat(600), true],
      ["prompt", "601 families", FAMILY.repeat(601), false],
      ["prompt", "1,500 letters with a combining accent each", "e\u0301".repeat(1_500), true],
      ["prompt", "1,501 letters with a combining accent each", "e\u0301".repeat(1_501), false],
      ["prompt", "white space alone", "  \n", true],
      ["lyrics", "no character", "", true],
      ["lyrics", "10,000 emoji", NOTE.repeat(10_000), true],
      ["lyrics", "10,001 letters", "a".repeat(10_001), false],
      ["client", "no character", "", false],
      ["client", "100 emoji", NOTE.repeat(100), true],
      ["client", "101 emoji", NOTE.repeat(101), false],
    ];
    for (const [field, what, text, fits] of lengths) {
      it(`${field} ${fits ? "may" : "may not"} have ${what}`, () => {
        expect(pathsOf({ [field]: text })).to.deep.equal(fits ? [] : [`body.${field}`]);
      });
    }

    it("and says how many there are", () => {
      expect(issuesOf({ client: NOTE.repeat(101) })[0]?.message).to.equal("must have 1 to 100 characters; it has 101");
      expect(issuesOf({ lyrics: "a".repeat(10_001) })[0]?.message).to.include("at most 10000");
    });
  });

  for (const [what, text] of [
    ["a high surrogate alone", "a\ud83cb"],
    ["a low surrogate alone", "\udfb5"],
    ["a pair the wrong way round", "\udfb5\ud83c"],
  ] as const) {
    it(`refuses ${what} in every text`, () => {
      expect(pathsOf({ prompt: text, lyrics: text, client: text })).to.deep.equal([
        "body.prompt",
        "body.lyrics",
        "body.client",
      ]);
    });
  }

  it("refuses lyrics for an instrumental track, empty ones too", () => {
    expect(pathsOf({ lyrics: "la", instrumental: true })).to.deep.equal(["body.instrumental"]);
    expect(pathsOf({ lyrics: "", instrumental: true })).to.deep.equal(["body.instrumental"]);
    expect(pathsOf({ lyrics: "la", instrumental: false })).to.deep.equal([]);
  });

  for (const duration of [30.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53]) {
    it(`refuses a duration of ${duration}`, () => {
      expect(pathsOf({ duration })).to.deep.equal(["body.duration"]);
    });
  }

  it("lists every issue at once", () => {
    const paths = pathsOf({
      prompt: "",
      lyrics: "a".repeat(10_001),
      client: "",
      instrumental: true,
      duration: 0.5,
      metadata: nested(9),
    });
    expect(paths).to.have.members([
      "body.prompt",
      "body.lyrics",
      "body.client",
      "body.duration",
      "body.instrumental",
      "body.metadata",
    ]);
  });

  describe("takes metadata", () => {
    it("of eight levels, and not of nine", () => {
      expect(pathsOf({ metadata: nested(8) })).to.deep.equal([]);
      expect(pathsOf({ metadata: nested(9) })).to.deep.equal(["body.metadata"]);
    });

    it("with arrays counted as levels", () => {
      expect(pathsOf({ metadata: { a: [[[[[[[1]]]]]]] } })).to.deep.equal([]);
      expect(pathsOf({ metadata: { a: [[[[[[[[1]]]]]]]] } })).to.deep.equal(["body.metadata"]);
    });

    it("with nothing, null and empty values inside", () => {
      expect(pathsOf({ metadata: {} })).to.deep.equal([]);
      expect(pathsOf({ metadata: { a: null, b: {}, c: [], d: "" } })).to.deep.equal([]);
    });

    it("of 16 KiB as JSON in UTF-8, and not of a byte more", () => {
      const empty = JSON.stringify({ a: "" }).length;
      expect(pathsOf({ metadata: { a: "x".repeat(METADATA_MAX_BYTES - empty) } })).to.deep.equal([]);
      expect(pathsOf({ metadata: { a: "x".repeat(METADATA_MAX_BYTES - empty + 1) } })).to.deep.equal(["body.metadata"]);
      expect(pathsOf({ metadata: { a: "é".repeat(METADATA_MAX_BYTES / 2) } })).to.deep.equal(["body.metadata"]);
    });

    it("and gives up on hostile nesting after eight levels", () => {
      expect(pathsOf({ metadata: nested(200_000) })).to.deep.equal(["body.metadata"]);
    });
  });
});

describe("checkIdempotencyKey", () => {
  const good = ["a", "8e03978e-40d5-43dd-bc93-6894a57f9324", "~ !\"#$%&'()", " ", "x".repeat(255)];
  for (const key of good) {
    it(`takes ${key.length > 60 ? `${key.length} characters` : JSON.stringify(key)} as it is`, () => {
      expect(checkIdempotencyKey(key)).to.equal(key);
    });
  }

  for (const key of [undefined, ""]) {
    it(`asks for a key when it is ${key === undefined ? "absent" : "empty"}`, () => {
      expect(() => checkIdempotencyKey(key)).to.throw(IdempotencyKeyRequiredError);
    });
  }

  for (const key of ["x".repeat(256), "é", "a\tb", "a\n", "a\u007f", "a\u0000", NOTE]) {
    it(`refuses ${key.length > 60 ? `${key.length} characters` : JSON.stringify(key)}`, () => {
      const refused = expect(() => checkIdempotencyKey(key)).to.throw(InvalidRequestError);
      refused.with.nested.property("details.issues[0].path", "header.Idempotency-Key");
    });
  }
});

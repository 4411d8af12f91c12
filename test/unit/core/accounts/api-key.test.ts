import { expect } from "chai";
import fc from "fast-check";
import { API_KEY_PATTERN, isWellFormedToken, makeToken, shownPrefixOf } from "../../../../core/accounts/api-key.js";
import { ManualRandom } from "../../../support/doubles/manual-random.js";

const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

function aToken(seed: number): string {
  const random = new ManualRandom(seed);
  return makeToken((count) => random.bytes(count));
}

describe("An API key", () => {
  it("has the form that secret scanners look for, and a checksum that fits", () => {
    fc.assert(
      fc.property(fc.nat(), (seed) => {
        const token = aToken(seed);
        expect(token).to.match(API_KEY_PATTERN);
        expect(isWellFormedToken(token)).to.equal(true);
      }),
    );
  });

  it("is another one for other random bytes", () => {
    expect(new Set(Array.from({ length: 200 }, (_, seed) => aToken(seed))).size).to.equal(200);
  });

  it("keeps its form, checksum included, from version to version", () => {
    const token = makeToken((count) => Uint8Array.from({ length: count }, (_, index) => index));
    expect(token).to.equal(`frm_${ALPHABET.slice(0, 40)}${token.slice(44)}`);
    // CRC-32 of the forty characters, as zlib computes it.
    expect(token.slice(44)).to.equal(inBase62(crc32(ALPHABET.slice(0, 40))));
  });

  it("throws away bytes that would favour some characters, and asks for more when they run out", () => {
    let asked = 0;
    const token = makeToken((count) => {
      asked++;
      // The first handful holds one byte of use.
      return Uint8Array.from({ length: count }, (_, index) =>
        asked === 1 ? (index === 0 ? 61 : 255 - (index % 8)) : 1,
      );
    });
    expect(asked).to.equal(2);
    expect(token.slice(4, 44)).to.equal(`z${"1".repeat(39)}`);
  });

  it("is refused with any one character mistyped", () => {
    for (const seed of [1, 2, 3]) {
      const token = aToken(seed);
      for (let at = 0; at < token.length; at++) {
        for (const typo of `${ALPHABET}_- `) {
          if (typo === token[at]) continue;
          const mistyped = token.slice(0, at) + typo + token.slice(at + 1);
          if (isWellFormedToken(mistyped)) expect.fail(`${typo} at ${at} of ${token} goes unnoticed`);
        }
      }
    }
  });

  it("is refused with two neighbours swapped", () => {
    for (const seed of [4, 5, 6]) {
      const token = aToken(seed);
      for (let at = 4; at < token.length - 1; at++) {
        const swapped = token.slice(0, at) + token[at + 1] + token[at] + token.slice(at + 2);
        if (swapped !== token) expect(isWellFormedToken(swapped), swapped).to.equal(false);
      }
    }
  });

  const token = aToken(7);
  const wrong = {
    nothing: "",
    "the prefix alone": "frm_",
    "one character too few": token.slice(0, -1),
    "one character too many": `${token}0`,
    "a line break behind it": `${token}\n`,
    "a space before it": ` ${token}`,
    "another prefix": token.replace("frm_", "sk__"),
    "a prefix in upper case": token.replace("frm_", "FRM_"),
    "letters of no alphabet of ours": `frm_${"é".repeat(46)}`,
  };
  for (const [what, text] of Object.entries(wrong)) {
    it(`is not ${what}`, () => {
      expect(isWellFormedToken(text)).to.equal(false);
    });
  }

  it("shows its first characters only", () => {
    expect(shownPrefixOf(token)).to.equal(token.slice(0, 12));
  });
});

/** CRC-32 bit by bit, so that the table of the code under test is checked too. */
function crc32(text: string): number {
  let crc = 0xffffffff;
  for (const character of text) {
    crc ^= character.charCodeAt(0);
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return (crc ^ 0xffffffff) >>> 0;
}

function inBase62(value: number): string {
  const digits: string[] = [];
  for (let rest = value; digits.length < 6; rest = Math.floor(rest / 62)) digits.unshift(ALPHABET[rest % 62] ?? "");
  return digits.join("");
}

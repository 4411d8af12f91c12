import { expect } from "chai";
import { printable, printableLines, withoutControls } from "../../../core/printable.js";

/** What steers a terminal or hides in a text, and how it is shown. */
const STEERING: Readonly<Record<string, readonly [given: string, shown: string]>> = {
  "ESC and a CSI sequence": ["a\u001b[2Jb", "a\\u001b[2Jb"],
  "an OSC sequence that ends with BEL": ["\u001b]0;title\u0007", "\\u001b]0;title\\u0007"],
  "a CSI of C1": ["\u009b31m", "\\u009b31m"],
  "an OSC of C1 with its terminator": ["\u009d8;;http://x\u009c", "\\u009d8;;http://x\\u009c"],
  "a backspace, a return, DEL and NUL": ["a\b\r\u007f\0", "a\\u0008\\u000d\\u007f\\u0000"],
  "bidirectional overrides and isolates": ["\u202eevil\u202c\u2066x\u2069", "\\u202eevil\\u202c\\u2066x\\u2069"],
  "direction marks": ["\u200e\u200f\u061c", "\\u200e\\u200f\\u061c"],
  "zero-width characters": ["a\u200bb\u200c\u200d\ufeff\u2060", "a\\u200bb\\u200c\\u200d\\ufeff\\u2060"],
  "a soft hyphen and separators": ["\u00ad\u2028\u2029", "\\u00ad\\u2028\\u2029"],
  "a tag, which lies beyond the BMP": ["\u{e0041}", "\\udb40\\udc41"],
  "half a surrogate pair": ["\ud83c!", "\\ud83c!"],
};

const HARMLESS = ["Ä 🎼 “Regen”", "夜の歌 № 5", "e\u0301 שלום مرحبا", "back\\slash", ""];

describe("Printable text", () => {
  for (const [what, [given, shown]] of Object.entries(STEERING)) {
    it(`shows ${what} as escapes, in cells and in lines`, () => {
      expect(printable(given)).to.equal(shown);
      expect(printableLines(given)).to.equal(shown);
    });
  }

  it("does not change visible characters", () => {
    for (const text of HARMLESS) expect([printable(text), printableLines(text)]).to.deep.equal([text, text]);
  });

  it("keeps line breaks and tabs of laid out lines, and none in a cell", () => {
    expect(printableLines("a\n\tb")).to.equal("a\n\tb");
    expect(printable("a\n\tb")).to.equal("a\\u000a\\u0009b");
  });

  it("changes nothing of what is escaped already, and nothing of what JSON means", () => {
    const value = { [STEERING["a CSI of C1"]?.[0] ?? ""]: Object.values(STEERING).map(([given]) => given) };
    const shown = printable(JSON.stringify(value));
    expect(shown).to.match(/^[\x20-\x7e]+$/);
    expect(printable(shown)).to.equal(shown);
    expect(JSON.parse(shown)).to.deep.equal(value);
    expect(JSON.parse(printableLines(JSON.stringify(value, null, 2)))).to.deep.equal(value);
  });
});

describe("Titles and names without controls", () => {
  for (const [given, stored] of [
    ["a\u001b[2Jb", "a[2Jb"],
    ["\u202egnp.exe", "gnp.exe"],
    ["two\r\nlines\tand \u2028more", "two lines and  more"],
    ["\u200bhid\u00adden\u{e0041}\ufeff", "hidden"],
    ["  rain \u009b31m", "rain 31m"],
    ["\u0000\u2066\u2069", ""],
    ["half \ud83c!", "half !"],
  ] as const) {
    it(`stores ${JSON.stringify(given)} as ${JSON.stringify(stored)}`, () => {
      expect(withoutControls(given)).to.equal(stored);
    });
  }

  it("keeps joiners of emoji and of scripts, and direction marks", () => {
    for (const name of ["👩‍🎤 live", "نمی‌خواهم", "שלום\u200f!", ...HARMLESS])
      expect(withoutControls(name)).to.equal(name);
  });
});

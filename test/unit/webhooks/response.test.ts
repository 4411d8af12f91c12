import { expect } from "chai";
import fc from "fast-check";
import { excerptOf, failureOf, refusalOf, retryAfterMs } from "../../../adapters/webhooks/https/response.js";

const NOW = Date.UTC(1994, 10, 6, 8, 49, 0);

describe("retryAfterMs", () => {
  const cases: readonly (readonly [value: string | null, ms: number | null])[] = [
    [null, null],
    ["", null],
    ["0", 0],
    ["7", 7_000],
    [" 120 ", 120_000],
    ["007", 7_000],
    ["99999999999999999999999", Number.MAX_SAFE_INTEGER],
    ["-1", null],
    ["1.5", null],
    ["1e3", null],
    ["7 seconds", null],
    ["soon", null],
    ["Sun, 06 Nov 1994 08:49:37 GMT", 37_000],
    ["Sunday, 06-Nov-94 08:49:37 GMT", 37_000],
    ["Sun Nov  6 08:49:37 1994", 37_000],
    ["Sun Nov 13 08:49:00 1994", 7 * 86_400_000],
    ["Sun, 06 Nov 1994 08:48:00 GMT", 0],
    ["Sun, 06 Nov 1994 08:49:37 +0100", null],
    ["Sun, 06 Xyz 1994 08:49:37 GMT", null],
    ["1994-11-06T08:49:37Z", null],
    ["1994", 1_994_000],
  ];
  for (const [value, ms] of cases) {
    it(`reads ${JSON.stringify(value)} as ${String(ms)}`, () => {
      expect(retryAfterMs(value, NOW)).to.equal(ms);
    });
  }

  it("reads a date without a zone as one of Greenwich, wherever it runs", () => {
    const zone = process.env["TZ"];
    try {
      process.env["TZ"] = "Asia/Tokyo";
      expect(retryAfterMs("Sun Nov  6 08:49:37 1994", NOW)).to.equal(37_000);
    } finally {
      if (zone === undefined) delete process.env["TZ"];
      else process.env["TZ"] = zone;
    }
  });

  it("reads anything as null or a number of at least 0", () => {
    fc.assert(
      fc.property(
        fc.string(),
        (value) => retryAfterMs(value, NOW) === null || (retryAfterMs(value, NOW) as number) >= 0,
      ),
    );
  });
});

describe("failureOf", () => {
  it("takes 2xx alone for success, and knows 410", () => {
    fc.assert(
      fc.property(fc.integer({ min: 200, max: 999 }), (status) => {
        const expected =
          status === 410
            ? "gone"
            : ([null, "redirect", "http_4xx", "http_5xx"][Math.floor(status / 100) - 2] ??
              (status < 300 ? null : "protocol"));
        expect(failureOf(status), String(status)).to.equal(expected);
      }),
    );
  });
});

describe("excerptOf", () => {
  it("keeps lines, tabs and every script, and takes the teeth out of the rest", () => {
    expect(excerptOf(Buffer.from("a\r\nb\rc\n\td é 音楽 🎵"))).to.equal("a\nb\nc\n\td é 音楽 🎵");
    expect(excerptOf(Buffer.from("\x1b[2J\x07\0\x7f\u0085\u200e\u202e\u2066\ufeff"))).to.equal(
      "\ufffd[2J".padEnd(12, "\ufffd"),
    );
    expect(excerptOf(Buffer.from([0xff, 0x41, 0xc3]))).to.equal("\ufffdA\ufffd");
  });

  it("has at most 1,024 characters, cuts none in two, and holds no control character, for any bytes", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 8_000 }), (body) => {
        const excerpt = excerptOf(Buffer.from(body));
        expect([...excerpt].length).to.be.at.most(1_024);
        expect(excerpt).to.match(/^[\n\t\P{Cc}]*$/u);
        expect(Buffer.from(excerpt, "utf8").toString("utf8")).to.equal(excerpt);
      }),
    );
    expect(excerptOf(Buffer.from("🎵".repeat(2_000)))).to.equal("🎵".repeat(1_024));
  });
});

describe("refusalOf", () => {
  it("names the status, and where a redirect points, without what may be a token", () => {
    expect(refusalOf(503, null)).to.equal("The receiver returned 503.");
    expect(refusalOf(302, null)).to.equal("The receiver returned 302.");
    expect(refusalOf(404, "/elsewhere")).to.equal("The receiver returned 404.");
    expect(refusalOf(301, "/login?token=1#x")).to.equal(
      "The receiver returned 301 and points to /login; redirects are not followed.",
    );
    expect(refusalOf(301, `/\x1b[2J\n${"x".repeat(999)}`)).to.equal(
      `The receiver returned 301 and points to /?[2J?${"x".repeat(194)}; redirects are not followed.`,
    );
  });
});

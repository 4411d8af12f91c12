import { expect } from "chai";
import { NodeDigest } from "../../../../adapters/crypto/digest.js";
import { AudioUrls, type LinkCheck } from "../../../../core/library/audio-urls.js";
import { NOON } from "../../../support/builders.js";
import { ManualClock } from "../../../support/doubles/manual-clock.js";

const KEY = "job_1/3/0-mix.mp3";
const DAY_MS = 86_400_000;

function setUp(now = NOON): { readonly urls: AudioUrls; readonly clock: ManualClock; sign(ttlMs?: number): Link; check(link: Partial<Link>): LinkCheck } {
  const clock = new ManualClock(now);
  const urls = new AudioUrls(new NodeDigest(), clock, "a secret of at least 32 characters", () => "https://music.example", DAY_MS);
  const sign = (ttlMs?: number): Link => parse(urls.sign(KEY, ttlMs));
  const good = sign();
  return { urls, clock, sign, check: (link) => urls.check(link.key ?? good.key, link.expires ?? good.expires, link.signature ?? good.signature) };
}

interface Link {
  readonly key: string;
  readonly expires: string;
  readonly signature: string;
}

function parse(url: string): Link {
  const { pathname, searchParams } = new URL(url);
  return { key: pathname.slice("/audio/".length), expires: searchParams.get("expires") ?? "", signature: searchParams.get("signature") ?? "" };
}

const EXPIRED: LinkCheck = { state: "expired" };
const FORGED: LinkCheck = { state: "forged" };
const VALID: LinkCheck = { state: "valid", audioKey: KEY };

describe("AudioUrls", () => {
  it("signs a link that it finds valid", () => {
    const { urls, sign, check } = setUp();
    expect(urls.sign(KEY)).to.match(/^https:\/\/music\.example\/audio\/job_1\/3\/0-mix\.mp3\?expires=\d+&signature=[\w-]{43}$/);
    expect(check(sign())).to.deep.equal(VALID);
  });

  it("asks for the address anew for every link", () => {
    let publicUrl = "http://127.0.0.1:1";
    const urls = new AudioUrls(new NodeDigest(), new ManualClock(), "secret", () => publicUrl, DAY_MS);
    const first = urls.sign(KEY);
    publicUrl = "http://127.0.0.1:2";
    expect([first, urls.sign(KEY)].map((url) => new URL(url).port)).to.deep.equal(["1", "2"]);
  });

  it("lets a link live exactly as long as it says", async () => {
    const { clock, sign, check } = setUp();
    const link = sign();
    expect(Number(link.expires) * 1000).to.equal(NOON + DAY_MS);
    await clock.advance(DAY_MS - 1);
    expect(check(link)).to.deep.equal(VALID);
    await clock.advance(1);
    expect(check(link)).to.deep.equal(EXPIRED);
  });

  it("rounds the end of a link up to a second, and lets a caller choose the time", () => {
    const { sign } = setUp(NOON + 1);
    expect(Number(sign().expires) * 1000).to.equal(NOON + DAY_MS + 1_000);
    expect(Number(sign(1_000).expires) * 1000).to.equal(NOON + 2_000);
  });

  describe("finds forged", () => {
    const { sign } = setUp();
    const good = sign();
    const later = String(Number(good.expires) + 1);
    const tampered: Readonly<Record<string, Partial<Link>>> = {
      "another file": { key: "job_1/3/0-master.wav" },
      "the same file of another fence": { key: "job_1/4/0-mix.mp3" },
      "a file outside": { key: "../secret.key" },
      "a name no store has": { key: "JOB_1/3/0-mix.mp3" },
      "an end moved out": { expires: later },
      "an end with a zero before it": { expires: `0${good.expires}` },
      "an end with a space": { expires: `${good.expires} ` },
      "a negative end": { expires: "-1" },
      "an end in another notation": { expires: "1e12" },
      "an end of thirteen digits": { expires: "9999999999999" },
      "no end": { expires: "" },
      "no signature": { signature: "" },
      "half a signature": { signature: good.signature.slice(0, 20) },
      "a signature with something behind it": { signature: `${good.signature}A` },
      "a signature padded as base64": { signature: `${good.signature}=` },
    };
    for (const [what, link] of Object.entries(tampered)) {
      it(what, () => {
        expect(setUp().check({ ...good, ...link })).to.deep.equal(FORGED);
      });
    }

    it("a signature with any character changed", () => {
      for (let at = 0; at < good.signature.length; at++) {
        const other = good.signature[at] === "A" ? "B" : "A";
        const signature = good.signature.slice(0, at) + other + good.signature.slice(at + 1);
        expect(setUp().check({ ...good, signature })).to.deep.equal(FORGED);
      }
    });

    it("the signature of another secret", () => {
      const other = new AudioUrls(new NodeDigest(), new ManualClock(NOON), "another secret", () => "https://music.example", DAY_MS);
      expect(setUp().check(parse(other.sign(KEY)))).to.deep.equal(FORGED);
    });

    it("a signature moved between key and end", () => {
      const { urls } = setUp();
      const { signature } = parse(urls.sign("a", 0));
      expect(urls.check("a\n1", "1", signature)).to.deep.equal(FORGED);
    });

    it("a forged link, although it is expired too", () => {
      const { check } = setUp();
      expect(check({ ...good, expires: "1" })).to.deep.equal(FORGED);
      expect(check({ ...good, expires: "1", signature: "" })).to.deep.equal(FORGED);
    });

    it("parameters given twice, or not at all", () => {
      const { urls } = setUp();
      expect(urls.check(KEY, [good.expires, good.expires], good.signature)).to.deep.equal(FORGED);
      expect(urls.check(KEY, good.expires, [good.signature])).to.deep.equal(FORGED);
      expect(urls.check(KEY, undefined, undefined)).to.deep.equal(FORGED);
      expect(urls.check(KEY, Number(good.expires), good.signature)).to.deep.equal(FORGED);
    });
  });
});

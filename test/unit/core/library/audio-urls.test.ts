import { expect } from "chai";
import { createHmac } from "node:crypto";
import { NodeDigest } from "../../../../adapters/crypto/digest.js";
import { fingerprint } from "../../../../adapters/crypto/secret-key.js";
import { AudioUrls, type LinkCheck, type LinkOptions } from "../../../../core/library/audio-urls.js";
import { NOON } from "../../../support/builders.js";
import { FixedKeyring } from "../../../support/doubles/fixed-keyring.js";
import { ManualClock } from "../../../support/doubles/manual-clock.js";

const KEY = "job_1/3/0-mix.mp3";
const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
const SECRET = "a secret of at least 32 characters";

/** The parts of a link; what is left out is taken from a good one, and undefined is not sent. */
type Link = { readonly audioKey: string } & Readonly<Record<string, unknown>>;

interface SetUp {
  readonly urls: AudioUrls;
  readonly clock: ManualClock;
  readonly keyring: FixedKeyring;
  /** Of the track that has the file; null while no track has it. */
  generation: number | null;
  /** Whether the file is about to be deleted. */
  isNoted: boolean;
  sign(options?: LinkOptions): Link;
  check(link: Readonly<Record<string, unknown>>): Promise<LinkCheck>;
}

function setUp(now = NOON, publicUrl = (): string => "https://music.example", ttlMs = DAY_MS): SetUp {
  const clock = new ManualClock(now);
  const keyring = new FixedKeyring(SECRET);
  const library = { linkGeneration: () => Promise.resolve(setup.generation) };
  const erasures = { isNotedFile: () => Promise.resolve(setup.isNoted) };
  const urls = new AudioUrls({ digest: new NodeDigest(), clock, keyring, library, erasures, publicUrl, ttlMs });
  const sign = (options?: LinkOptions): Link => parse(urls.sign(KEY, options));
  const good = sign();
  const setup: SetUp = {
    urls,
    clock,
    keyring,
    generation: null,
    isNoted: false,
    sign,
    check: (link) => {
      const { audioKey, ...parameters } = { ...good, ...link };
      return urls.check({ audioKey, parameters });
    },
  };
  return setup;
}

function parse(url: string): Link {
  const { pathname, searchParams } = new URL(url);
  return { audioKey: pathname.slice("/audio/".length), ...Object.fromEntries(searchParams) };
}

const EXPIRED: LinkCheck = { state: "expired" };
const FORGED: LinkCheck = { state: "forged" };
const REVOKED: LinkCheck = { state: "revoked" };
const GONE: LinkCheck = { state: "gone" };
const VALID: LinkCheck = { state: "valid", audioKey: KEY };

describe("AudioUrls", () => {
  it("signs a link that it finds valid", async () => {
    const { urls, sign, check } = setUp();
    const id = fingerprint(SECRET);
    expect(urls.sign(KEY)).to.match(
      new RegExp(`^https://music\\.example/audio/job_1/3/0-mix\\.mp3\\?expires=\\d+&signature=[\\w-]{43}&key=${id}$`),
    );
    expect(urls.sign(KEY, { generation: 7 })).to.match(
      /\?expires=\d+&signature=[\w-]{43}&key=[0-9a-f]{16}&generation=7$/,
    );
    expect(await check(sign())).to.deep.equal(VALID);
  });

  it("asks for the address again for every link", () => {
    let publicUrl = "http://127.0.0.1:1";
    const { urls } = setUp(NOON, () => publicUrl);
    const first = urls.sign(KEY);
    publicUrl = "http://127.0.0.1:2";
    expect([first, urls.sign(KEY)].map((url) => new URL(url).port)).to.deep.equal(["1", "2"]);
  });

  it("lets a link live exactly as long as it says", async () => {
    const { clock, sign, check } = setUp();
    const link = sign();
    const lifeMs = Number(link["expires"]) * 1000 - NOON;
    expect(lifeMs).to.equal(DAY_MS + HOUR_MS / 2);
    await clock.advance(lifeMs - 1);
    expect(await check(link)).to.deep.equal(VALID);
    await clock.advance(1);
    expect(await check(link)).to.deep.equal(EXPIRED);
  });

  it("ends all links of an hour together, where they live for a day", async () => {
    const { clock, sign } = setUp(NOON + HOUR_MS / 2 + 1);
    const first = sign();
    expect(Number(first["expires"]) * 1000).to.equal(NOON + DAY_MS + HOUR_MS * 1.5);
    await clock.advance(HOUR_MS - 1);
    expect(sign()).to.deep.equal(first);
    await clock.advance(1);
    expect(Number(sign()["expires"])).to.equal(Number(first["expires"]) + 3_600);
  });

  it("rounds the end of a link up to a second where links live for less than a minute", () => {
    const { sign } = setUp(NOON + 1, undefined, 20_000);
    expect(Number(sign()["expires"]) * 1000).to.equal(NOON + 21_000);
  });

  it("lets a caller choose the time, to the second", () => {
    const { sign } = setUp(NOON + 1);
    expect(Number(sign({ ttlMs: 1_000 })["expires"]) * 1000).to.equal(NOON + 2_000);
    expect(Number(sign({ ttlMs: DAY_MS })["expires"]) * 1000).to.equal(NOON + DAY_MS + 1_000);
  });

  describe("with the generation of a track", () => {
    it("ends a link as soon as the track has another generation, or is gone", async () => {
      const setup = setUp();
      const link = setup.sign({ generation: 3 });
      for (const [generation, state] of [
        [3, VALID],
        [4, REVOKED],
        [null, GONE],
        [3, VALID],
      ] as const) {
        setup.generation = generation;
        expect(await setup.check(link), String(generation)).to.deep.equal(state);
      }
    });

    it("says of an expired link that it is expired, also where the track is gone", async () => {
      const setup = setUp();
      const link = setup.sign({ generation: 3 });
      setup.generation = 4;
      await setup.clock.advance(DAY_MS + HOUR_MS);
      expect(await setup.check(link)).to.deep.equal(EXPIRED);
    });

    it("takes a link without a generation for the first one", async () => {
      const setup = setUp();
      const link = setup.sign();
      for (const [generation, state] of [
        [0, VALID],
        [1, REVOKED],
        [null, VALID],
      ] as const) {
        setup.generation = generation;
        expect(await setup.check(link), String(generation)).to.deep.equal(state);
      }
    });

    it("ends a link to a file of no track as soon as the file is about to be deleted", async () => {
      const setup = setUp();
      setup.isNoted = true;
      expect(await setup.check(setup.sign())).to.deep.equal(GONE);
      setup.generation = 0;
      expect(await setup.check(setup.sign({ generation: 0 })), "while a track has it").to.deep.equal(VALID);
    });

    it("finds a link forged whose generation was changed, added or taken away", async () => {
      const setup = setUp();
      setup.generation = 4;
      const link = setup.sign({ generation: 3 });
      for (const generation of ["4", "03", "3 ", "", "-1", "-", undefined, ["3", "4"]]) {
        expect(await setup.check({ ...link, generation }), String(generation)).to.deep.equal(FORGED);
      }
      expect(await setup.check({ ...setup.sign(), generation: "4" })).to.deep.equal(FORGED);
    });
  });

  describe("with several keys", () => {
    it("accepts the key before until it is retired, and signs with the new one", async () => {
      const { keyring, sign, check } = setUp();
      const link = sign();
      [keyring.previous, keyring.secretKey] = [SECRET, "another secret of 32 characters ."];
      expect(await check(link)).to.deep.equal(VALID);
      expect(sign()["key"]).to.equal(fingerprint(keyring.secretKey));
      expect(await check(sign())).to.deep.equal(VALID);
      keyring.previous = null;
      expect(await check(link)).to.deep.equal(FORGED);
      expect(await check(sign())).to.deep.equal(VALID);
    });

    it("accepts links of versions without key ids while their key is accepted", async () => {
      const { keyring, check, sign } = setUp();
      const { expires } = sign();
      const signature = createHmac("sha256", SECRET)
        .update(`audio\n${KEY}\n${String(expires)}`)
        .digest("base64url");
      const old = { expires, signature, key: undefined };
      expect(await check(old)).to.deep.equal(FORGED);
      keyring.unnamed = SECRET;
      expect(await check(old)).to.deep.equal(VALID);
      expect(await check({ ...old, key: "none" })).to.deep.equal(FORGED);
      expect(await check({ ...old, key: fingerprint(SECRET) })).to.deep.equal(FORGED);
    });
  });

  describe("finds forged", () => {
    const { sign } = setUp();
    const good = sign();
    const later = String(Number(good["expires"]) + 1);
    const tampered: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
      "another file": { audioKey: "job_1/3/0-master.wav" },
      "the same file of another fence": { audioKey: "job_1/4/0-mix.mp3" },
      "a file outside": { audioKey: "../secret.key" },
      "a name no store has": { audioKey: "JOB_1/3/0-mix.mp3" },
      "an end moved out": { expires: later },
      "an end with a zero before it": { expires: `0${String(good["expires"])}` },
      "an end with a space": { expires: `${String(good["expires"])} ` },
      "a negative end": { expires: "-1" },
      "an end in another notation": { expires: "1e12" },
      "an end of thirteen digits": { expires: "9999999999999" },
      "no end": { expires: "" },
      "no signature": { signature: "" },
      "half a signature": { signature: String(good["signature"]).slice(0, 20) },
      "a signature with something behind it": { signature: `${String(good["signature"])}A` },
      "a signature padded as base64": { signature: `${String(good["signature"])}=` },
    };
    for (const [what, link] of Object.entries(tampered)) {
      it(what, async () => {
        expect(await setUp().check({ ...good, ...link })).to.deep.equal(FORGED);
      });
    }

    it("a signature with any character changed", async () => {
      const signed = String(good["signature"]);
      for (let at = 0; at < signed.length; at++) {
        const other = signed[at] === "A" ? "B" : "A";
        const signature = signed.slice(0, at) + other + signed.slice(at + 1);
        expect(await setUp().check({ ...good, signature })).to.deep.equal(FORGED);
      }
    });

    it("the signature of another secret, also under our key's id", async () => {
      const setup = setUp();
      setup.keyring.secretKey = "another secret of 32 characters .";
      const other = setup.sign();
      expect(await setUp().check(other)).to.deep.equal(FORGED);
      expect(await setUp().check({ ...other, key: fingerprint(SECRET) })).to.deep.equal(FORGED);
    });

    it("a signature moved between key and end", async () => {
      const { urls } = setUp();
      const parameters = { ...parse(urls.sign("a", { ttlMs: 0 })), expires: "1" };
      expect(await urls.check({ audioKey: "a\n1", parameters })).to.deep.equal(FORGED);
    });

    it("a forged link, although it is expired too", async () => {
      const { check } = setUp();
      expect(await check({ ...good, expires: "1" })).to.deep.equal(FORGED);
      expect(await check({ ...good, expires: "1", signature: "" })).to.deep.equal(FORGED);
    });

    it("parameters given twice, or not at all", async () => {
      const { check } = setUp();
      const { expires, signature, key } = good;
      expect(await check({ expires: [expires, expires] })).to.deep.equal(FORGED);
      expect(await check({ signature: [signature] })).to.deep.equal(FORGED);
      expect(await check({ key: [key, key] })).to.deep.equal(FORGED);
      expect(await check({ expires: undefined, signature: undefined })).to.deep.equal(FORGED);
      expect(await check({ expires: Number(expires) })).to.deep.equal(FORGED);
    });
  });
});

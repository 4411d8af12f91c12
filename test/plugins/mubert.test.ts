import { expect } from "chai";
import {
  type Completed,
  type MusicProvider,
  ProviderFailure,
  type ProviderModel,
} from "../../core/ports/music-provider.js";
import definition from "../../plugins/mubert/index.js";
import { musicProviderContract } from "../contract/music-provider.contract.js";
import { ManualClock } from "../support/doubles/manual-clock.js";
import {
  aMusicRequest,
  FakeApi,
  json,
  providerHost,
  settingsOf,
  text,
  tinyMp3,
} from "../support/provider-kit/index.js";
import {
  ACCESS_TOKEN,
  accepts,
  customer,
  CUSTOMERS,
  LICENSE_TOKEN,
  LICENSES,
  mubert,
  TRACK,
  track,
  TRACKS,
} from "./mubert-support.js";

musicProviderContract("mubert", mubert);

describe("mubert", () => {
  let fake: FakeApi;
  let clock: ManualClock;
  let provider: MusicProvider;
  beforeEach(async () => {
    fake = await FakeApi.open();
    clock = new ManualClock();
    provider = open();
    await accepts(fake);
  });
  afterEach(() => fake.close());

  const { signal } = new AbortController();
  const open = (settings: Record<string, string> = {}): MusicProvider =>
    definition.create(
      providerHost({
        clock,
        settings: settingsOf(definition, {
          companyId: "co1",
          licenseToken: LICENSE_TOKEN,
          baseUrl: `${fake.url}/`,
          ...settings,
        }),
      }),
    );
  const model = (parts: Partial<ProviderModel> = {}): ProviderModel => ({
    ...(definition.models[0] as ProviderModel),
    ...parts,
  });
  const submit = (by = provider): Promise<unknown> => by.submit(aMusicRequest(model(), { prompt: "rain" }), { signal });
  const poll = (customId = "fermata"): Promise<unknown> | undefined =>
    provider.poll?.({ version: 1, data: { trackId: "u1", customId } }, { signal });
  const failureOf = async (promise: Promise<unknown> | undefined): Promise<ProviderFailure> => {
    try {
      throw new Error(`Expected a failure, and got ${JSON.stringify(await promise)}`);
    } catch (error) {
      if (!ProviderFailure.is(error)) throw error;
      return error;
    }
  };

  describe("what is sent", () => {
    it("is the prompt with the model's options, by the customer", async () => {
      await provider.submit(aMusicRequest(model(), { prompt: "relaxing ambient", durationSeconds: 90 }), { signal });
      const [request] = fake.calls(TRACKS);
      expect(request?.json).to.deep.equal({
        prompt: "relaxing ambient",
        duration: 90,
        mode: "track",
        format: "mp3",
        bitrate: 320,
      });
      expect(request?.headers)
        .to.include({ "customer-id": "c1", "access-token": ACCESS_TOKEN })
        .and.not.have.property("license-token");
      const [asked] = fake.calls(CUSTOMERS);
      expect(asked?.json).to.deep.equal({ custom_id: "fermata" });
      expect(asked?.headers).to.include({ "company-id": "co1", "license-token": LICENSE_TOKEN });
    });

    it("always names a duration, and leaves to the licence what the options leave out", async () => {
      const of = model({ options: { intensity: "low" } });
      await provider.submit(aMusicRequest(of, { prompt: "rain", durationSeconds: null }), { signal });
      expect(fake.calls(TRACKS)[0]?.json).to.deep.equal({ prompt: "rain", duration: 60, intensity: "low" });
    });
  });

  describe("the customer's token", () => {
    it("is asked for once, and again shortly before it runs out", async () => {
      const expiresAt = clock.now() + 10 * 60_000;
      fake.on(CUSTOMERS.method, CUSTOMERS.path, customer("first-token", new Date(expiresAt).toISOString()));
      await submit();
      await submit();
      expect(fake.calls(CUSTOMERS)).to.have.lengthOf(1);
      fake.on(CUSTOMERS.method, CUSTOMERS.path, customer("second-token"));
      await clock.advance(9 * 60_000 - 1);
      await submit();
      expect(fake.calls(CUSTOMERS)).to.have.lengthOf(1);
      await clock.advance(1);
      await submit();
      expect(fake.calls(TRACKS).map(({ headers }) => headers["access-token"])).to.deep.equal([
        "first-token",
        "first-token",
        "first-token",
        "second-token",
      ]);
    });

    for (const { what, status, code } of [
      { what: "ran out before its time", status: 403, code: "AccessTokenExpired" },
      { what: "is refused", status: 401, code: "Unauthenticated" },
    ]) {
      it(`is requested again when it ${what}, by the next call`, async () => {
        await submit();
        fake.instead(TRACKS, json({ message: "no", code }, { status }));
        expect((await failureOf(submit())).providerCode).to.equal(code);
        expect(fake.calls(CUSTOMERS)).to.have.lengthOf(1);
        await submit();
        expect(fake.calls(CUSTOMERS)).to.have.lengthOf(2);
        expect(fake.calls(TRACKS)).to.have.lengthOf(3);
      });
    }

    it("is that of the customer whose track it is, also after the setting was changed", async () => {
      await track([{ status: "processing" }])(fake);
      await poll("earlier");
      expect(fake.calls(CUSTOMERS).map(({ json: body }) => body)).to.deep.equal([{ custom_id: "earlier" }]);
      expect(fake.calls(TRACK)[0]?.params).to.deep.equal({ id: "u1" });
    });

    it("stands in no failure and no handle", async () => {
      expect(JSON.stringify(await submit())).to.not.contain(ACCESS_TOKEN);
      fake.instead(TRACKS, ({ headers }) => text(JSON.stringify(headers), { status: 403 }));
      expect((await failureOf(submit())).message)
        .to.contain("***")
        .and.not.contain(ACCESS_TOKEN);
      fake.on(CUSTOMERS.method, CUSTOMERS.path, json({ data: { access: { token: ACCESS_TOKEN } } }));
      expect((await failureOf(submit(open()))).message).to.not.contain(ACCESS_TOKEN);
    });
  });

  describe("what comes of it", () => {
    const done = (url: string, expiredAt?: string, status = "done"): object => ({ status, url, expired_at: expiredAt });

    it("is a file with the end of its link, tempo and key", async () => {
      const url = fake.file(tinyMp3("one"));
      await track([done(url, "2026-12-01T00:00:00.000000Z")])(fake);
      const { tracks } = (await poll()) as Completed;
      expect(tracks[0]?.assets[0]?.source).to.deep.equal({
        kind: "url",
        url,
        expiresAt: Date.parse("2026-12-01T00:00:00Z"),
      });
      expect(tracks[0]).to.include({ bpm: 92 });
      expect(tracks[0]?.tags).to.deep.equal({ mood: [], activity: [], genre: [], other: ["c#m"] });
    });

    it("is gone when its link is dead, and there again as soon as a poll brings a fresh one", async () => {
      const [dead, fresh] = [fake.file(tinyMp3("one")), fake.file(tinyMp3("one"))];
      const after = (ms: number): string => new Date(clock.now() + ms).toISOString();
      await track([done(dead, after(900_000))])(fake);
      expect(await poll()).to.include({ state: "completed" });
      await clock.advance(900_000);
      expect((await failureOf(poll())).kind).to.equal("gone");
      await track([done(fresh, after(900_000))])(fake);
      const source = { kind: "url", url: fresh, expiresAt: clock.now() + 900_000 };
      expect(((await poll()) as Completed).tracks[0]?.assets[0]?.source).to.deep.equal(source);
    });

    it("has no end of the link where the time names no zone", async () => {
      const url = fake.file(tinyMp3("one"));
      for (const time of ["2020-01-01 00:00:00", "soon Z", undefined]) {
        await track([done(url, time)])(fake);
        expect(((await poll()) as Completed).tracks[0]?.assets[0]?.source).to.deep.equal({ kind: "url", url });
      }
    });

    it("is what there is, when one of several failed or its link is dead", async () => {
      const living = fake.file(tinyMp3("one"));
      await track([
        { status: "failed", url: null },
        done(fake.file(tinyMp3("two")), "2020-01-01T00:00:00Z"),
        done(living),
      ])(fake);
      const { tracks } = (await poll()) as Completed;
      expect(tracks.map(({ assets: [mix] }) => mix?.source)).to.deep.equal([{ kind: "url", url: living }]);
    });

    it("is done under the word of their example too, and runs while there is no generation", async () => {
      await track([done(fake.file(tinyMp3("one")), undefined, "completed")])(fake);
      expect(await poll()).to.include({ state: "completed" });
      for (const none of [[], null]) {
        await track(none)(fake);
        expect(await poll()).to.deep.equal({ state: "running", nextPollMs: 5_000 });
      }
    });
  });

  it("warns of a licence that is not active", async () => {
    fake.on(
      LICENSES.method,
      LICENSES.path,
      json({
        data: [
          { id: "l1", status: "active" },
          { id: "l2", status: "inactive" },
        ],
      }),
    );
    expect(await provider.probe?.({ signal })).to.deep.equal({
      credit: null,
      warnings: ["The licence l2 is inactive."],
    });
  });

  it("does not start with a customer's name that Mubert does not take", () => {
    expect(() => open({ customId: "a b" })).to.throw('customId: "a b"; allowed: 1 to 255 letters, digits and . _ @ -');
  });

  it("names what is wrong with a model of the operator's", () => {
    const wrong = (parts: Partial<ProviderModel>): string | null | undefined => definition.checkModel?.(model(parts));
    expect(wrong({ options: { mode: "mix", intensity: "high", format: "wav", bitrate: 96 } })).to.equal(null);
    expect(wrong({ options: { bitrate: 100 } })).to.equal(
      "has another options.bitrate than 32, 96, 128, 192, 256, 320",
    );
    expect(wrong({ options: { bpm: 90 } })).to.equal("has options.bpm; allowed: mode, intensity, format, bitrate");
    expect(wrong({ duration: null })).to.match(/^needs a `duration` of at least 5/);
    expect(wrong({ duration: { minSeconds: 4, maxSeconds: 60, defaultSeconds: 30 } })).to.match(
      /^needs a `duration` of at least 5/,
    );
    expect(wrong({ promptMaxLength: 256 })).to.equal("needs a `promptMaxLength` of at most 255");
    expect(wrong({ supportsLyrics: true })).to.match(/^has `supportsLyrics`/);
  });
});

import { expect } from "chai";
import { TrackNotFoundError } from "../../core/errors.js";
import type { ProviderLyrics } from "../../core/ports/music-provider.js";
import { dataOf, errorOf, refusalOf } from "../support/api-client.js";
import { type SubmitBehaviour, submitCompletes, SCRIPTED_TRACK } from "../support/doubles/scripted-provider.js";
import { LibraryFixture, SILENCE_WAV, UNHEARD, unsigned } from "../support/library-fixture.js";
import { startTestApp, type TestApp } from "../support/test-app.js";

const PATH = "/api/v1/tracks";

describe("GET /api/v1/tracks/{id}", () => {
  let test: TestApp;
  let library: LibraryFixture;
  before(async () => {
    test = await startTestApp({ ...UNHEARD, work: true });
    library = await LibraryFixture.open(test.app);
  });
  after(async () => {
    await library.close();
    await test.close();
  });

  it("returns exactly the fields of a track", async () => {
    const { account, api } = await test.account();
    const { rain: id } = await library.add(account.id, {
      rain: { title: "Rain", artist_label: "Nightingale", bpm: 96.4 },
    });
    const track = dataOf(await api.get(`${PATH}/${id}`));
    expect(Object.keys(track)).to.deep.equal([
      "id",
      "title",
      "artist_label",
      "bpm",
      "duration",
      "play_url",
      "share_url",
      "thumbnail_url",
      "preview_audio_url",
    ]);
    expect(track).to.include({ id, title: "Rain", artist_label: "Nightingale", bpm: 96, share_url: null });
    expect(track["play_url"]).to.match(new RegExp(`^${test.url}/audio/.+\\.wav\\?expires=\\d+&signature=`));
  });

  it("links to the audio, which needs no key and answers Range requests", async () => {
    const { account, api } = await test.account();
    const { rain } = await library.add(account.id, { rain: {} });
    const { play_url: link } = dataOf<{ play_url: string }>(await api.get(`${PATH}/${rain}`));
    const played = await fetch(link);
    expect([played.status, played.headers.get("content-type")]).to.deep.equal([200, "audio/wav"]);
    expect(SILENCE_WAV.equals(Buffer.from(await played.arrayBuffer()))).to.equal(true);
    const part = await fetch(link, { headers: { Range: "bytes=0-3" } });
    expect([part.status, await part.text()]).to.deep.equal([206, "RIFF"]);
  });

  it("returns a track without audio without play_url and duration", async () => {
    const { account, api } = await test.account();
    const { rain } = await library.add(account.id, { rain: { hasAudio: false } });
    expect(dataOf(await api.get(`${PATH}/${rain}`))).to.include({ title: "rain", play_url: null, duration: null });
  });

  it("returns the tracks of a generation as the generation does", async () => {
    const { api } = await test.account();
    const { id } = dataOf<{ id: string }>(await api.generate(undefined, { Prefer: "wait=20" }));
    const { tracks } = dataOf<{ tracks: { id: string }[] }>(await api.get(`/api/v1/generations/${id}`));
    expect(tracks).to.have.length(1);
    expect(unsigned(dataOf(await api.get(`${PATH}/${tracks[0]?.id}`)))).to.deep.equal(unsigned(tracks[0] ?? {}));
  });

  describe("for a provider that returns lyrics", () => {
    const words = [
      { text: "Rain", startSeconds: 1.25, endSeconds: 1.5 },
      { text: "on", startSeconds: 1.5, endSeconds: 1.7 },
    ];
    const sing =
      (...lyrics: readonly (ProviderLyrics | undefined)[]): SubmitBehaviour =>
      () =>
        Promise.resolve({
          state: "completed",
          tracks: lyrics.map((one) => ({ ...SCRIPTED_TRACK, ...(one === undefined ? {} : { lyrics: one }) })),
        });

    afterEach(() => {
      test.provider.behaviour = submitCompletes;
    });

    it("returns them, with word times if any, in the track only", async () => {
      test.provider.behaviour = sing({ text: "[Verse]\nRain on", words }, { text: "Rain" }, undefined);
      const { api } = await test.account();
      const { id } = dataOf<{ id: string }>(await api.generate(undefined, { Prefer: "wait=20" }));
      const { tracks } = dataOf<{ tracks: { id: string }[] }>(await api.get(`/api/v1/generations/${id}`));
      const singles = await Promise.all(tracks.map(async (track) => dataOf(await api.get(`${PATH}/${track.id}`))));
      expect(singles.map((single) => single["lyrics"])).to.deep.equal([
        {
          text: "[Verse]\nRain on",
          words: [
            { text: "Rain", start: 1.25, end: 1.5 },
            { text: "on", start: 1.5, end: 1.7 },
          ],
        },
        { text: "Rain", words: null },
        undefined,
      ]);
      expect(singles[2]).to.not.have.property("lyrics");
      const found = dataOf<{ tracks: object[] }>(await api.get("/api/v1/library/search?q=rain"));
      for (const listed of [...tracks, ...found.tracks]) expect(listed).to.not.have.property("lyrics");
    });

    it("returns them to the embedding app, and only to accounts that may see the track", async () => {
      test.provider.behaviour = sing({ text: "Rain on", words });
      const [alice, bob] = [await test.account(), await test.account()];
      const { id } = dataOf<{ id: string }>(await alice.api.generate(undefined, { Prefer: "wait=20" }));
      const { tracks } = dataOf<{ tracks: { id: string }[] }>(await alice.api.get(`/api/v1/generations/${id}`));
      const trackId = tracks[0]?.id ?? "";
      const { read, manage } = test.app.library;
      const found = await read.trackWithLyrics(alice.account.id, trackId);
      expect(found.lyrics).to.deep.equal({ text: "Rain on", words });
      expect(found.track).to.deep.equal(await read.track(alice.account.id, trackId));
      expect(await manage.trackWithLyrics(trackId)).to.deep.equal(found);
      expect(refusalOf(await bob.api.get(`${PATH}/${trackId}`))).to.equal("404 track_not_found");
      for (const look of [
        () => read.trackWithLyrics(bob.account.id, trackId),
        () => manage.trackWithLyrics(trackId, { owner: bob.account.id }),
      ])
        expect(await look().catch((error: unknown) => error)).to.be.instanceOf(TrackNotFoundError);
    });
  });

  it("returns public tracks to every account", async () => {
    const [alice, bob] = [await test.account(), await test.account()];
    const { open } = await library.add(alice.account.id, { open: { visibility: "public" } });
    const { ownerless } = await library.add(null, { ownerless: {} });
    for (const id of [open, ownerless]) {
      for (const { api } of [alice, bob]) expect(dataOf(await api.get(`${PATH}/${id}`))).to.include({ id });
    }
  });

  it("returns the same 404 for unknown tracks and for those of other accounts", async () => {
    const [alice, bob] = [await test.account(), await test.account()];
    const { hidden = "" } = await library.add(alice.account.id, { hidden: {} });
    expect((await alice.api.get(`${PATH}/${hidden}`)).status).to.equal(200);
    const unknown = "trk_01m7ysy25j6pcsftb5nnfsysak";
    const { message } = errorOf(await bob.api.get(`${PATH}/${unknown}`));
    for (const id of [
      hidden,
      unknown,
      "trk_",
      hidden.toUpperCase(),
      `${hidden}%20`,
      "%00",
      "🎵",
      "pls_01m7ysy25j6pcsftb5nnfsysak",
    ]) {
      const response = await bob.api.get(`${PATH}/${id}`);
      expect(refusalOf(response), id).to.equal("404 track_not_found");
      expect(errorOf(response).message, id).to.equal(message);
    }
  });

  it("returns the share URL to accounts that may see the track; sharing does not change visibility", async () => {
    const [alice, bob] = [await test.account(), await test.account()];
    const { rain = "" } = await library.add(alice.account.id, { rain: {} });
    const shareUrl = async (): Promise<unknown> => dataOf(await alice.api.get(`${PATH}/${rain}`))["share_url"];
    await test.app.library.manage.share(rain);
    const first = await shareUrl();
    expect(first).to.match(new RegExp(`^${test.url}/share/[0-9A-Za-z]{22}$`));
    await test.app.library.manage.share(rain);
    expect(await shareUrl(), "shared again").to.equal(first);
    expect(refusalOf(await bob.api.get(`${PATH}/${rain}`))).to.equal("404 track_not_found");
    await test.app.library.manage.unshare(rain);
    expect(await shareUrl()).to.equal(null);
    await test.app.library.manage.share(rain);
    expect(await shareUrl())
      .to.be.a("string")
      .and.not.equal(first);
  });

  it("counts as a read and is never cached", async () => {
    const { account, api } = await test.account();
    const { rain } = await library.add(account.id, { rain: {} });
    for (const id of [rain, "trk_x"]) {
      const { headers } = await api.get(`${PATH}/${id}`);
      expect(headers.get("ratelimit")).to.match(/^"read-minute";r=\d+;/);
      expect(headers.get("cache-control")).to.equal("no-store");
    }
  });

  it("requires the scope library:read", async () => {
    const [other, reader] = [
      await test.account({ scopes: ["generations:read"] }),
      await test.account({ scopes: ["library:read"] }),
    ];
    expect(refusalOf(await other.api.get(`${PATH}/trk_x`))).to.equal("403 insufficient_scope");
    expect(refusalOf(await reader.api.get(`${PATH}/trk_x`))).to.equal("404 track_not_found");
    expect(refusalOf(await test.anonymous.get(`${PATH}/trk_x`))).to.equal("401 authentication_required");
  });
});

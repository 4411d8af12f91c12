import { expect } from "chai";
import { InvalidRequestError, PlaylistNotFoundError, TrackNotFoundError } from "../../../core/errors.js";
import type { AccountId } from "../../../core/ids.js";
import { FOUND_PLACE } from "../../../core/library/search-cursor.js";
import { textsOfTitle, textsOfTrack } from "../../../core/library/search-texts.js";
import type { Playlist } from "../../../core/library/playlist.js";
import type { Track } from "../../../core/library/track.js";
import { anAsset, anId, aPlaylist, aTrack, NOON } from "../../support/builders.js";
import { type MemoryCore, memoryCore } from "../../support/memory-core.js";

const failure = (work: Promise<unknown>): Promise<unknown> => work.catch((error: unknown) => error);

describe("The library as a viewer sees it", () => {
  let memory: MemoryCore;
  let viewer: AccountId;
  beforeEach(async () => {
    memory = await memoryCore();
    viewer = (await memory.storage.addAccount()).id;
  });
  const insert = (tracks: readonly Track[], playlists: readonly Playlist[] = []): Promise<void> =>
    memory.storage.inTransaction(async (tx) => {
      await memory.storage.library.insertTracks(tx, tracks);
      await memory.storage.library.insertPlaylists(tx, playlists);
    });
  const library = () => memory.core.library.read;

  it("has tracks of its own and public ones, with their lyrics", async () => {
    const [own, shared, theirs] = [aTrack({ accountId: viewer }), aTrack({ visibility: "public" }), aTrack()];
    await insert([{ ...own, lyrics: { text: "la", words: null } } as Track, shared, theirs]);
    for (const { id } of [own, shared]) expect(await library().track(viewer, id)).to.include({ id });
    expect(await library().trackWithLyrics(viewer, own.id)).to.deep.include({ lyrics: { text: "la", words: null } });
    expect(await library().trackWithLyrics(viewer, shared.id)).to.deep.include({ lyrics: null });
    for (const id of [theirs.id, anId("trk"), "nonsense"])
      expect(await failure(library().track(viewer, id))).to.be.instanceOf(TrackNotFoundError);
  });

  it("has playlists of its own and public ones, with those of their tracks that it may see", async () => {
    const [own, theirs] = [aTrack({ accountId: viewer }), aTrack()];
    const list = aPlaylist({ accountId: viewer, trackIds: [theirs.id, own.id, anId("trk")] });
    const shared = aPlaylist({ visibility: "public", trackIds: [theirs.id], createdAt: NOON + 1 });
    const hidden = aPlaylist();
    await insert([own, theirs], [list, shared, hidden]);
    const { playlist, tracks } = await library().playlist(viewer, list.id);
    expect([playlist.id, tracks.map(({ id }) => id)]).to.deep.equal([list.id, [own.id]]);
    for (const id of [hidden.id, anId("pls"), "nonsense"])
      expect(await failure(library().playlist(viewer, id))).to.be.instanceOf(PlaylistNotFoundError);
    const seen = async (by: AccountId | null) => (await library().playlists(by)).map((one) => one.playlist.id);
    expect(await seen(viewer)).to.deep.equal([shared.id, list.id]);
    expect(await seen(null)).to.deep.equal([shared.id]);
  });

  it("has pages of playlists, whose cursors are of the viewer", async () => {
    const lists = [3, 2, 1].map((age) => aPlaylist({ accountId: viewer, createdAt: NOON - age })).toReversed();
    await insert([], lists);
    const first = await library().playlistPage(viewer, { limit: 2 });
    expect(first.items.map(({ playlist }) => playlist.id)).to.deep.equal(lists.slice(0, 2).map(({ id }) => id));
    const cursor = first.next ?? undefined;
    const rest = await library().playlistPage(viewer, { limit: 2, cursor });
    expect([rest.items.map(({ playlist }) => playlist.id), rest.next]).to.deep.equal([[lists[2]?.id], null]);
    expect(await failure(library().playlistPage(anId("acct"), { cursor }))).to.be.instanceOf(InvalidRequestError);
    expect((await library().playlistPage(viewer)).items).to.have.length(3);
  });

  it("is searched by pages, in tracks and playlists alike", async () => {
    const tracks = Array.from({ length: 5 }, (_, index) =>
      aTrack({ accountId: viewer, title: `Quiet rain ${index}`, createdAt: NOON + index }),
    );
    const lists = [0, 1, 2].map((index) =>
      aPlaylist({ accountId: viewer, title: "Rain, quiet", createdAt: NOON + index }),
    );
    await insert([...tracks, aTrack({ accountId: viewer, title: "Thunder" }), aTrack({ title: "Quiet rain" })], lists);
    const found: string[] = [];
    let cursor: string | undefined;
    for (let pages = 0; pages < 5; pages++) {
      const page = await library().search(viewer, {
        q: pages === 0 ? "quiet rain" : "rain quiet",
        limit: 2,
        cursor,
      });
      found.push(...page.tracks.map(({ id }) => id), ...page.playlists.map(({ playlist }) => playlist.id));
      if (page.next === null) break;
      cursor = page.next;
    }
    expect(new Set(found)).to.deep.equal(new Set([...tracks, ...lists].map(({ id }) => id)));
    expect(found).to.have.length(8);
    const other = library().search(viewer, { q: "thunder", cursor });
    expect(await failure(other)).to.be.instanceOf(InvalidRequestError);
    const whole = await library().search(viewer, { q: "thunder" });
    expect([whole.tracks.length, whole.playlists, whole.next]).to.deep.equal([1, [], null]);
    expect((await library().search(viewer)).tracks).to.have.length(6);
  });
});

describe("What is searched of a track", () => {
  it("is each word in the best place that it has, once", () => {
    const texts = textsOfTrack({
      ...aTrack({
        title: "Rain rain on tin",
        artistLabel: "Tin Nightingale",
        prompt: "slow rain and thunder",
        tags: { mood: ["Calm", "calm", ""], activity: ["Sleep"], genre: ["ambient rain"], other: ["tin"] },
      }),
    });
    expect(texts).to.deep.equal({
      title: ["rain", "on", "tin"],
      label: ["nightingale", "calm", "sleep", "ambient"],
      prompt: ["slow", "and", "thunder"],
      moods: ["calm"],
      activities: ["sleep"],
    });
    expect(textsOfTrack(aTrack({ prompt: null }))?.prompt).to.deep.equal([]);
  });

  it("is nothing of a track that cannot be played", () => {
    expect(textsOfTrack(aTrack({ assets: [anAsset({ role: "stem" })] }))).to.equal(null);
    expect(textsOfTrack(aTrack({ assets: [anAsset({ role: "stem" }), anAsset()] }))).not.to.equal(null);
  });

  it("is the title alone of a playlist", () => {
    expect(textsOfTitle("Rain, rain go")).to.deep.equal({
      ...{ title: ["rain", "go"], label: [], prompt: [], moods: [], activities: [] },
    });
  });
});

describe("A place in a search", () => {
  const track = { rank: 2, createdAt: NOON, id: anId("trk") };
  const playlist = { rank: 0, createdAt: NOON, id: anId("pls") };

  it("is a place in each of both, or that all was shown", () => {
    for (const place of [
      { tracks: track, playlists: playlist },
      { tracks: null, playlists: playlist },
      { tracks: track, playlists: null },
    ])
      expect(FOUND_PLACE.fromParts(FOUND_PLACE.toParts(place))).to.deep.equal(place);
    expect(FOUND_PLACE.toParts({ tracks: undefined, playlists: null })).to.deep.equal(Array(6).fill(null));
  });

  it("is none of another form", () => {
    const parts = FOUND_PLACE.toParts({ tracks: track, playlists: playlist });
    for (let index = 0; index < 6; index++) {
      for (const wrong of [null, 0.5, "x", undefined]) {
        const changed = parts.map((part, at) => (at === index ? wrong : part));
        expect(FOUND_PLACE.fromParts(changed), `${index} ${wrong}`).to.equal(null);
      }
    }
    const swapped = [...parts.slice(3), ...parts.slice(0, 3)];
    expect(FOUND_PLACE.fromParts(swapped)).to.equal(null);
  });
});

import { expect } from "chai";
import type { JobId, TrackId } from "../../../core/ids.js";
import type { Track, TrackAsset } from "../../../core/library/track.js";
import { anAsset, anId, aTrack } from "../../support/builders.js";
import type { StorageWith } from "../../support/storage-under-test.js";

export function libraryTracks(opened: () => StorageWith<"library">): void {
  const add = (...tracks: readonly Track[]): Promise<void> =>
    opened().inTransaction((tx) => opened().library.insertTracks(tx, tracks));
  const ofJobs = (...ids: readonly JobId[]): Promise<Map<JobId, Track[]>> => opened().library.tracksOfJobs(ids);
  const find = async (id: TrackId): Promise<Track | undefined> => (await opened().library.findTracks([id])).get(id);
  const share = (id: TrackId, token: string): Promise<string | null> =>
    opened().inTransaction((tx) => opened().library.shareTrack(tx, id, token));
  const unshare = (id: TrackId): Promise<boolean> =>
    opened().inTransaction((tx) => opened().library.unshareTrack(tx, id));

  it("stores every member, tags and assets in order", async () => {
    const jobId = anId("job");
    const track = aTrack({
      jobId,
      title: "Ä 🎼 “Regen”",
      bpm: 92.5,
      prompt: "line\nbreak",
      visibility: "public",
      tags: { mood: ["warm", "calm"], activity: [], genre: ["lo-fi", "ambient", "lo-fi"], other: ["no vocals"] },
      assets: [
        anAsset({ durationSeconds: 29.987 }),
        anAsset({ role: "stem", label: "vocals", contentType: "audio/wav", sizeBytes: 0, durationSeconds: null }),
        anAsset({ role: "cover", contentType: "image/png", durationSeconds: null }),
      ],
      waveform: Uint8Array.from({ length: 400 }, (_, index) => index % 256),
      shareToken: `${anId("trk")}_-Az09`,
    });
    await add(track);
    expect((await ofJobs(jobId)).get(jobId)).to.deep.equal([track]);
    expect(await find(track.id)).to.deep.equal(track);
  });

  it("reads a track under a lock, whole, and nothing of an unknown one", async () => {
    const track = aTrack({ assets: [anAsset(), anAsset({ role: "cover" })] });
    await add(track);
    await opened().inTransaction(async (tx) => {
      expect(await opened().library.lockTrack(tx, track.id)).to.deep.equal(track);
      expect(await opened().library.lockTrack(tx, anId("trk"))).to.equal(null);
    });
  });

  it("stores a track without any optional member", async () => {
    const jobId = anId("job");
    const track = aTrack({ jobId, accountId: null, bpm: null, prompt: null, assets: [] });
    const silent = aTrack({ waveform: new Uint8Array() });
    await add(track, silent);
    expect((await ofJobs(jobId)).get(jobId)).to.deep.equal([track]);
    expect(await find(silent.id)).to.deep.equal(silent);
  });

  it("returns the tracks of several jobs, each in the order of positions", async () => {
    const [one, two, none] = [anId("job"), anId("job"), anId("job")];
    const tracks = [2, 0, 1].map((position) =>
      aTrack({ jobId: one, position, tags: { mood: [`m${position}`], activity: [], genre: [], other: [] } }),
    );
    const other = aTrack({ jobId: two });
    await add(...tracks, other, aTrack());
    const found = await ofJobs(two, none, one, two);
    expect([...found.keys()]).to.have.members([one, two]);
    expect(found.get(one)).to.deep.equal([tracks[1], tracks[2], tracks[0]]);
    expect(found.get(two)).to.deep.equal([other]);
  });

  it("returns what generations show of the tracks of jobs, with the files that are linked to", async () => {
    const [one, two, none] = [anId("job"), anId("job"), anId("job")];
    const mix = anAsset({ durationSeconds: 29.987 });
    const cover = anAsset({ role: "cover", contentType: "image/png", durationSeconds: null });
    const preview = anAsset({ role: "preview" });
    const stem = anAsset({ role: "stem", label: "vocals" });
    const second = aTrack({ jobId: one, position: 1, bpm: 92.5, assets: [stem, mix, preview, cover] });
    const first = aTrack({ jobId: one, position: 0, assets: [stem], shareToken: `${anId("trk")}_-Az09` });
    const other = aTrack({ jobId: two, assets: [] });
    await add(second, first, other, aTrack());
    const shown = ({ id, title, artistLabel, bpm, shareToken, linkGeneration }: Track, ...assets: TrackAsset[]) => ({
      ...{ id, title, artistLabel, bpm, shareToken, linkGeneration },
      assets: assets.map(({ role, audioKey, durationSeconds }) => ({ role, audioKey, durationSeconds })),
    });
    expect(await opened().library.shownTracksOfJobs([two, none, one, two])).to.deep.equal(
      new Map([
        [one, [shown(first), shown(second, mix, preview, cover)]],
        [two, [shown(other)]],
      ]),
    );
    expect((await opened().library.shownTracksOfJobs([])).size).to.equal(0);
  });

  it("returns which audio keys belong to files of tracks of any account, byte by byte", async () => {
    const mix = anAsset({ audioKey: `${anId("job")}/1/0-mix.mp3` });
    const stem = anAsset({ role: "stem", label: "vocals", audioKey: `${anId("trk")}/vocals.wav` });
    await add(aTrack({ assets: [mix, stem] }), aTrack({ accountId: null, assets: [anAsset()] }));
    const named = (...keys: readonly string[]): Promise<Set<string>> => opened().library.namedAudioKeys(keys);
    const others = [`${mix.audioKey}.bak`, mix.audioKey.slice(0, -1), mix.audioKey.replaceAll("/", "_")];
    const found = await named(stem.audioKey, ...others, mix.audioKey, mix.audioKey);
    expect(found).to.deep.equal(new Set([stem.audioKey, mix.audioKey]));
    expect(await named(...others)).to.deep.equal(new Set());
    expect(await named()).to.deep.equal(new Set());
    const many = Array.from({ length: 1_200 }, (_, index) => `job_none/${index}.mp3`);
    expect(await named(...many, mix.audioKey)).to.deep.equal(new Set([mix.audioKey]));
  });

  it("accepts any number of imported tracks, which have no job", async () => {
    const tracks = [aTrack({ jobId: null }), aTrack({ jobId: null })];
    await add(...tracks);
    for (const track of tracks) expect(await find(track.id)).to.deep.equal(track);
  });

  it("refuses a second track at the same position of a job, and stores none of its batch", async () => {
    const [jobId, otherJobId] = [anId("job"), anId("job")];
    const first = aTrack({ jobId });
    await add(first);
    const again = [aTrack({ jobId: otherJobId }), aTrack({ jobId })];
    expect(await add(...again).catch((error: unknown) => error)).to.be.instanceOf(Error);
    expect([...(await ofJobs(jobId, otherJobId))]).to.deep.equal([[jobId, [first]]]);
  });

  it("accepts empty lists", async () => {
    await add();
    expect((await ofJobs()).size).to.equal(0);
    expect((await opened().library.findTracks([])).size).to.equal(0);
  });

  it("stores and returns more than a thousand tracks at once, and omits unknown ones", async () => {
    const tracks = Array.from({ length: 1_111 }, (_, index) =>
      aTrack({
        tags: { mood: [`m${index}`, "x"], activity: [], genre: [], other: [] },
        assets: [anAsset(), anAsset({ role: "preview" })],
      }),
    );
    await add(...tracks);
    const ids = [...tracks.map(({ id }) => id), anId("trk")].reverse();
    const found = await opened().library.findTracks([...ids, ...ids]);
    expect(found.size).to.equal(1_111);
    for (const track of tracks) expect(found.get(track.id)).to.deep.equal(track);
  });

  it("finds a shared track by its exact token, until it is unshared", async () => {
    const track = aTrack();
    const token = `Token-${anId("trk")}`;
    await add(track);
    expect(await opened().library.findSharedTrack(token)).to.equal(null);
    expect(await share(track.id, token)).to.equal(token);
    expect(await opened().library.findSharedTrack(token)).to.deep.equal({ ...track, shareToken: token });
    expect(await opened().library.findSharedTrack(token.toLowerCase())).to.equal(null);
    expect([await unshare(track.id), await unshare(track.id)]).to.deep.equal([true, true]);
    expect(await opened().library.findSharedTrack(token)).to.equal(null);
    expect(await find(track.id)).to.deep.equal({ ...track, linkGeneration: 1 });
  });

  it("raises the generation of a track's links when a token is removed, and only then", async () => {
    const assets = [anAsset(), anAsset({ role: "cover", contentType: "image/png" })];
    const track = aTrack({ assets, linkGeneration: 4 });
    const other = aTrack({ assets: [anAsset()] });
    await add(track, other);
    const generations = (): Promise<(number | null)[]> =>
      Promise.all([...track.assets, ...other.assets].map(({ audioKey }) => opened().library.linkGeneration(audioKey)));
    expect(await generations()).to.deep.equal([4, 4, 0]);
    await unshare(track.id);
    expect(await generations()).to.deep.equal([4, 4, 0]);
    for (const expected of [5, 6]) {
      await share(track.id, anId("trk"));
      expect(await generations()).to.deep.equal([expected - 1, expected - 1, 0]);
      await unshare(track.id);
      expect(await generations()).to.deep.equal([expected, expected, 0]);
    }
    expect((await find(track.id))?.linkGeneration).to.equal(6);
    expect(await opened().library.linkGeneration("no/such-file.mp3")).to.equal(null);
  });

  it("shares one track under a token, and no unknown one", async () => {
    const [track, other] = [aTrack(), aTrack()];
    const token = anId("trk");
    await add(track, other);
    await share(track.id, token);
    expect(await share(other.id, token).catch((error: unknown) => error)).to.be.instanceOf(Error);
    expect(await find(other.id)).to.deep.equal(other);
    expect([await share(anId("trk"), anId("trk")), await unshare(anId("trk"))]).to.deep.equal([null, false]);
  });

  it("keeps the token of a shared track, and returns it", async () => {
    const track = aTrack();
    const [first, second] = [anId("trk"), anId("trk")];
    await add(track);
    expect([await share(track.id, first), await share(track.id, second), await share(track.id, first)]).to.deep.equal([
      first,
      first,
      first,
    ]);
    expect(await opened().library.findSharedTrack(second)).to.equal(null);
    await unshare(track.id);
    expect(await share(track.id, second)).to.equal(second);
  });

  it("gives a track one token, however many share it at once", async () => {
    const track = aTrack();
    await add(track);
    const tokens = await Promise.all(Array.from({ length: 8 }, () => share(track.id, anId("trk"))));
    expect(new Set(tokens)).to.deep.equal(new Set([(await find(track.id))?.shareToken]));
    expect((await opened().library.findSharedTrack(tokens[0] ?? ""))?.id).to.equal(track.id);
  });
}

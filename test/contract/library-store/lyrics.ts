import { expect } from "chai";
import type { Lyrics, NewTrack } from "../../../core/library/lyrics.js";
import { anId, aTrack } from "../../support/builders.js";
import type { StorageWith } from "../../support/storage-under-test.js";

const RAIN: Lyrics = {
  text: "[Vers]\nRegen 🎼 auf „Blech“\n\nA'\\b",
  words: [
    { text: "Regen", startSeconds: 0, endSeconds: 0.402 },
    { text: "🎼", startSeconds: 0.402, endSeconds: 0.402 },
    { text: `"auf"`, startSeconds: 59.999, endSeconds: 86_400 },
  ],
};

/** The largest that one result may have: {@link RAIN} has the usual size. */
const LONGEST: Lyrics = {
  text: "ä".repeat(50_000),
  words: Array.from({ length: 10_000 }, (_, index) => ({
    text: "ä'\\\"",
    startSeconds: index + 0.001,
    endSeconds: index + 0.999,
  })),
};

export function libraryLyrics(opened: () => StorageWith<"library">): void {
  const add = (...tracks: readonly NewTrack[]): Promise<void> =>
    opened().inTransaction((tx) => opened().library.insertTracks(tx, tracks));

  it("are stored with a track, with and without word times", async () => {
    const [timed, plain] = [aTrack(), aTrack()];
    const text = { text: "Rain", words: null };
    await add({ ...timed, lyrics: RAIN }, { ...plain, lyrics: text });
    expect(await opened().library.findLyrics(timed.id)).to.deep.equal(RAIN);
    expect(await opened().library.findLyrics(plain.id)).to.deep.equal(text);
  });

  it("are empty for a track without lyrics, and for an unknown track", async () => {
    const [silent, old] = [aTrack(), aTrack()];
    await add({ ...silent, lyrics: null }, old);
    for (const id of [silent.id, old.id, anId("trk")]) expect(await opened().library.findLyrics(id)).to.equal(null);
  });

  it("are not read with tracks", async () => {
    const jobId = anId("job");
    const track = aTrack({ jobId });
    await add({ ...track, lyrics: RAIN });
    const { library } = opened();
    expect((await library.findTracks([track.id])).get(track.id)).to.deep.equal(track);
    expect((await library.tracksOfJobs([jobId])).get(jobId)).to.deep.equal([track]);
  });

  it("are stored for many tracks at once, however long they are", async () => {
    const tracks = Array.from({ length: 12 }, () => ({ ...aTrack(), lyrics: LONGEST }));
    await add(...tracks);
    for (const { id } of tracks) expect(await opened().library.findLyrics(id)).to.deep.equal(LONGEST);
  });

  it("are not stored without their track", async () => {
    const track = aTrack();
    const failing = opened().inTransaction(async (tx) => {
      await opened().library.insertTracks(tx, [{ ...track, lyrics: RAIN }]);
      throw new Error("no");
    });
    expect(await failing.catch((error: unknown) => (error as Error).message)).to.equal("no");
    expect(await opened().library.findLyrics(track.id)).to.equal(null);
  });
}

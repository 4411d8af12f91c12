import { setImmediate as nextTurn } from "node:timers/promises";
import { expect } from "chai";
import { presentPlaylists } from "../../../adapters/http/presenters/playlist.js";
import type { TrackLinks } from "../../../adapters/http/presenters/track.js";
import type { PlaylistWithTracks } from "../../../core/library/read-library.js";
import { aPlaylist, aTrack } from "../../support/builders.js";

describe("Playlists as they are shown", () => {
  let signed: number;
  const links: TrackLinks = {
    audioUrls: { sign: (key) => `signed ${key} ${(signed += 1)}` },
    shareUrls: { urlOf: () => null },
  };
  const holding = (count: number): PlaylistWithTracks => ({
    playlist: aPlaylist(),
    tracks: Array.from({ length: count }, () => aTrack()),
  });
  beforeEach(() => (signed = 0));

  it("sign a track once, in however many playlists it is", async () => {
    const tracks = [aTrack(), aTrack()];
    const shown = await presentPlaylists(
      [
        { playlist: aPlaylist(), tracks },
        { playlist: aPlaylist(), tracks },
      ],
      links,
    );
    expect(signed).to.equal(2);
    expect(shown[0]?.tracks).to.deep.equal(shown[1]?.tracks);
  });

  it("let others have their turn after every 500 tracks or so", async () => {
    const signedBefore: number[] = [];
    const watching = (async () => {
      for (let turn = 0; turn < 2; turn++) {
        await nextTurn();
        signedBefore.push(signed);
      }
    })();
    const found = [holding(400), holding(400), holding(500), holding(10)];
    const shown = await presentPlaylists(found, links);
    await watching;
    expect(signedBefore).to.deep.equal([800, 1_300]);
    expect(shown.map(({ id, track_count }) => [id, track_count])).to.deep.equal(
      found.map(({ playlist, tracks }) => [playlist.id, tracks.length]),
    );
  });
});

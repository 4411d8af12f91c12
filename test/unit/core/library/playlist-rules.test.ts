import { expect } from "chai";
import { InputRefusedError, OperationRefusedError } from "../../../../core/errors.js";
import { maySee } from "../../../../core/library/access.js";
import { PLAYLIST_TRACKS_MAX } from "../../../../core/library/playlist.js";
import {
  broughtTracks,
  changedTracks,
  checkHeld,
  checkPlaylist,
  checkPlaylistCount,
  type PlaylistChanges,
} from "../../../../core/library/playlist-rules.js";
import { anId, aTrack } from "../../../support/builders.js";

const [A, B, C, D] = [anId("trk"), anId("trk"), anId("trk"), anId("trk")];
const [ALICE, BOB] = [anId("acct"), anId("acct")];

/** Where the refusal sees the issues. */
function pathsOf(refused: () => unknown): readonly string[] {
  try {
    refused();
  } catch (error) {
    if (error instanceof InputRefusedError) return error.issues.map(({ path }) => path);
    throw error;
  }
  return [];
}

describe("What a viewer may see", () => {
  it("is what is public and what is its own", () => {
    for (const viewer of [ALICE, BOB, null])
      expect(maySee({ accountId: ALICE, visibility: "public" }, viewer)).to.equal(true);
    expect(maySee({ accountId: ALICE, visibility: "private" }, ALICE)).to.equal(true);
    expect(maySee({ accountId: ALICE, visibility: "private" }, BOB)).to.equal(false);
    expect(maySee({ accountId: ALICE, visibility: "private" }, null)).to.equal(false);
    expect(maySee({ accountId: null, visibility: "private" }, null)).to.equal(false);
  });
});

describe("A change of a playlist's tracks", () => {
  const changes: readonly (readonly [string, PlaylistChanges, readonly string[]])[] = [
    ["keeps them when nothing is named", {}, [A, B, C]],
    ["adds at the end, in the order given", { add: [D] }, [A, B, C, D]],
    ["leaves what is added and held already where it is", { add: [B, D, D] }, [A, B, C, D]],
    ["removes, and minds nothing that is not held", { remove: [B, D] }, [A, C]],
    ["removes before it adds", { remove: [A], add: [A] }, [B, C, A]],
    ["replaces all", { tracks: [C, D] }, [C, D]],
    ["takes none at all", { tracks: [] }, []],
    ["moves to the front", { move: { track: C, to: 0 } }, [C, A, B]],
    ["moves to the back", { move: { track: A, to: 2 } }, [B, C, A]],
    ["moves no further than the end", { move: { track: A, to: 99 } }, [B, C, A]],
    ["moves what it adds", { add: [D], move: { track: D, to: 1 } }, [A, D, B, C]],
  ];
  for (const [what, change, after] of changes) {
    it(what, () => {
      expect(changedTracks([A, B, C], change)).to.deep.equal(after);
      expect(changedTracks(changedTracks([A, B, C], change), change), "a second time").to.deep.equal(after);
    });
  }

  const refusals: readonly (readonly [string, PlaylistChanges, RegExp, string])[] = [
    ["all tracks together with an addition", { tracks: [A], add: [B] }, /not both/, "body.tracks"],
    ["all tracks together with a removal", { tracks: [A], remove: [B] }, /not both/, "body.tracks"],
    ["all tracks together with a move", { tracks: [A], move: { track: A, to: 0 } }, /not both/, "body.tracks"],
    ["a track twice", { tracks: [A, B, A] }, new RegExp(`${A} is named twice`), "body.tracks[2]"],
    [
      "a move of what is not held",
      { move: { track: D, to: 0 } },
      new RegExp(`does not hold the track ${D}`),
      "body.move.track",
    ],
    ["a move to nowhere", { move: { track: A, to: -1 } }, /got -1/, "body.move.to"],
    ["a move to between", { move: { track: A, to: 0.5 } }, /got 0.5/, "body.move.to"],
  ];
  for (const [what, change, message, path] of refusals) {
    it(`refuses ${what}`, () => {
      expect(() => changedTracks([A, B, C], change)).to.throw(OperationRefusedError, message);
      expect(pathsOf(() => changedTracks([A, B, C], change))).to.deep.equal([path]);
    });
  }

  it("holds 500 tracks and no more", () => {
    const many = Array.from({ length: PLAYLIST_TRACKS_MAX + 1 }, () => anId("trk"));
    expect(changedTracks([], { tracks: many.slice(1) })).to.have.length(500);
    expect(() => changedTracks([], { tracks: many })).to.throw(
      OperationRefusedError,
      /at most 500 tracks; it would be 501/,
    );
    expect(() => changedTracks(many.slice(1), { add: [A] })).to.throw(OperationRefusedError, /501/);
    expect(() => changedTracks([], { tracks: [...many, ...many] }), "too many before twice").to.throw(
      OperationRefusedError,
      /it would be 1002/,
    );
  });
});

describe("A playlist", () => {
  const own = aTrack({ accountId: ALICE });
  const open = aTrack({ accountId: ALICE, visibility: "public" });
  const foreign = aTrack({ accountId: BOB });
  const tracks = new Map([own, open, foreign].map((track) => [track.id, track]));

  it("takes public tracks and its owner's own", () => {
    expect(() => checkHeld(broughtTracks([], { tracks: [own.id, open.id] }), tracks, ALICE)).not.to.throw();
    expect(() => checkHeld(broughtTracks([], { add: [open.id] }), tracks, null)).not.to.throw();
    expect(broughtTracks([A], { add: [A, B] })).to.deep.equal([{ id: B, place: "add[1]" }]);
  });

  it("takes neither another's own nor what there is not, and says the same of both", () => {
    const messageOf = (id: string): string => {
      try {
        checkHeld(broughtTracks([], { tracks: [id] }), tracks, ALICE);
        return "taken";
      } catch (error) {
        return (error as Error).message.replace(id, "ID");
      }
    };
    expect(messageOf(foreign.id)).to.equal(`There is no track that ${ALICE} may play ID.`);
    expect(messageOf("nonsense")).to.equal(messageOf(foreign.id));
    const brought = broughtTracks([], { tracks: [own.id] });
    expect(() => checkHeld(brought, tracks, null)).to.throw(
      OperationRefusedError,
      `There is no public track ${own.id}.`,
    );
    const many = broughtTracks([], { add: Array.from({ length: 30 }, () => anId("trk")) });
    const paths = pathsOf(() => checkHeld(many, tracks, ALICE));
    expect([paths.length, paths[0], paths.at(-1)]).to.deep.equal([20, "body.add[0]", "body.add[19]"]);
  });

  it("is one of at most 1,000 of its account", () => {
    expect(() => checkPlaylistCount(999)).not.to.throw();
    expect(() => checkPlaylistCount(1_000)).to.throw(InputRefusedError, /the 1000 playlists that an account may have/);
  });

  it("has a title of 1 to 200 characters in one line", () => {
    const check = (title: string): void => checkPlaylist({ title, visibility: "public", accountId: null });
    for (const title of ["x", "🎵".repeat(200)]) expect(() => check(title), title).not.to.throw();
    for (const title of ["", " ", "x".repeat(201), "a\nb", "\ud800"]) {
      expect(() => check(title), title).to.throw(OperationRefusedError, /title must/);
    }
  });

  it("has an owner when it is private", () => {
    expect(() => checkPlaylist({ title: "x", visibility: "private", accountId: ALICE })).not.to.throw();
    expect(() => checkPlaylist({ title: "x", visibility: "private", accountId: null })).to.throw(
      OperationRefusedError,
      /needs an account/,
    );
  });
});

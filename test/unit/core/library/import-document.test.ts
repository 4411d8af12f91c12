import { expect } from "chai";
import { readImportDocument } from "../../../../core/library/import-document.js";
import { checkImport } from "../../../../core/library/import-rules.js";
import { Issues } from "../../../../core/library/members-reader.js";
import { anId } from "../../../support/builders.js";

const [ALICE, BOB] = [anId("acct"), anId("acct")];
const TRACK = { ref: "a", visibility: "public", title: "Rain", artist_label: "Nightingale" };
const PLAYLIST = { ref: "p", visibility: "public", title: "Rainy evenings", tracks: [] };
const UNKNOWN =
  "is not a known member; known are ref, account, visibility, title, artist_label, bpm, audio_file, prompt, tags";

/** Every issue of a document, as `path: message`. */
function issuesOf(document: unknown): string[] {
  const issues = new Issues();
  checkImport(readImportDocument(document, issues), new Set([ALICE, BOB]), issues);
  return issues.found.map(({ path, message }) => `${path}: ${message}`);
}

const ofTrack = (members: object): string[] => issuesOf({ tracks: [{ ...TRACK, ...members }] });

describe("The document of an import", () => {
  it("is read with everything in it", () => {
    const issues = new Issues();
    const tags = { mood: ["Calm", "calm ", "Sad"], activity: [], genre: ["Jazz"] };
    const track = {
      ...TRACK,
      account: ALICE,
      visibility: "private",
      bpm: 96.5,
      audio_file: "sound/a.mp3",
      prompt: "rain\nand more",
      tags,
    };
    const document = readImportDocument(
      { tracks: [track], playlists: [{ ...PLAYLIST, account: null, tracks: ["a"] }] },
      issues,
    );
    expect(issues.found).to.deep.equal([]);
    expect(document).to.deep.equal({
      tracks: [
        {
          path: "tracks[0]",
          ref: "a",
          accountId: ALICE,
          visibility: "private",
          title: "Rain",
          artistLabel: "Nightingale",
          bpm: 96.5,
          audioFile: "sound/a.mp3",
          prompt: "rain\nand more",
          tags: { mood: ["calm", "sad"], activity: [], genre: ["jazz"], other: [] },
        },
      ],
      playlists: [
        {
          path: "playlists[0]",
          ref: "p",
          accountId: null,
          visibility: "public",
          title: "Rainy evenings",
          tracks: [{ text: "a", path: "playlists[0].tracks[0]" }],
        },
      ],
    });
  });

  it("may leave out what need not be there, or say null", () => {
    expect(issuesOf({ tracks: [TRACK] })).to.deep.equal([]);
    expect(ofTrack({ account: null, bpm: null, audio_file: null, prompt: null, tags: null })).to.deep.equal([]);
    expect(ofTrack({ tags: { mood: null } })).to.deep.equal([]);
    expect(issuesOf({ playlists: [PLAYLIST] })).to.deep.equal([]);
  });

  const wholes: readonly (readonly [string, unknown, string])[] = [
    ["that is no object", [TRACK], ": must be a JSON object"],
    ["that is null", null, ": must be a JSON object"],
    ["with neither list", {}, ": must have tracks, playlists or both"],
    ["with another member", { tracks: [], songs: [] }, "songs: is not a known member; known are tracks, playlists"],
    ["whose tracks are no list", { tracks: { a: 1 } }, "tracks: must be a list"],
    ["with a track that is none", { tracks: [TRACK, "x"] }, "tracks[1]: must be a JSON object"],
  ];
  for (const [what, document, issue] of wholes) {
    it(`is refused: one ${what}`, () => {
      expect(issuesOf(document)).to.deep.equal([issue]);
    });
  }

  const members: readonly (readonly [object, string])[] = [
    [{ title: undefined }, "title: is required"],
    [{ title: 1 }, "title: must be a string"],
    [{ title: "" }, "title: must have 1 to 200 characters; got 0"],
    [{ title: "x".repeat(201) }, "title: must have 1 to 200 characters; got 201"],
    [{ title: " " }, "title: must not be blank"],
    [{ title: "\ud800" }, "title: must be well-formed Unicode"],
    [{ title: "a\u001b[2J" }, "title: must be one line, without control characters"],
    [{ artist_label: undefined }, "artist_label: is required"],
    [{ ref: undefined }, "ref: is required"],
    [{ ref: "x".repeat(101) }, "ref: must have 1 to 100 characters; got 101"],
    [{ visibility: undefined }, "visibility: is required"],
    [{ visibility: "hidden" }, "visibility: must be public or private"],
    [{ visibility: "private" }, "account: is required for a private item"],
    [{ account: "acct_unknown" }, "account: there is no account acct_unknown"],
    [{ account: 7 }, "account: must be a string"],
    [{ bpm: "96" }, "bpm: must be a number above 0, at most 1000"],
    [{ bpm: 0 }, "bpm: must be a number above 0, at most 1000"],
    [{ bpm: 1_001 }, "bpm: must be a number above 0, at most 1000"],
    [{ prompt: "x".repeat(3_001) }, "prompt: must have 1 to 3000 characters; got 3001"],
    [{ tags: ["calm"] }, "tags: must be a JSON object"],
    [{ tags: { feeling: [] } }, "tags.feeling: is not a known member; known are mood, activity, genre, other"],
    [{ tags: { mood: "calm" } }, "tags.mood: must be a list"],
    [{ tags: { mood: ["calm", 1] } }, "tags.mood[1]: must be a string"],
    [{ tags: { mood: ["x".repeat(51)] } }, "tags.mood[0]: must have 1 to 50 characters; got 51"],
    [
      { tags: { mood: Array.from({ length: 51 }, (_, index) => `m${index}`) } },
      "tags.mood: must have at most 50 entries; got 51",
    ],
    [{ colour: "red" }, `colour: ${UNKNOWN}`],
    [{ ["__proto__ x\n"]: 1 }, `"__proto__ x\\n": ${UNKNOWN}`],
    ...["/etc/passwd", "../a.mp3", "a/../../b.mp3", "c:\\a.mp3", "C:/a.mp3", "a\\b.mp3"].map(
      (path) =>
        [
          { audio_file: path },
          "audio_file: must be a path relative to the import file, with / and without ..",
        ] as const,
    ),
  ];
  for (const [given, issue] of members) {
    it(`refuses a track with ${JSON.stringify(given).slice(0, 60)}`, () => {
      expect(ofTrack(given)).to.deep.equal([`tracks[0].${issue}`]);
    });
  }

  it("reports all issues, each with its place", () => {
    const document = {
      tracks: [TRACK, 1, { ...TRACK, title: "" }, { ...TRACK, ref: "b", account: ALICE, visibility: "private" }],
      playlists: [
        { ...PLAYLIST, account: BOB, tracks: ["a", 2, "c", "a", "b"] },
        { ...PLAYLIST, tracks: ["b"] },
      ],
    };
    expect(issuesOf(document)).to.deep.equal([
      "tracks[1]: must be a JSON object",
      "tracks[2].title: must have 1 to 200 characters; got 0",
      "playlists[0].tracks[1]: must be a string",
      "tracks[2].ref: is the ref of tracks[0] too",
      "playlists[1].ref: is the ref of playlists[0] too",
      'playlists[0].tracks[2]: there is no track with the ref "c" in this import',
      "playlists[0].tracks[3]: is the track of playlists[0].tracks[0] too; a playlist holds a track once",
      "playlists[0].tracks[4]: tracks[3] is private to another account",
      "playlists[1].tracks[0]: tracks[3] is private to another account",
    ]);
  });

  it("gives a track and a playlist the same ref without harm", () => {
    expect(issuesOf({ tracks: [TRACK], playlists: [{ ...PLAYLIST, ref: "a", tracks: ["a"] }] })).to.deep.equal([]);
  });

  it("lets a playlist hold 500 tracks and no more", () => {
    const tracks = Array.from({ length: 501 }, (_, index) => ({ ...TRACK, ref: `t${index}` }));
    const refs = tracks.map(({ ref }) => ref);
    expect(issuesOf({ tracks, playlists: [{ ...PLAYLIST, tracks: refs.slice(1) }] })).to.deep.equal([]);
    const issues = issuesOf({ tracks, playlists: [{ ...PLAYLIST, tracks: refs }] });
    expect(issues).to.deep.equal(["playlists[0].tracks: must have at most 500 entries; got 501"]);
  });
});

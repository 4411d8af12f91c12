import { expect } from "chai";
import { ProviderFailure } from "../../../../core/ports/music-provider.js";
import { failureIssue, resultIssues } from "../../../../core/results/result-issues.js";

const MIX = {
  role: "mix",
  label: "full",
  contentType: null,
  durationSeconds: null,
  source: { kind: "url", url: "https://cdn.example/1.mp3?signature=secret" },
};
const TRACK = { title: null, bpm: null, tags: { mood: [], activity: [], genre: [], other: [] }, assets: [MIX] };
const DONE = { state: "completed", tracks: [TRACK] };
const HANDLE = { version: 1, data: { id: "7" } };

/** The issues, each with `!` in front where the result cannot be used. */
const issuesOf = (call: string, result: unknown): string[] =>
  resultIssues(call, result).map(({ words, isFatal }) => `${isFatal ? "! " : ""}${words}`);

const withTrack = (changes: object): object => ({ ...DONE, tracks: [{ ...TRACK, ...changes }] });
const withMix = (changes: object): object => withTrack({ assets: [{ ...MIX, ...changes }] });

describe("resultIssues", () => {
  it("has none for what the port promises", () => {
    const archive = { kind: "archive", archive: { kind: "bytes", bytes: new Uint8Array() }, entry: "a.mp3" };
    const failure = new ProviderFailure("gone", "no such work");
    const right: readonly (readonly [call: string, result: unknown])[] = [
      ["submit", DONE],
      ["submit", withMix({ source: archive })],
      ["submit", { state: "completed", tracks: [], stems: [MIX], cost: { amount: 1, unit: "USD" } }],
      ["submit", { state: "accepted", handle: HANDLE, nextPollMs: 5_000 }],
      ["poll", { state: "running", nextPollMs: 5_000 }],
      ["poll", { state: "running", nextPollMs: 5_000, handle: HANDLE }],
      ["poll", failure],
      ["lookup", { state: "absent" }],
      ["cancel", "too_late"],
      ["probe", { credit: null, warnings: [] }],
      ["parseCallback", { trust: "hint" }],
      ["parseCallback", { trust: "verified", snapshot: failure }],
    ];
    for (const [call, result] of right) expect(issuesOf(call, result), call).to.deep.equal([]);
  });

  it("names the member without which a result cannot be used, and what is allowed", () => {
    const wrong: readonly (readonly [call: string, result: unknown, issue: string])[] = [
      ["poll", { status: "done" }, "state: missing; allowed: running, completed"],
      ["poll", { state: "done" }, 'state: "done"; allowed: running, completed'],
      ["poll", undefined, "the result: missing; allowed: an object with state running, completed; failures are thrown"],
      ["poll", { state: "completed" }, "tracks: missing; allowed: a list of tracks"],
      ["submit", { state: "running" }, 'state: "running"; allowed: accepted, completed'],
      ["submit", { state: "accepted", nextPollMs: 1 }, "handle: missing; allowed: an object with version and data"],
      [
        "submit",
        new ProviderFailure("failed", "returned, not thrown"),
        "the result: a failure; allowed: an object with state accepted, completed; failures are thrown",
      ],
      ["lookup", { state: "gone" }, 'state: "gone"; allowed: accepted, completed, absent'],
      ["probe", { credit: null }, "warnings: missing; allowed: a list of texts"],
      ["parseCallback", { trust: true }, "trust: true; allowed: verified, hint, forged"],
      [
        "parseCallback",
        { trust: "verified", snapshot: { state: "ok" } },
        'snapshot.state: "ok"; allowed: running, completed',
      ],
    ];
    for (const [call, result, issue] of wrong) expect(issuesOf(call, result), issue).to.deep.equal([`! ${issue}`]);
  });

  it("names the members of tracks and files, which alone are ignored", () => {
    expect(issuesOf("poll", withTrack({ title: 7, bpm: "fast" }))).to.deep.equal([
      "tracks[0].title: 7; allowed: text or null",
      'tracks[0].bpm: "fast"; allowed: a number or null',
    ]);
    expect(issuesOf("poll", { ...DONE, tracks: [{ ...TRACK, assets: {} }, TRACK] })).to.deep.equal([
      "tracks[0].assets: an object; allowed: a list of files, one with role mix",
    ]);
    expect(issuesOf("submit", { state: "accepted", handle: { id: "7" } })).to.deep.equal([
      "nextPollMs: missing; allowed: a number",
      "handle.version: missing; allowed: a number",
      "handle.data: missing; allowed: an object",
    ]);
    expect(issuesOf("cancel", undefined)).to.deep.equal([
      "the result: missing; allowed: cancelled, requested, too_late",
    ]);
  });

  it("cannot use a generation without a usable mix, or a split with an unusable part", () => {
    expect(issuesOf("poll", withMix({ role: "song" }))).to.deep.equal([
      '! tracks[0].assets[0].role: "song"; allowed: mix, master, preview, stem, cover',
    ]);
    expect(issuesOf("poll", withMix({ source: "https://cdn.example/1.mp3" }))).to.deep.equal([
      "! tracks[0].assets[0].source: a text of 25 characters; " +
        "allowed: an object with kind bytes, stream, text, url, archive",
    ]);
    const stems = [
      { ...MIX, role: "stem" },
      { ...MIX, role: "stem", source: { kind: "url" } },
    ];
    expect(issuesOf("poll", { state: "completed", tracks: [], stems })).to.deep.equal([
      "! stems[1].source.url: missing; allowed: text",
    ]);
  });

  it("names ten issues at most, and shows no texts that could be links", () => {
    const tracks = Array.from({ length: 50 }, () => ({ ...TRACK, assets: `https://cdn.example/?${"key".repeat(9)}` }));
    const issues = issuesOf("poll", { ...DONE, tracks });
    expect(issues).to.have.lengthOf(10);
    expect(issues.join()).to.not.include("key");
  });

  it("knows the kinds of failures", () => {
    expect(failureIssue(new ProviderFailure("gone", "no such work"))).to.equal(null);
    expect(failureIssue({ kind: "broken" })).to.match(
      /^kind of the failure: "broken"; allowed: unavailable, .*unknown$/,
    );
  });
});

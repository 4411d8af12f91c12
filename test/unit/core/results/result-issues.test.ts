import { expect } from "chai";
import { ProviderFailure } from "../../../../core/ports/music-provider.js";
import { RESULT_LIMITS } from "../../../../core/results/clamp-result.js";
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
const KINDS =
  "unavailable, rate_limited, timeout, misconfigured, out_of_credit, model_unavailable, content_rejected, " +
  "invalid_input, failed, cancelled, gone, outcome_unknown";
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

  it("keeps no handle that is no JSON, and needs that of accepted work", () => {
    const handle = { version: 1, data: { id: 7n } };
    const issue = "handle: an object; allowed: JSON, without circles and bigints";
    expect(issuesOf("submit", { state: "accepted", nextPollMs: 1, handle })).to.deep.equal([`! ${issue}`]);
    expect(issuesOf("poll", { state: "running", nextPollMs: 1, handle })).to.deep.equal([issue]);
  });

  it("names each member of another form, with what is allowed", () => {
    const running = (changes: object): object => ({ state: "running", nextPollMs: 1, ...changes });
    const accepted = (data: object): object => ({ state: "accepted", nextPollMs: 1, handle: { version: 1, data } });
    const source = (changes: object): object => withMix({ source: changes });
    const kinds = "bytes, stream, text, url, archive";
    const at = "! tracks[0].assets[0].source";
    const wrong: readonly (readonly [call: string, result: unknown, ...issues: readonly string[]])[] = [
      ["poll", running({ progress: 5 }), "progress: 5; allowed: an object with percent, queuePosition or both"],
      ["poll", running({ progress: { percent: "5" } }), 'progress.percent: "5"; allowed: a number, or left out'],
      [
        "poll",
        running({ progress: { queuePosition: [] } }),
        "progress.queuePosition: a list; allowed: a number, or left out",
      ],
      ["poll", running({ progress: { percent: 1, queuePosition: 0 } })],
      ["poll", running({ handle: null }), "handle: null; allowed: an object with version and data"],
      ["poll", running({ nextPollMs: "1" }), 'nextPollMs: "1"; allowed: a number'],
      ["submit", { ...DONE, handle: 7 }, "handle: 7; allowed: an object with version and data"],
      [
        "submit",
        accepted({ id: "é".repeat(10_000) }),
        "! handle: an object; allowed: at most 16384 bytes of JSON, which has 20030",
      ],
      ["submit", withTrack({ lyrics: "la la" }), 'tracks[0].lyrics: "la la"; allowed: an object with text, or null'],
      ["submit", withTrack({ lyrics: { text: 5 } }), "tracks[0].lyrics.text: 5; allowed: text"],
      ["submit", withTrack({ lyrics: null, reference: { id: "7", part: 1, whole: true, of: null } })],
      [
        "submit",
        withTrack({ reference: { id: { a: 1 } } }),
        "tracks[0].reference: an object; allowed: an object of texts, numbers, booleans and nulls",
      ],
      ["submit", { ...DONE, cost: 7 }, "cost: 7; allowed: an object with amount and unit"],
      ["submit", { ...DONE, cost: null }],
      ["submit", { ...DONE, cost: {} }, "cost.amount: missing; allowed: a number", "cost.unit: missing; allowed: text"],
      ["submit", { ...DONE, stems: {} }, "! stems: an object; allowed: a list of files, or none"],
      ["submit", { ...DONE, stems: [7] }, "! stems[0]: 7; allowed: an object"],
      ["submit", { ...DONE, stems: [{ ...MIX, label: 7 }] }, "stems[0].label: 7; allowed: text, such as full"],
      ["submit", { ...DONE, tracks: [7] }, "! tracks[0]: 7; allowed: an object"],
      [
        "submit",
        withTrack({ tags: [] }),
        "tracks[0].tags: a list; allowed: an object with mood, activity, genre, other",
      ],
      ["submit", withTrack({ tags: undefined, title: undefined, bpm: undefined })],
      ["submit", withMix({ label: null }), "tracks[0].assets[0].label: null; allowed: text, such as full"],
      [
        "submit",
        withMix({ durationSeconds: "9" }),
        'tracks[0].assets[0].durationSeconds: "9"; allowed: a number or null',
      ],
      ["submit", withMix({ contentType: undefined })],
      ["submit", source({ kind: "file" }), `${at}.kind: "file"; allowed: ${kinds}`],
      ["submit", source({ kind: "bytes", bytes: "x" }), `${at}.bytes: "x"; allowed: a Uint8Array`],
      ["submit", source({ kind: "stream", open: 1 }), `${at}.open: 1; allowed: a function`],
      ["submit", source({ kind: "url", url: () => 1 }), `${at}.url: a function; allowed: text`],
      [
        "submit",
        source({ kind: "text", encoding: "utf8" }),
        `${at}.encoding: "utf8"; allowed: base64, hex`,
        `${at}.text: missing; allowed: text`,
      ],
      ["submit", source({ kind: "text", encoding: "hex", text: "00" })],
      ["submit", source({ kind: "text", encoding: "base64", text: "AA" })],
      ["submit", source({ kind: "stream", open: () => 1 })],
      [
        "submit",
        source({ kind: "archive", archive: { kind: "archive" } }),
        `${at}.entry: missing; allowed: text: the name of a file inside the ZIP`,
        `${at}.archive.kind: "archive"; allowed: bytes, stream, text, url`,
      ],
      ["probe", null, "! the result: null; allowed: an object with credit and warnings"],
      ["probe", { credit: 5, warnings: [] }, "! credit: 5; allowed: an object with amount and unit"],
      ["probe", { credit: { amount: 1, unit: 2 }, warnings: [] }, "! credit.unit: 2; allowed: text"],
      ["probe", { credit: null, warnings: ["a", 1] }, "! warnings: a list; allowed: a list of texts"],
      ["parseCallback", [], "! the result: a list; allowed: an object with trust verified, hint, forged"],
      ["parseCallback", { trust: "forged", snapshot: 7 }],
      ["poll", new ProviderFailure("odd" as never, "x"), `! kind: "odd"; allowed: ${KINDS}`],
      ["cancel", "requested"],
      ["cancel", "cancelled"],
      ["other", 7],
    ];
    for (const [call, result, ...issues] of wrong)
      expect(issuesOf(call, result), JSON.stringify(result)).to.deep.equal(issues);
    expect(issuesOf("submit", withMix({ contentType: "audio/midi" }))[0]).to.match(
      /^tracks\[0\]\.assets\[0\]\.contentType: "audio\/midi"; allowed: audio\/mpeg, .* or null$/,
    );
  });

  it("names what makes a result no use first", () => {
    const issues = issuesOf("submit", { ...DONE, handle: 7, stems: {} });
    expect(issues).to.deep.equal([
      "! stems: an object; allowed: a list of files, or none",
      "handle: 7; allowed: an object with version and data",
    ]);
  });

  it("looks at as many tracks and files as a result may have", () => {
    const tracks = [...Array.from({ length: RESULT_LIMITS.tracks }, () => TRACK), 7];
    expect(issuesOf("submit", { ...DONE, tracks })).to.deep.equal([]);
    const assets = [...Array.from({ length: RESULT_LIMITS.assets }, () => MIX), 7];
    expect(issuesOf("submit", withTrack({ assets }))).to.deep.equal([]);
  });

  it("shows short words as they are, and of anything else what it is", () => {
    const shown = (value: unknown): string => issuesOf("poll", withTrack({ title: value }))[0]?.split("; ")[0] ?? "";
    const values: readonly (readonly [value: unknown, shown: string])[] = [
      [7, "7"],
      [true, "true"],
      [{}, "an object"],
      [[], "a list"],
      [Symbol("x"), "a symbol"],
      [new ProviderFailure("gone", "secret"), "a failure"],
    ];
    for (const [value, words] of values) expect(shown(value)).to.equal(`tracks[0].title: ${words}`);
    const state = (text: string): string => issuesOf("poll", { state: text })[0]?.split("; ")[0] ?? "";
    expect(state("a/b.c+d-e 1")).to.equal('! state: "a/b.c+d-e 1"');
    expect(state("a?b")).to.equal("! state: a text of 3 characters");
    expect(state("x".repeat(200))).to.equal("! state: a text of 200 characters");
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

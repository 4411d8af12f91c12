import { expect } from "chai";
import { type ApiClient, dataOf, issuePaths, refusalOf } from "../support/api-client.js";
import { LibraryFixture, UNHEARD, unsigned } from "../support/library-fixture.js";
import { startTestApp, type TestAccount, type TestApp } from "../support/test-app.js";

const PATH = "/api/v1/library/search";

interface Track {
  readonly id: string;
  readonly title: string;
  readonly play_url: string | null;
}

interface Found {
  readonly tracks: readonly Track[];
  readonly playlists: readonly {
    readonly id: string;
    readonly title: string;
    readonly track_count: number;
    readonly tracks: readonly Track[];
  }[];
}

const found = async (api: ApiClient, query: Readonly<Record<string, string>> = {}): Promise<Found> =>
  dataOf<Found>(await api.get(`${PATH}?${new URLSearchParams(query).toString()}`));
/** The titles of the tracks, in order. */
const titles = async (api: ApiClient, query: Readonly<Record<string, string>> = {}): Promise<string[]> =>
  (await found(api, query)).tracks.map(({ title }) => title);
const playlistTitles = async (api: ApiClient, query: Readonly<Record<string, string>> = {}): Promise<string[]> =>
  (await found(api, query)).playlists.map(({ title }) => title);

describe("GET /api/v1/library/search", () => {
  let test: TestApp;
  let library: LibraryFixture;
  before(async () => {
    test = await startTestApp(UNHEARD);
    library = await LibraryFixture.open(test.app);
  });
  after(async () => {
    await library.close();
    await test.close();
  });

  describe("for tracks", () => {
    let alice: TestAccount;
    before(async () => {
      alice = await test.account();
      await library.add(alice.account.id, {
        "Café at dawn": {
          artist_label: "Rosa Nachtigall",
          tags: { mood: ["calm"], activity: ["focus"], genre: ["Bossa Nova"] },
        },
        "Dawn run": {
          prompt: "fast drums, don't stop",
          tags: { mood: ["Très  gai"], activity: ["running", "focus"], other: ["tape hiss"] },
        },
        "Night drive": { prompt: "dawn over the motorway", tags: { mood: ["calm"], activity: ["driving"] } },
        "A silent dawn": { hasAudio: false, tags: { mood: ["calm"] } },
      });
    });

    const searches: readonly (readonly [
      what: string,
      query: Readonly<Record<string, string>>,
      expected: readonly string[],
    ])[] = [
      ["all of them, newest first, without a filter", {}, ["Night drive", "Dawn run", "Café at dawn"]],
      [
        "all of them for a blank q, mood and activity",
        { q: "  ", mood: "", activity: " " },
        ["Night drive", "Dawn run", "Café at dawn"],
      ],
      [
        "words of the title in any case, before those of the prompt",
        { q: "DAWN" },
        ["Dawn run", "Café at dawn", "Night drive"],
      ],
      ["what starts a word", { q: "da" }, ["Dawn run", "Café at dawn", "Night drive"]],
      ["nothing by what is inside a word", { q: "awn" }, []],
      ["accents or none", { q: "cafe" }, ["Café at dawn"]],
      ["accents where there are none", { q: "dãwn rün" }, ["Dawn run"]],
      ["the artist", { q: "nachti" }, ["Café at dawn"]],
      ["the prompt, with or without an apostrophe", { q: "dont" }, ["Dawn run"]],
      ["tags of every group", { q: "bossa" }, ["Café at dawn"]],
      ["tags of no group", { q: "hiss" }, ["Dawn run"]],
      ["every word, wherever each stands", { q: "dawn, rosa: bossa" }, ["Café at dawn"]],
      ["nothing unless every word is there", { q: "dawn absent" }, []],
      ["a mood as a whole", { mood: "calm" }, ["Night drive", "Café at dawn"]],
      ["a mood in any case, with any accents", { mood: "TRES GAI" }, ["Dawn run"]],
      ["no mood by its beginning", { mood: "cal" }, []],
      ["no mood among activities", { mood: "focus" }, []],
      ["an activity", { activity: "Focus" }, ["Dawn run", "Café at dawn"]],
      ["mood and activity together", { mood: "calm", activity: "focus" }, ["Café at dawn"]],
      ["words, mood and activity together", { q: "dawn", mood: "calm", activity: "driving" }, ["Night drive"]],
      ["nothing when one of the filters fits nothing", { q: "café", mood: "calm", activity: "driving" }, []],
      ["16 words", { q: "dawn ".repeat(16) }, ["Dawn run", "Café at dawn", "Night drive"]],
      ["whatever is typed, without harm", { q: "%' OR 1=1 -- _*\"\\ \u0000" }, []],
    ];
    for (const [what, query, expected] of searches) {
      it(`finds ${what}`, async () => {
        expect(await titles(alice.api, query)).to.deep.equal(expected);
      });
    }

    it("returns them as GET /tracks/{id} does, and their play_url works", async () => {
      const [track] = (await found(alice.api, { q: "cafe" })).tracks;
      expect(unsigned({ ...track })).to.deep.equal(
        unsigned(dataOf(await alice.api.get(`/api/v1/tracks/${track?.id}`))),
      );
      expect((await fetch(track?.play_url ?? "")).status).to.equal(200);
    });
  });

  describe("for playlists", () => {
    let alice: TestAccount;
    before(async () => {
      alice = await test.account();
      const tracks = {
        calm: { tags: { mood: ["calm"] } },
        focus: { tags: { activity: ["focus"] } },
        both: { tags: { mood: ["calm"], activity: ["focus"] } },
        silent: { tags: { mood: ["sad"] }, hasAudio: false },
      };
      await library.add(alice.account.id, tracks, {
        "Éclair mix": { tracks: ["both", "calm"] },
        "Two halves": { tracks: ["calm", "focus"] },
        "Éclair empty": {},
        "Silent ones": { tracks: ["silent"] },
      });
    });

    const searches: readonly (readonly [
      what: string,
      query: Readonly<Record<string, string>>,
      expected: readonly string[],
    ])[] = [
      ["all of them, newest first, without a filter", {}, ["Silent ones", "Éclair empty", "Two halves", "Éclair mix"]],
      ["by every word of the title", { q: "mix ecl" }, ["Éclair mix"]],
      ["not by the words of their tracks", { q: "calm" }, []],
      ["by the mood of a track they hold", { mood: "Calm" }, ["Two halves", "Éclair mix"]],
      ["by mood and activity of one and the same track", { mood: "calm", activity: "focus" }, ["Éclair mix"]],
      ["not by a track that cannot be played", { mood: "sad" }, []],
      ["by title and mood together", { q: "halves", mood: "calm" }, ["Two halves"]],
    ];
    for (const [what, query, expected] of searches) {
      it(`finds ${what}`, async () => {
        expect(await playlistTitles(alice.api, query)).to.deep.equal(expected);
      });
    }

    it("returns them as GET /playlists/{id} does", async () => {
      const [playlist] = (await found(alice.api, { q: "halves" })).playlists;
      const single = dataOf<Found["playlists"][number]>(await alice.api.get(`/api/v1/playlists/${playlist?.id}`));
      expect({ ...playlist, tracks: playlist?.tracks.map((track) => unsigned({ ...track })) }).to.deep.equal({
        ...single,
        tracks: single.tracks.map((track) => unsigned({ ...track })),
      });
      expect(playlist?.tracks.map(({ title }) => title)).to.deep.equal(["calm", "focus"]);
    });
  });

  it("returns 10 of each by default, 1 to 25 by limit", async () => {
    const { account, api } = await test.account();
    const names = Array.from({ length: 26 }, (_, index) => `quagga ${index}`);
    const playlists = names.map((name) => [`${name} list`, {}] as const);
    await library.add(account.id, Object.fromEntries(names.map((name) => [name, {}])), Object.fromEntries(playlists));
    const counts = async (limit: Readonly<Record<string, string>>): Promise<number[]> => {
      const { tracks, playlists } = await found(api, { q: "quagga", ...limit });
      return [tracks.length, playlists.length];
    };
    expect(await counts({})).to.deep.equal([10, 10]);
    expect(await counts({ limit: "1" })).to.deep.equal([1, 1]);
    expect(await counts({ limit: "25", unknown: "1" })).to.deep.equal([25, 25]);
    expect(await titles(api, { q: "quagga", limit: "2" })).to.deep.equal(["quagga 25", "quagga 24"]);
  });

  for (const limit of ["", "0", "26", "-1", "1.5", "0x10", "1e1", "abc", "1&limit=2", "%00", "NaN", "9".repeat(400)]) {
    it(`refuses limit=${limit.slice(0, 12)}`, async () => {
      const response = await (await test.account()).api.get(`${PATH}?limit=${limit}`);
      expect(refusalOf(response)).to.equal("400 invalid_request");
      expect(issuePaths(response)).to.deep.equal(["query.limit"]);
    });
  }

  it("accepts 200 characters of q, mood and activity, and refuses 201", async () => {
    const { api } = await test.account();
    for (const name of ["q", "mood", "activity"]) {
      expect(await titles(api, { [name]: "x".repeat(200) })).to.deep.equal([]);
      expect(
        (await api.get(`${PATH}?${name}=${encodeURIComponent("🎵".repeat(200))}`)).status,
        "code points count",
      ).to.equal(200);
      const response = await api.get(`${PATH}?${name}=${"x".repeat(201)}`);
      expect([refusalOf(response), issuePaths(response)]).to.deep.equal(["400 invalid_request", [`query.${name}`]]);
    }
  });

  it("refuses more than 16 words, and a filter given twice, naming the parameter", async () => {
    const { api } = await test.account();
    const words = await api.get(`${PATH}?q=${"a+".repeat(17)}`);
    expect([refusalOf(words), issuePaths(words)]).to.deep.equal(["400 invalid_request", ["query.q"]]);
    expect(words.text).to.include("must have at most 16 words");
    for (const name of ["q", "mood", "activity"]) {
      const response = await api.get(`${PATH}?${name}=a&${name}=b`);
      expect([refusalOf(response), issuePaths(response)]).to.deep.equal(["400 invalid_request", [`query.${name}`]]);
    }
  });

  it("reports all validation errors together", async () => {
    const { api } = await test.account();
    const long = "x".repeat(201);
    const response = await api.get(`${PATH}?q=${long}&mood=${long}&activity=${long}`);
    expect(issuePaths(response)).to.deep.equal(["query.q", "query.mood", "query.activity"]);
  });

  it("costs no credits and counts as a read", async () => {
    const { api } = await test.account({ credits: 5 });
    const response = await api.get(PATH);
    expect(response.headers.get("ratelimit")).to.match(/^"read-minute";r=\d+;/);
    expect(response.headers.get("cache-control")).to.equal("no-store");
    expect(dataOf(await api.get("/api/v1/credits"))).to.deep.include({ available: 5, total_spent: 0 });
  });

  it("requires the scope library:read", async () => {
    expect(refusalOf(await (await test.account({ scopes: ["models:read"] })).api.get(PATH))).to.equal(
      "403 insufficient_scope",
    );
    expect((await (await test.account({ scopes: ["library:read"] })).api.get(PATH)).status).to.equal(200);
    expect(refusalOf(await test.anonymous.get(PATH))).to.equal("401 authentication_required");
  });
});

describe("GET /api/v1/library/search of several accounts", () => {
  let test: TestApp;
  let library: LibraryFixture;
  before(async () => {
    test = await startTestApp(UNHEARD);
    library = await LibraryFixture.open(test.app);
  });
  after(async () => {
    await library.close();
    await test.close();
  });

  it("finds public tracks for every account, and private ones only for their owner", async () => {
    const [alice, bob] = [await test.account(), await test.account()];
    await library.add(
      alice.account.id,
      { "zebra hidden": { tags: { mood: ["zebra-calm"] } }, "zebra open": { visibility: "public" } },
      {
        "zebra secret": { tracks: ["zebra hidden"] },
        "zebra shown": { visibility: "public", tracks: ["zebra hidden", "zebra open"] },
      },
    );
    await library.add(
      null,
      { "zebra without owner": {} },
      { "zebra list without owner": { tracks: ["zebra without owner"] } },
    );
    const query = { q: "zebra" };
    expect(await titles(alice.api, query)).to.deep.equal(["zebra without owner", "zebra open", "zebra hidden"]);
    expect(await titles(bob.api, query)).to.deep.equal(["zebra without owner", "zebra open"]);
    expect(await playlistTitles(alice.api, query)).to.deep.equal([
      "zebra list without owner",
      "zebra shown",
      "zebra secret",
    ]);
    expect(await playlistTitles(bob.api, query)).to.deep.equal(["zebra list without owner", "zebra shown"]);

    const [, shown] = (await found(bob.api, query)).playlists;
    expect(shown).to.include({ title: "zebra shown", track_count: 1 });
    expect(shown?.tracks.map(({ title }) => title)).to.deep.equal(["zebra open"]);
    expect(await playlistTitles(alice.api, { mood: "zebra-calm" })).to.have.length(2);
    const byMood = await found(bob.api, { mood: "zebra-calm" });
    expect(byMood, "a hidden track is not revealed by the playlists that contain it").to.deep.equal({
      tracks: [],
      playlists: [],
      next_cursor: null,
    });
  });
});

import { readFileSync } from "node:fs";
import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import BetterSqlite3 from "better-sqlite3";
import { expect } from "chai";
import { ApiClient, dataOf } from "../../support/api-client.js";
import { filesUnder, Sandbox } from "../../support/process.js";
import { repositoryPath } from "../../support/repository.js";
import { SILENCE_WAV } from "../../support/library-fixture.js";
import { readRows } from "../../support/chaos/rows.js";

interface Imported {
  readonly tracks: readonly { readonly ref: string; readonly id: string }[];
  readonly playlists: readonly { readonly ref: string; readonly id: string }[];
}

interface Found {
  readonly tracks: readonly { readonly id: string; readonly play_url: string }[];
  readonly playlists: readonly { readonly id: string }[];
}

interface ShownPlaylist {
  readonly id: string;
  readonly title: string;
  readonly track_count: number;
  readonly tracks: readonly { readonly id: string; readonly title: string }[];
  readonly [name: string]: unknown;
}

const RAIN = { ref: "rain", visibility: "public", title: "Rain", artist_label: "Nightingale" };

describe("fermata library and fermata playlists", function () {
  this.timeout(90_000);
  let sandbox: Sandbox;
  let dataDir: string;
  let folder: string;
  let account: string;
  beforeEach(async () => {
    sandbox = new Sandbox();
    [dataDir, folder] = [await sandbox.dataDir(), await sandbox.dataDir()];
    await sandbox.json(["migrate"], dataDir);
    account = (
      await sandbox.json<{ id: string }>(["accounts", "create", "alice", "--tier", "pro", "--accept-terms"], dataDir)
    ).id;
    await writeFile(join(folder, "rain.wav"), SILENCE_WAV);
  });
  afterEach(() => sandbox.clear());

  const json = <T = ShownPlaylist>(...args: readonly string[]): Promise<T> => sandbox.json<T>(args, dataDir);
  const written = async (document: unknown): Promise<string> => {
    const file = join(folder, "catalogue.json");
    await writeFile(file, typeof document === "string" ? document : JSON.stringify(document));
    return file;
  };
  const imported = async (document: unknown): Promise<Imported> =>
    json<Imported>("library", "import", await written(document));
  const refused = async (...args: readonly string[]): Promise<string> => {
    const { code, stdout, stderr } = await sandbox.command(args, dataDir);
    expect([code, stdout]).to.deep.equal([1, ""]);
    return stderr;
  };
  const api = async (): Promise<ApiClient> => {
    const { key } = await json<{ key: string }>("keys", "issue", account);
    return new ApiClient(await sandbox.call(["serve"], dataDir).listening(), key);
  };

  describe("library upload", () => {
    it("makes a private track of an account, which plays it, within its tier's quota", async () => {
      const file = join(folder, "rain.wav");
      const args = [file, "--account", account, "--title", "Hummed"];
      const created = await json<{ id: string; title: string; play_url: string }>("library", "upload", ...args);
      expect(created).to.include({ title: "Hummed", artist_label: "Upload", share_url: null });
      const client = await api();
      const shown = dataOf<{ id: string; play_url: string }>(await client.get(`/api/v1/tracks/${created.id}`));
      const played = Buffer.from(await (await fetch(shown.play_url)).arrayBuffer());
      expect(played.equals(Buffer.from(SILENCE_WAV))).to.equal(true);
    });

    it("refuses what is no audio, no file, or of no account", async () => {
      const text = await written("no audio");
      const upload = (file: string, owner: string): Promise<string> =>
        refused("library", "upload", file, "--account", owner);
      expect(await upload(text, account)).to.include("must be audio that can be decoded");
      expect(await upload(join(folder, "absent.wav"), account)).to.include("cannot be read");
      expect(await upload(folder, account)).to.include("is not a file");
      expect(await upload(join(folder, "rain.wav"), "acct_unknown")).to.include("There is no account acct_unknown");
      expect((await filesUnder(join(dataDir, "audio"))).filter((name) => !name.startsWith("."))).to.deep.equal([]);
    });
  });

  describe("library import", () => {
    it("brings in tracks with their audio, and playlists, as the API then shows them", async () => {
      const tags = { mood: ["Calm"], activity: ["focus"], genre: ["jazz"], other: [] };
      const created = await imported({
        tracks: [
          {
            ...RAIN,
            account,
            visibility: "private",
            bpm: 96,
            audio_file: "rain.wav",
            prompt: "rain on a tin roof",
            tags,
          },
          { ...RAIN, ref: "snow", account: null, title: "Snow" },
        ],
        playlists: [{ ref: "list", account, visibility: "private", title: "Weather", tracks: ["snow", "rain"] }],
      });
      expect(created.tracks.map(({ ref }) => ref)).to.deep.equal(["rain", "snow"]);
      expect(created.playlists.map(({ ref }) => ref)).to.deep.equal(["list"]);
      const [rain, snow] = created.tracks.map(({ id }) => id);
      const client = await api();
      expect(dataOf(await client.get(`/api/v1/tracks/${rain}`))).to.include({
        title: "Rain",
        artist_label: "Nightingale",
        bpm: 96,
      });
      expect(dataOf(await client.get(`/api/v1/tracks/${snow}`))).to.include({
        title: "Snow",
        bpm: null,
        play_url: null,
      });
      const found = dataOf<Found>(await client.get("/api/v1/library/search?q=tin+jazz&mood=calm&activity=focus"));
      expect(found.tracks.map(({ id }) => id)).to.deep.equal([rain]);
      const played = await fetch(found.tracks[0]?.play_url ?? "");
      expect(SILENCE_WAV.equals(Buffer.from(await played.arrayBuffer()))).to.equal(true);
      const list = dataOf<ShownPlaylist>(await client.get(`/api/v1/playlists/${created.playlists[0]?.id}`));
      expect(list.tracks.map(({ id }) => id)).to.deep.equal([snow, rain]);
    });

    it("makes what a track lacks of its audio: its length, a preview and a cover", async () => {
      const { tracks } = await imported({ tracks: [{ ...RAIN, audio_file: "rain.wav" }] });
      const track = dataOf(await (await api()).get(`/api/v1/tracks/${tracks[0]?.id}`));
      expect(track["duration"]).to.equal(0.5);
      for (const link of ["play_url", "preview_audio_url", "thumbnail_url"]) {
        expect((await fetch(track[link] as string)).status, link).to.equal(200);
      }
    });

    it("takes the example of its guide", async () => {
      const [, example] =
        /library[\s\S]*?<<'END'\n([\s\S]*?)\nEND\n/i.exec(
          readFileSync(repositoryPath("core/library/README.md"), "utf8"),
        ) ?? [];
      const created = await imported(example);
      expect([...created.tracks, ...created.playlists].map(({ ref }) => ref)).to.deep.equal(["rain", "evenings"]);
    });

    it("creates new tracks when it is run again, and prints them", async () => {
      const file = await written({ tracks: [RAIN] });
      const [first] = (await json<Imported>("library", "import", file)).tracks;
      const { code, stdout } = await sandbox.command(["library", "import", file], dataDir);
      expect(code).to.equal(0);
      expect(stdout)
        .to.match(/^trk_\S+ {2}rain\nImported 1 track and 0 playlists\.\n$/)
        .and.not.include(first?.id ?? "");
    });

    it("takes 10,000 tracks in one file", async function () {
      this.timeout(60_000);
      const rain = { ...RAIN, prompt: "rain on a tin roof" };
      const tracks = Array.from({ length: 10_000 }, (_, index) => ({
        ...rain,
        ref: `t${index}`,
        title: `Rain ${index}`,
      }));
      const created = await imported({ tracks });
      expect(new Set(created.tracks.map(({ id }) => id)).size).to.equal(10_000);
      expect(created.tracks[9_999]?.ref).to.equal("t9999");
      expect(readRows(dataDir).tracks).to.have.length(10_000);
    });

    it("names every issue and leaves nothing behind", async () => {
      await writeFile(join(folder, "lies.mp3"), SILENCE_WAV);
      await writeFile(join(folder, "noise.wav"), "hello");
      await writeFile(join(folder, "text.txt"), SILENCE_WAV);
      await mkdir(join(folder, "in"));
      await symlink("../rain.wav", join(folder, "in/out.wav"));
      const files = [
        "rain.wav",
        "lies.mp3",
        "noise.wav",
        "text.txt",
        "nothing.wav",
        "../rain.wav",
        "/etc/hostname",
        "in",
      ];
      const tracks: object[] = files.map((path, index) => ({ ...RAIN, ref: `t${index}`, audio_file: path }));
      tracks.push({ ...RAIN, ref: "x", account: "acct_unknown", tags: { mood: [1] }, colour: "red" });
      const file = await written({
        tracks,
        playlists: [{ ref: "p", account, visibility: "private", title: "x", tracks: ["nowhere"] }],
      });
      expect((await refused("library", "import", file)).split("\n")).to.deep.equal([
        "The import has 11 issues; nothing was imported.",
        "tracks[5].audio_file: must be a path relative to the import file, with / and without ..",
        "tracks[6].audio_file: must be a path relative to the import file, with / and without ..",
        "tracks[8].colour: is not a known member; known are ref, account, visibility, title, artist_label, bpm, " +
          "audio_file, prompt, tags",
        "tracks[8].tags.mood[0]: must be a string",
        "tracks[8].account: there is no account acct_unknown",
        'playlists[0].tracks[0]: there is no track with the ref "nowhere" in this import',
        "tracks[1].audio_file: holds wav, although it ends with mp3",
        "tracks[2].audio_file: holds none of mp3, wav, flac, ogg, m4a",
        "tracks[3].audio_file: must end with one of mp3, wav, flac, ogg, m4a",
        "tracks[4].audio_file: there is no such file",
        "tracks[7].audio_file: is no file",
        "",
      ]);
      const inner = join(folder, "in/catalogue.json");
      await writeFile(inner, JSON.stringify({ tracks: [{ ...RAIN, audio_file: "out.wav" }] }));
      expect(await refused("library", "import", inner)).to.include(
        "tracks[0].audio_file: is outside the folder of the import",
      );
      expect(readRows(dataDir).tracks).to.deep.equal([]);
      expect(await filesUnder(join(dataDir, "audio"))).to.deep.equal([]);
    });

    it("refuses a file larger than audio.maxBytes", async () => {
      const maxBytes = 1_048_576;
      await writeFile(join(folder, "long.wav"), Buffer.concat([SILENCE_WAV, Buffer.alloc(maxBytes)]));
      const file = await written({ tracks: [{ ...RAIN, audio_file: "long.wav" }] });
      const { code, stderr } = await sandbox.command(["library", "import", file], dataDir, {
        FERMATA_AUDIO__MAX_BYTES: String(maxBytes),
      });
      expect(code).to.equal(1);
      expect(stderr).to.include(
        `tracks[0].audio_file: has ${maxBytes + SILENCE_WAV.length} bytes; at most ${maxBytes} are allowed`,
      );
    });

    it("refuses what is no file, no text and no JSON", async () => {
      expect(await refused("library", "import", join(folder, "nothing.json"))).to.match(
        /nothing\.json cannot be read: ENOENT/,
      );
      expect(await refused("library", "import", await written("{ no json"))).to.match(/catalogue\.json is not JSON: /);
      expect(await refused("library", "import", join(folder, "rain.wav"))).to.match(/rain\.wav cannot be read: /);
      const list = await refused("library", "import", await written([RAIN]));
      expect(list).to.equal("The import has 1 issue; nothing was imported.\nmust be a JSON object\n");
    });

    it("takes a file that begins with a byte order mark", async () => {
      expect((await imported(`\ufeff${JSON.stringify({ tracks: [RAIN] })}`)).tracks).to.have.length(1);
    });
  });

  it("shares a track, and takes it back", async () => {
    const [track] = (await imported({ tracks: [{ ...RAIN, audio_file: "rain.wav" }] })).tracks;
    const id = track?.id ?? "";
    const env = { FERMATA_HTTP__PUBLIC_URL: "https://music.example.com" };
    const shared = await sandbox.json<{ id: string; share_url: string }>(["library", "share", id], dataDir, env);
    expect(Object.keys(shared)).to.deep.equal(["id", "share_url"]);
    expect(shared.share_url).to.match(/^https:\/\/music\.example\.com\/share\/[0-9A-Za-z]{22}$/);
    expect(await sandbox.json(["library", "share", id], dataDir, env), "a second time").to.deep.equal(shared);
    expect((await sandbox.command(["library", "share", id], dataDir, env)).stdout).to.equal(
      `Shared at ${shared.share_url}\n`,
    );
    expect(await json<object>("library", "unshare", id)).to.deep.equal({ id, share_url: null });
    expect((await sandbox.command(["library", "unshare", id], dataDir)).stdout).to.equal(
      `${id} is not shared any more.\n`,
    );
    for (const command of ["share", "unshare"])
      expect(await refused("library", command, "trk_unknown")).to.equal("There is no such track.\n");
  });

  it("shows a track, with the lyrics that its provider gave", async () => {
    const [track] = (await imported({ tracks: [RAIN] })).tracks;
    const id = track?.id ?? "";
    const own = { account: null, visibility: "public" };
    const bare = await json<object>("library", "show", id);
    expect(bare)
      .to.include({ id, title: "Rain", ...own })
      .and.not.have.property("lyrics");
    expect((await sandbox.command(["library", "show", id], dataDir)).stdout).to.match(/^words with times +-\n$/m);
    const words = [{ text: "Rain", startSeconds: 1.25, endSeconds: 1.5 }];
    const database = new BetterSqlite3(join(dataDir, "fermata.sqlite"));
    const insert = database.prepare("INSERT INTO fermata_track_lyrics (track_id, lyrics, words) VALUES (?, ?, ?)");
    insert.run(id, "Rain\non \u001btin", JSON.stringify(words));
    database.close();
    expect(await json<object>("library", "show", id)).to.deep.equal({
      ...bare,
      lyrics: { text: "Rain\non \u001btin", words: [{ text: "Rain", start: 1.25, end: 1.5 }] },
    });
    const { stdout } = await sandbox.command(["library", "show", id], dataDir);
    expect(stdout)
      .to.match(/^title +Rain$/m)
      .and.match(/^words with times +1\n\nRain\non \\u001btin\n$/m);
    expect(await refused("library", "show", "trk_unknown")).to.equal("There is no such track.\n");
  });

  it("searches as an account does", async () => {
    const created = await imported({
      tracks: [
        { ...RAIN, audio_file: "rain.wav", tags: { mood: ["calm"] } },
        { ...RAIN, ref: "own", account, visibility: "private", title: "Rain of mine", audio_file: "rain.wav" },
      ],
      playlists: [{ ref: "list", account, visibility: "private", title: "Rainy", tracks: ["rain"] }],
    });
    const bob = (await json<{ id: string }>("accounts", "create", "bob", "--tier", "pro")).id;
    const [rain, own] = created.tracks.map(({ id }) => id);
    const search = (...args: readonly string[]): Promise<Found> => json<Found>("library", "search", ...args);
    const ids = ({ tracks, playlists }: Found): string[] => [...tracks, ...playlists].map(({ id }) => id);
    expect(ids(await search("rain", "--account", account))).to.deep.equal([own, rain, created.playlists[0]?.id]);
    expect(ids(await search("rain", "--account", account, "--limit", "1", "--mood", "calm"))).to.deep.equal([
      rain,
      created.playlists[0]?.id,
    ]);
    expect(ids(await search("--account", bob))).to.deep.equal([rain]);
    const { stdout } = await sandbox.command(["library", "search", "rain", "--account", account], dataDir);
    const lines = [
      `${own} +Rain of mine +Nightingale`,
      `${rain} +Rain +Nightingale`,
      `${created.playlists[0]?.id} +Rainy +1 track`,
    ];
    expect(stdout).to.match(new RegExp(`^${lines.join("\n")}\n$`));
    expect((await sandbox.command(["library", "search", "snow", "--account", account], dataDir)).stdout).to.equal(
      "Nothing found.\n",
    );
    expect(await refused("library", "search", "--account", "acct_unknown")).to.equal(
      "There is no account acct_unknown.\n",
    );
    expect(await refused("library", "search", "a ".repeat(17), "--account", account)).to.include("at most 16 words");
  });

  it("makes, lists, shows, edits and deletes playlists", async () => {
    const created = await imported({ tracks: ["a", "b", "c"].map((ref) => ({ ...RAIN, ref, title: ref })) });
    const [a, b, c] = created.tracks.map(({ id }) => id);
    const titles = ({ tracks }: ShownPlaylist): string[] => tracks.map(({ title }) => title);

    const mine = await json("playlists", "create", "Mine", "--account", account, "--tracks", `${b},${a}`);
    expect(mine).to.include({ title: "Mine", account, visibility: "private", track_count: 2 });
    expect(titles(mine)).to.deep.equal(["b", "a"]);
    const house = await json("playlists", "create", "House", "--public");
    expect(house).to.include({ account: null, visibility: "public", track_count: 0 });
    expect(await json("playlists", "create", "Open", "--public", "--account", account)).to.include({
      account,
      visibility: "public",
    });

    const { playlists } = await json<{ playlists: ShownPlaylist[] }>("playlists", "list", "--account", account);
    expect(playlists.map(({ title }) => title)).to.deep.equal(["Open", "House", "Mine"]);
    expect(Object.keys(playlists[0] ?? {})).to.deep.equal(["id", "title", "track_count", "tracks"]);
    const list = await sandbox.command(["playlists", "list", "--account", account], dataDir);
    expect(list.stdout).to.match(new RegExp(`\n${mine.id} +private +2 +Mine\n$`));
    const members = ["id", "title", "track_count", "tracks", "account", "visibility", "created_at"];
    expect(await json("playlists", "show", mine.id)).to.have.all.keys(members);
    const one = await sandbox.command(["playlists", "show", mine.id], dataDir);
    expect(one.stdout)
      .to.match(/^title +Mine$/m)
      .and.match(new RegExp(`^${a} +a +Nightingale$`, "m"));

    const edited = await json(
      "playlists",
      "edit",
      mine.id,
      "--title",
      "Ours",
      "--public",
      "--add",
      c ?? "",
      "--remove",
      b ?? "",
    );
    expect(edited).to.include({ id: mine.id, title: "Ours", visibility: "public" });
    expect(titles(edited)).to.deep.equal(["a", "c"]);
    expect(titles(await json("playlists", "edit", mine.id, "--tracks", `${c},${b},${a}`))).to.deep.equal([
      "c",
      "b",
      "a",
    ]);
    expect(titles(await json("playlists", "edit", mine.id, "--tracks", "", "--private"))).to.deep.equal([]);

    expect(await json<object>("playlists", "delete", mine.id)).to.deep.equal({ id: mine.id, deleted: true });
    expect((await sandbox.command(["playlists", "delete", house.id], dataDir)).stdout).to.equal(
      `Deleted ${house.id}.\n`,
    );
    for (const command of [["show"], ["delete"], ["edit", "--title", "x"]]) {
      expect(await refused("playlists", command[0] ?? "", mine.id, ...command.slice(1))).to.equal(
        "There is no such playlist.\n",
      );
    }
  });

  it("refuses playlists that cannot be", async () => {
    const created = await imported({ tracks: [{ ...RAIN, account, visibility: "private" }] });
    const own = created.tracks[0]?.id ?? "";
    const bob = (await json<{ id: string }>("accounts", "create", "bob", "--tier", "pro")).id;
    expect(await refused("playlists", "create", "x", "--account", "acct_unknown")).to.equal(
      "There is no account acct_unknown.\n",
    );
    const foreign = await refused("playlists", "create", "x", "--account", bob, "--tracks", own);
    expect(foreign).to.equal(`There is no track that ${bob} may play ${own}.\n`);
    expect(await refused("playlists", "create", "x", "--public", "--tracks", `${own},trk_x`)).to.equal(
      `There is no public track ${own}.\nThere is no public track trk_x.\n`,
    );
    expect(await refused("playlists", "create", "x", "--account", account, "--tracks", `${own},${own}`)).to.include(
      "is named twice",
    );
    expect(await refused("playlists", "create", " ", "--public")).to.include("title must not be blank");
    const { id } = await json("playlists", "create", "House", "--public");
    expect(await refused("playlists", "edit", id, "--private")).to.include("needs an account");
    expect(await refused("playlists", "edit", id, "--add", own)).to.equal(`There is no public track ${own}.\n`);
    expect(await refused("playlists", "list", "--account", "acct_unknown")).to.equal(
      "There is no account acct_unknown.\n",
    );
    expect(await json("playlists", "show", id)).to.include({ title: "House", visibility: "public", track_count: 0 });
  });
});

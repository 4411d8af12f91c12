import { createReadStream } from "node:fs";
import { readFile, stat } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import type { Command } from "commander";
import { OperationRefusedError } from "../../core/errors.js";
import type { TrackWithLyrics } from "../../core/library/lyrics.js";
import { SEARCH_LIMIT } from "../../core/library/search-rules.js";
import { assetOf } from "../../core/library/track.js";
import { printable } from "../../core/printable.js";
import { addServerOptions, type ServerFlags } from "./caller/server.js";
import { foundLines, searchServer } from "./caller/show.js";
import type { CliHost } from "./host.js";
import { accountIn, addCommand, addGroup, iso, print, table, withApp, withProgress } from "./output.js";
import { wholeNumberWithin } from "./values.js";

interface SearchOptions extends ServerFlags {
  readonly account?: string;
  readonly mood?: string;
  readonly activity?: string;
  readonly limit: number;
  readonly json?: boolean;
}

/** `library …`. */
export function addLibraryCommands(program: Command, host: CliHost): void {
  const library = addGroup(program, "library", "Import, share and search tracks");
  addCommand(library, "import <file>", "Import tracks and playlists, all or none; a second import creates them again", [
    "library import catalogue.json",
    "library import catalogue.json --json",
  ]).action(async (file: string, options: { json?: boolean }) => {
    const created = await withApp(host, async (app) => {
      const document = await readJson(file);
      return withProgress(host, "Importing", () => app.library.import(document, dirname(resolve(file))));
    });
    const rows = [...created.tracks, ...created.playlists].map(({ id, ref }) => [id, ref]);
    print(host, options, created, [
      ...table(rows),
      `Imported ${count(created.tracks, "track")} and ${count(created.playlists, "playlist")}.`,
    ]);
  });
  addShow(library, host);
  addUpload(library, host);
  addCommand(library, "share <track>", "Open the public page of a track", ["library share trk_01j…"]).action(
    async (id: string, options: { json?: boolean }) => {
      await withApp(host, async (app, present) => {
        const shareUrl = present.shareUrl(await app.library.manage.share(id));
        print(host, options, { id, share_url: shareUrl }, [`Shared at ${shareUrl}`]);
      });
    },
  );
  addCommand(library, "unshare <track>", "Close the public page of a track, for good", [
    "library unshare trk_01j…",
  ]).action(async (id: string, options: { json?: boolean }) => {
    await withApp(host, async (app, present) => {
      const shareUrl = present.shareUrl(await app.library.manage.unshare(id));
      print(host, options, { id, share_url: shareUrl }, [`${id} is not shared any more.`]);
    });
  });
  addDeletion(library, host);
  addSearch(library, host);
}

function addDeletion(library: Command, host: CliHost): void {
  addCommand(
    library,
    "delete <track>",
    "Delete a track with its files, its lyrics and the stems of its owner, for good",
    ["library delete trk_01j… --yes"],
  )
    .option("--yes", "without asking, which it does on a terminal")
    .action(async (given: string, { yes = false, ...options }: { yes?: boolean; json?: boolean }, command: Command) => {
      if (!yes && host.confirm === null) command.error("error: it needs --yes where there is no terminal to ask on");
      const id = await withApp(host, async (app) => {
        const { track } = await app.library.manage.trackWithLyrics(given);
        const question = `Delete the track ${printable(track.title)} (${track.id})? It cannot be taken back.`;
        if (!yes && (await host.confirm?.(question)) !== true) throw new OperationRefusedError("Nothing was deleted.");
        return app.library.manage.deleteTrack(track.id);
      });
      print(host, options, { id, deleted: true }, [`Deleted ${id}.`]);
    });
}

function addShow(library: Command, host: CliHost): void {
  addCommand(library, "show <track>", "Show a track, and the lyrics that its provider gave", [
    "library show trk_01j…",
    "library show trk_01j… --json",
  ]).action(async (id: string, options: { json?: boolean }) => {
    await withApp(host, async (app, present) => {
      const found = await app.library.manage.trackWithLyrics(id);
      print(host, options, { ...present.singleTrack(found), ...presentOwner(found) }, describe(found));
    });
  });
}

function presentOwner({ track: { accountId, visibility, createdAt } }: TrackWithLyrics): object {
  return { account: accountId, visibility, created_at: iso(createdAt) };
}

function describe({ track, lyrics }: TrackWithLyrics): string[] {
  const duration = assetOf(track, "mix")?.durationSeconds ?? null;
  return [
    ...table([
      ["id", track.id],
      ["title", track.title],
      ["artist", track.artistLabel],
      ["account", track.accountId ?? "-"],
      ["visibility", track.visibility],
      ["created", iso(track.createdAt)],
      ["duration", duration === null ? "-" : `${duration} s`],
      ["words with times", lyrics === null ? "-" : String(lyrics.words?.length ?? 0)],
    ]),
    ...(lyrics === null ? [] : ["", lyrics.text]),
  ];
}

interface UploadOptions {
  readonly account: string;
  readonly title?: string;
  readonly json?: boolean;
}

function addUpload(library: Command, host: CliHost): void {
  addCommand(library, "upload <file>", "Make a private track of an account from an audio file", [
    "library upload hum.wav --account acct_01j…",
    'library upload hum.wav --account acct_01j… --title "Hummed melody" --json',
  ])
    .requiredOption("--account <account>", "whom the track is to belong to; the quota of its tier holds")
    .option("--title <text>", "1 to 200 characters; default: Untitled")
    .action(async (file: string, { account, title, ...options }: UploadOptions) => {
      await withApp(host, async (app, present) => {
        const sizeBytes = await sizeOf(file);
        const upload = {
          accountId: await accountIn(app, account),
          audio: bytesOf(file),
          sizeBytes,
          title: title ?? null,
        };
        const track = await withProgress(host, "Uploading", () => app.library.upload(upload));
        print(host, options, present.track(track), [`Uploaded ${track.id}, "${track.title}".`]);
      });
    });
}

/** Opened once it is read. */
async function* bytesOf(file: string): AsyncGenerator<Uint8Array, void> {
  yield* createReadStream(file) as AsyncIterable<Uint8Array>;
}

/** @throws {OperationRefusedError} there is no such file */
async function sizeOf(file: string): Promise<number> {
  const found = await stat(file).catch((error: unknown) => {
    throw new OperationRefusedError(`${file} cannot be read: ${(error as Error).message}`, { cause: error });
  });
  if (!found.isFile()) throw new OperationRefusedError(`${file} is not a file.`);
  return found.size;
}

function addSearch(library: Command, host: CliHost): void {
  const { minimum, maximum, default: usual } = SEARCH_LIMIT;
  const search = addCommand(
    library,
    "search [q]",
    "Find tracks and playlists, here as an account does or on a server",
    [
      'library search "rain piano" --account acct_01j…',
      'library search "rain piano" --url https://music.example',
      "library search --account acct_01j… --mood calm --activity focus",
    ],
  )
    .option("--account <account>", "of this installation, whose eyes to look with; without it a server is asked")
    .option("--mood <mood>", "only with this mood")
    .option("--activity <activity>", "only with this activity")
    .option(
      "--limit <n>",
      `at most this many of each, ${minimum} to ${maximum}`,
      wholeNumberWithin(minimum, maximum),
      usual,
    );
  addServerOptions(search).action(async (q: string | undefined, flags: SearchOptions, command: Command) => {
    const { account, mood, activity, limit, ...options } = flags;
    const query = { q, mood, activity, limit };
    if (account === undefined) return searchServer(host, query, options, command);
    await withApp(host, async (app, present) => {
      const { tracks, playlists } = await app.library.read.search(await accountIn(app, account), query);
      const shown = {
        tracks: tracks.map((track) => present.track(track)),
        playlists: playlists.map((found) => present.playlist(found)),
      };
      const lines = foundLines({
        tracks: tracks.map(({ id, title, artistLabel }) => ({ id, title, artist_label: artistLabel })),
        playlists: playlists.map(({ playlist: { id, title }, tracks: held }) => {
          return { id, title, track_count: held.length };
        }),
      });
      print(host, options, shown, lines);
    });
  });
}

/** @throws {OperationRefusedError} no such file, or no JSON in it */
async function readJson(file: string): Promise<unknown> {
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(await readFile(file));
  } catch (error) {
    throw new OperationRefusedError(`${file} cannot be read: ${(error as Error).message}`, { cause: error });
  }
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new OperationRefusedError(`${file} is not JSON: ${(error as Error).message}`);
  }
}

function count(items: readonly unknown[], what: string): string {
  return `${items.length} ${what}${items.length === 1 ? "" : "s"}`;
}

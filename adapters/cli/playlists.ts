import { type Command, Option } from "commander";
import type { Playlist } from "../../core/library/playlist.js";
import type { PlaylistWithTracks } from "../../core/library/read-library.js";
import type { CliHost, OperatorApp, Presenters } from "./host.js";
import { accountIn, addCommand, addGroup, iso, print, table, withApp } from "./output.js";

interface CreateOptions {
  readonly account?: string;
  readonly public?: boolean;
  readonly tracks?: readonly string[];
  readonly json?: boolean;
}

interface EditOptions {
  readonly title?: string;
  readonly public?: boolean;
  readonly private?: boolean;
  readonly tracks?: readonly string[];
  readonly add?: readonly string[];
  readonly remove?: readonly string[];
  readonly json?: boolean;
}

/** `playlists …`. */
export function addPlaylistCommands(program: Command, host: CliHost): void {
  const playlists = addGroup(program, "playlists", "Make, look at, change and delete playlists");
  addCreate(playlists, host);
  addCommand(playlists, "list", "List an account's own playlists and public ones, newest first", [
    "playlists list --account acct_01j…",
  ])
    .requiredOption("--account <account>", "whose eyes to look with")
    .action(async (options: { account: string; json?: boolean }) => {
      await withApp(host, async (app, present) => {
        const list = await app.library.read.playlists(await accountIn(app, options.account));
        const rows = list.map(({ playlist, tracks }) => [
          playlist.id,
          playlist.visibility,
          String(tracks.length),
          playlist.title,
        ]);
        const shown = { playlists: list.map((found) => present.playlist(found)) };
        print(host, options, shown, rows.length === 0 ? ["No playlists."] : table(rows));
      });
    });
  addCommand(playlists, "show <id>", "Show a playlist with all that it holds", ["playlists show pls_01j…"]).action(
    async (id: string, options: { json?: boolean }) => {
      await withApp(host, (app, present) => show(host, options, app, present, id));
    },
  );
  addEdit(playlists, host);
  addCommand(playlists, "delete <id>", "Delete a playlist; its tracks stay", ["playlists delete pls_01j…"]).action(
    async (id: string, options: { json?: boolean }) => {
      await withApp(host, (app) => app.library.manage.deletePlaylist(id));
      print(host, options, { id, deleted: true }, [`Deleted ${id}.`]);
    },
  );
}

function addCreate(playlists: Command, host: CliHost): void {
  addCommand(playlists, "create <title>", "Make a playlist", [
    'playlists create "Rainy evenings" --account acct_01j… --tracks trk_01j…,trk_01k…',
    'playlists create "House favourites" --public',
  ])
    .option("--account <account>", "the owner; without it the playlist has none")
    .option("--public", "for everybody to see; private without it")
    .option("--tracks <ids>", "comma-separated, in this order", idsOf)
    .action(async (title: string, options: CreateOptions, command: Command) => {
      if (options.account === undefined && options.public !== true)
        command.error("error: name an --account, or make it --public");
      await withApp(host, async (app, present) => {
        const visibility = options.public === true ? "public" : "private";
        const accountId = options.account === undefined ? null : await accountIn(app, options.account);
        const wanted = { title, accountId, visibility, tracks: options.tracks } as const;
        await show(host, options, app, present, (await app.library.manage.createPlaylist(wanted)).id);
      });
    });
}

function addEdit(playlists: Command, host: CliHost): void {
  addCommand(playlists, "edit <id>", "Change a playlist; what is not named stays", [
    'playlists edit pls_01j… --title "Rainy mornings" --public',
    "playlists edit pls_01j… --add trk_01j… --remove trk_01k…",
    "playlists edit pls_01j… --tracks trk_01k…,trk_01j…",
  ])
    .option("--title <title>", "its new title")
    .addOption(new Option("--public", "for everybody to see").conflicts("private"))
    .option("--private", "for its account alone")
    .option("--add <ids>", "comma-separated, at the end", idsOf)
    .option("--remove <ids>", "comma-separated", idsOf)
    .addOption(
      new Option("--tracks <ids>", "comma-separated, replaces all its tracks")
        .argParser(idsOf)
        .conflicts(["add", "remove"]),
    )
    .action(async (id: string, { json = false, ...options }: EditOptions, command: Command) => {
      if (Object.keys(options).length === 0) command.error("error: name what is to change");
      const { title, tracks, add, remove } = options;
      const visibility = options.public === true ? "public" : options.private === true ? "private" : undefined;
      await withApp(host, async (app, present) => {
        await app.library.manage.editPlaylist(id, { title, visibility, tracks, add, remove });
        await show(host, { json }, app, present, id);
      });
    });
}

async function show(
  host: CliHost,
  options: { readonly json?: boolean },
  app: OperatorApp,
  present: Presenters,
  id: string,
): Promise<void> {
  const found = await app.library.manage.playlist(id);
  print(host, options, { ...present.playlist(found), ...presentOwner(found.playlist) }, describe(found));
}

function presentOwner({ accountId, visibility, createdAt }: Playlist): object {
  return { account: accountId, visibility, created_at: iso(createdAt) };
}

function describe({ playlist, tracks }: PlaylistWithTracks): string[] {
  return [
    ...table([
      ["id", playlist.id],
      ["title", playlist.title],
      ["account", playlist.accountId ?? "-"],
      ["visibility", playlist.visibility],
      ["created", iso(playlist.createdAt)],
      ["tracks", String(tracks.length)],
    ]),
    ...table(tracks.map((track) => [track.id, track.title, track.artistLabel])),
  ];
}

/** None in an empty text. */
function idsOf(text: string): string[] {
  return text
    .split(",")
    .map((id) => id.trim())
    .filter((id) => id !== "");
}

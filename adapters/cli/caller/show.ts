import type { Command } from "commander";
import type { CliHost } from "../host.js";
import { print, table } from "../output.js";
import type { CallerFound, CallerSearch } from "./caller-api.js";
import { connect, type ServerFlags } from "./server.js";

const OR_ACCOUNT = "; or name an account of this installation";
const OR_ACCOUNT_FLAG = "; or name an --account of this installation";

type ShowFlags = ServerFlags & { readonly json?: boolean };

/** `credits show` of the key's own account. */
export async function showOwnCredits(host: CliHost, flags: ShowFlags, command: Command): Promise<void> {
  const credits = await (await connect(host, flags, command, OR_ACCOUNT)).credits();
  const { available, monthly_credits: monthly, pack_credits: pack, total_spent: spent } = credits;
  const rows = Object.entries({ available, monthly, pack, spent }).map(([name, value]) => [name, String(value)]);
  print(host, flags, credits, table(rows));
}

/** `models list` of a server. */
export async function listServedModels(host: CliHost, flags: ShowFlags, command: Command): Promise<void> {
  const models = await (await connect(host, flags, command)).models();
  const rows = models.map(({ id, credit_cost: cost, status }) => [id, `${cost} credits`, status]);
  print(host, flags, { models }, rows.length === 0 ? ["No models."] : table(rows));
}

/** `library search` with the key's own eyes. */
export async function searchServer(
  host: CliHost,
  query: CallerSearch,
  flags: ShowFlags,
  command: Command,
): Promise<void> {
  const found = await (await connect(host, flags, command, OR_ACCOUNT_FLAG)).search(query);
  print(host, flags, found, foundLines(found));
}

/** Of a search, for people. */
export function foundLines({ tracks, playlists }: CallerFound): string[] {
  const rows = [
    ...tracks.map(({ id, title, artist_label: artist }) => [id, title, artist]),
    ...playlists.map(({ id, title, track_count: count }) => [id, title, `${count} track${count === 1 ? "" : "s"}`]),
  ];
  return rows.length === 0 ? ["Nothing found."] : table(rows);
}

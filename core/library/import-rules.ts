import { type AccountId, isId } from "../ids.js";
import type { ImportFile } from "../ports/import-files.js";
import { maySee } from "./access.js";
import { AUDIO_TYPES, audioEndingOf, audioTypeOf } from "./audio-type.js";
import type { ImportDocument, ImportItem, ImportPlaylist, ImportTrack } from "./import-document.js";
import type { Issues } from "./members-reader.js";

/**
 * Collects the issues of an import of the right form: refs given twice or to nothing, accounts that are not there,
 * items that belong to no account and are private, playlists that hold what their owner may not play.
 *
 * @param accounts those of the document that there are
 */
export function checkImport(
  { tracks, playlists }: ImportDocument,
  accounts: ReadonlySet<string>,
  issues: Issues,
): void {
  for (const { path, accountId, visibility } of [...tracks, ...playlists]) {
    if (accountId === null && visibility === "private") issues.add(`${path}.account`, "is required for a private item");
    if (accountId !== null && !accounts.has(accountId))
      issues.add(`${path}.account`, `there is no account ${accountId}`);
  }
  const trackByRef = indexByRef(tracks, issues);
  indexByRef(playlists, issues);
  for (const playlist of playlists) checkEntries(playlist, trackByRef, issues);
}

/** An item without a ref has its issue already. */
function indexByRef<T extends ImportItem>(items: readonly T[], issues: Issues): Map<string, T> {
  const byRef = new Map<string, T>();
  for (const item of items) {
    const first = byRef.get(item.ref);
    if (first === undefined) byRef.set(item.ref, item);
    else if (item.ref !== "") issues.add(`${item.path}.ref`, `is the ref of ${first.path} too`);
  }
  return byRef;
}

function checkEntries(playlist: ImportPlaylist, trackByRef: ReadonlyMap<string, ImportTrack>, issues: Issues): void {
  const seen = new Map<string, string>();
  for (const { text: ref, path } of playlist.tracks) {
    const track = trackByRef.get(ref);
    const before = seen.get(ref);
    if (before !== undefined) issues.add(path, `is the track of ${before} too; a playlist holds a track once`);
    else if (track === undefined)
      issues.add(path, `there is no track with the ref ${JSON.stringify(ref)} in this import`);
    else if (!maySee(ownedBy(track), ownedBy(playlist).accountId))
      issues.add(path, `${track.path} is private to another account`);
    if (before === undefined) seen.set(ref, path);
  }
}

/** An import names accounts by texts that may be no ids; those have their issue already. */
function ownedBy(item: ImportItem): {
  readonly accountId: AccountId | null;
  readonly visibility: ImportItem["visibility"];
} {
  const accountId = item.accountId !== null && isId("acct", item.accountId) ? item.accountId : null;
  return { accountId, visibility: item.visibility };
}

/** What is wrong with a file of sound; null when it can be stored. */
export function audioFileIssue(path: string, { sizeBytes, head }: ImportFile, maxBytes: number): string | null {
  const endings = Object.keys(AUDIO_TYPES).join(", ");
  const ending = audioEndingOf(path);
  if (ending === null) return `must end with one of ${endings}`;
  if (sizeBytes > maxBytes) return `has ${sizeBytes} bytes; at most ${maxBytes} are allowed`;
  const type = audioTypeOf(head);
  if (type === null) return `holds none of ${endings}`;
  return type === ending ? null : `holds ${type}, although it ends with ${ending}`;
}

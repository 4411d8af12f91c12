import { type IdPrefix, isId, type PlaylistId, type TrackId } from "../ids.js";
import type { PositionForm } from "../lists/cursors.js";
import type { SearchPosition } from "./search.js";

/**
 * Where a page of a search begins in the tracks, and in the playlists, that it finds: behind a position. undefined:
 * with the best; null: all were shown.
 */
export interface FoundPlace {
  readonly tracks: SearchPosition | null | undefined;
  readonly playlists: SearchPosition | null | undefined;
}

/** A place in a search, as its cursor holds it. */
export const FOUND_PLACE: PositionForm<FoundPlace> = {
  toParts: ({ tracks, playlists }) => [...partsOf(tracks), ...partsOf(playlists)],
  fromParts: (parts) => {
    const [tracks, playlists] = [toPosition(parts.slice(0, 3), "trk"), toPosition(parts.slice(3), "pls")];
    return tracks === undefined || playlists === undefined ? null : { tracks, playlists };
  },
};

function partsOf(position: FoundPlace["tracks"]): readonly (string | number | null)[] {
  return [position?.rank ?? null, position?.createdAt ?? null, position?.id ?? null];
}

/** undefined: it is none. */
function toPosition([rank, createdAt, id]: readonly unknown[], prefix: IdPrefix): SearchPosition | null | undefined {
  if (rank === null && createdAt === null && id === null) return null;
  const isPosition = [rank, createdAt].every(Number.isSafeInteger) && typeof id === "string" && isId(prefix, id);
  if (!isPosition) return undefined;
  return { rank: rank as number, createdAt: createdAt as number, id: id as TrackId | PlaylistId };
}

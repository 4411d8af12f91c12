import type { ComponentChildren } from "preact";
import { wholeNumber } from "../../parts/format.js";
import type { Resource } from "../../parts/resource.js";
import { type Column } from "../../parts/table.js";
import { Time } from "../../parts/time.js";
import type { Schemas } from "../api.js";
import { Listed, State } from "../shown.js";
import { Owner } from "./track-columns.js";

type Playlist = Schemas["AdminPlaylist"];

const COLUMNS: readonly Column<Playlist>[] = [
  {
    head: "Playlist",
    kind: "main",
    cell: ({ id, title }) => <a href={`#/music/${id}`}>{title}</a>,
  },
  { head: "Visibility", cell: ({ visibility }) => <State of={visibility} /> },
  { head: "Tracks", kind: "number", cell: ({ track_count: count }) => wholeNumber(count) },
  { head: "Owner", cell: ({ account }) => <Owner account={account} /> },
  { head: "Created", cell: ({ created_at: at }) => <Time at={at} /> },
];

interface PlaylistListProps {
  readonly of: Resource<{ readonly playlists: readonly Playlist[] }>;
  readonly empty: ComponentChildren;
}

export function PlaylistList({ of, empty }: PlaylistListProps) {
  return (
    <Listed
      caption="Playlists"
      columns={COLUMNS}
      of={of}
      rows={({ playlists }) => playlists}
      keyOf={({ id }) => id}
      empty={empty}
    />
  );
}

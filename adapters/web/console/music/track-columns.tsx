import { clockTime } from "../../parts/format.js";
import { type Column } from "../../parts/table.js";
import { Time } from "../../parts/time.js";
import type { Schemas } from "../api.js";
import { IdLink, State } from "../shown.js";

type Track = Schemas["AdminTrack"];

/** What lists show of a track. */
export const TRACK_COLUMNS: readonly Column<Track>[] = [
  {
    head: "Track",
    kind: "main",
    cell: ({ id, title, artist_label: artist }) => (
      <>
        <a href={`#/music/${id}`}>{title}</a>
        <small>{artist}</small>
      </>
    ),
  },
  { head: "Visibility", cell: ({ visibility }) => <State of={visibility} /> },
  { head: "Page", cell: ({ share_url: page }) => <SharedPage page={page} /> },
  { head: "Length", cell: ({ duration }) => (duration === null ? "no audio" : clockTime(duration)) },
  { head: "Owner", cell: ({ account }) => <Owner account={account} /> },
  { head: "Created", cell: ({ created_at: at }) => <Time at={at} /> },
];

/** Whose a track or a playlist is. */
export function Owner({ account }: { readonly account: string | null }) {
  return account === null ? <>no account</> : <IdLink id={account} to="accounts" />;
}

/** The public page of a track, while there is one. */
export function SharedPage({ page }: { readonly page: string | null }) {
  if (page === null) return <>not shared</>;
  return (
    <a href={page} target="_blank" rel="noreferrer">
      shared
    </a>
  );
}

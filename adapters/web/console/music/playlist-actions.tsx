import { navigate } from "../../parts/route.js";
import { Action } from "../action.js";
import type { ActionField } from "../action-field.js";
import { admin, read, type Schemas } from "../api.js";
import { counted } from "../words.js";

type Playlist = Schemas["AdminPlaylistReport"];

const TITLE: ActionField = { name: "title", label: "Title" };
const VISIBILITY: ActionField = {
  name: "visibility",
  label: "Visibility",
  choices: [
    ["private", "Private: for its account alone"],
    ["public", "Public: for everyone"],
  ],
};
const IDS: ActionField = { name: "tracks", label: "Tracks", hint: "Their ids, in this order.", type: "long" };

/** Ids with anything but letters, digits and `_` in between. */
function idsIn(text = ""): string[] {
  return text.split(/[^\w]+/).filter((id) => id !== "");
}

interface NewPlaylistProps {
  /** null: it belongs to no account, and is public. */
  readonly account: string | null;
  readonly onDone: () => void;
}

export function NewPlaylist({ account, onDone }: NewPlaylistProps) {
  return (
    <Action
      label="New playlist…"
      needs="operate"
      title={account === null ? "New public playlist" : "New playlist"}
      submit="Create"
      fields={[TITLE, ...(account === null ? [] : [VISIBILITY]), { ...IDS, isOptional: true }]}
      run={async ({ title = "", visibility, tracks }, headers) => {
        const wanted = { title, tracks: idsIn(tracks) };
        const { id } =
          account === null
            ? await read(admin.POST("/admin/v1/playlists", { body: wanted, headers }))
            : await read(
                admin.POST("/admin/v1/accounts/{id}/playlists", {
                  params: { path: { id: account } },
                  body: { ...wanted, visibility: visibilityOf(visibility) },
                  headers,
                }),
              );
        navigate(`/music/${id}`);
        return `${title} is created.`;
      }}
      onDone={onDone}
    >
      {account === null ? <p>It belongs to no account, everyone sees it, and it takes public tracks alone.</p> : null}
    </Action>
  );
}

function visibilityOf(value: string | undefined): Playlist["visibility"] {
  return value === "public" ? "public" : "private";
}

interface OfPlaylist {
  readonly playlist: Playlist;
  readonly onDone: () => void;
}

/** What can be done with a playlist as a whole. */
export function PlaylistActions({ playlist, onDone }: OfPlaylist) {
  const { id, title, visibility, account, track_count: count } = playlist;
  const params = { path: { id } };
  return (
    <>
      <Action
        label="Add tracks…"
        look="primary"
        needs="operate"
        title={`Add tracks to ${title}`}
        submit="Add"
        fields={[IDS]}
        run={async ({ tracks }, headers) => {
          const body = { add: idsIn(tracks) };
          const changed = await read(admin.PATCH("/admin/v1/playlists/{id}", { params, body, headers }));
          return `${title} has ${counted(changed.track_count, "track")}.`;
        }}
        onDone={onDone}
      >
        <p>They come to the end. {account === null ? "It takes public tracks alone." : OWN}</p>
      </Action>
      <Action
        label="Edit…"
        needs="operate"
        title={`Edit ${title}`}
        submit="Save"
        fields={[{ ...TITLE, initial: title }, ...(account === null ? [] : [{ ...VISIBILITY, initial: visibility }])]}
        run={async (values, headers) => {
          const shown = account === null ? {} : { visibility: visibilityOf(values["visibility"]) };
          const body = { title: values["title"] ?? "", ...shown };
          await read(admin.PATCH("/admin/v1/playlists/{id}", { params, body, headers }));
          return `${body.title} is saved.`;
        }}
        onDone={onDone}
      />
      <Action
        label="Delete…"
        needs="operate"
        title={`Delete ${title}`}
        submit="Delete"
        look="danger"
        run={async (_, headers) => {
          await read(admin.DELETE("/admin/v1/playlists/{id}", { params, headers }));
          navigate(account === null ? "/music" : `/accounts/${account}/music`);
          return `${title} is deleted.`;
        }}
        onDone={() => undefined}
      >
        <p>
          The list of its {counted(count, "track")} is lost, <strong>for good</strong>. The tracks themselves stay.
        </p>
      </Action>
    </>
  );
}

const OWN = "It takes public tracks and those of its account.";

/** What can be done with one track of a playlist. */
export function EntryActions({ playlist, index, onDone }: OfPlaylist & { readonly index: number }) {
  const track = playlist.tracks[index];
  if (track === undefined) return null;
  const params = { path: { id: playlist.id } };
  return (
    <>
      <Action
        label="Move…"
        needs="operate"
        title={`Move ${track.title}`}
        submit="Move"
        fields={[
          { name: "place", label: "Place", hint: "1 is the first.", type: "number", initial: String(index + 1) },
        ]}
        run={async ({ place }, headers) => {
          const body = { move: { track: track.id, to: Number(place) - 1 } };
          await read(admin.PATCH("/admin/v1/playlists/{id}", { params, body, headers }));
          return `${track.title} is moved.`;
        }}
        onDone={onDone}
      />
      <Action
        label="Remove…"
        needs="operate"
        title={`Remove ${track.title} from ${playlist.title}`}
        submit="Remove"
        look="danger"
        run={async (_, headers) => {
          const body = { remove: [track.id] };
          await read(admin.PATCH("/admin/v1/playlists/{id}", { params, body, headers }));
          return `${track.title} is removed.`;
        }}
        onDone={onDone}
      >
        <p>The track itself stays.</p>
      </Action>
    </>
  );
}

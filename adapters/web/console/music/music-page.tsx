import { navigate } from "../../parts/route.js";
import { useResource } from "../../parts/resource.js";
import { Action } from "../action.js";
import { admin, read } from "../api.js";
import { Filters } from "../filter.js";
import { Empty } from "../shown.js";
import { Section, View } from "../shell/view.js";
import { counted } from "../words.js";
import { NewPlaylist } from "./playlist-actions.js";
import { PlaylistList } from "./playlist-list.js";
import { Icon } from "../../parts/icons.js";

/** What of the library belongs to no one account. That of an account is at its own page. */
export function MusicPage() {
  const resource = useResource((signal) => read(admin.GET("/admin/v1/playlists", { signal })), []);
  return (
    <View
      title="Music"
      lead="Playlists that everyone sees. The music of an account is at its page."
      actions={<Import onDone={resource.reload} />}
    >
      <Filters label="Tracks and playlists">
        <ById />
      </Filters>
      <Section title="Public playlists" actions={<NewPlaylist account={null} onDone={resource.reload} />}>
        <PlaylistList
          of={resource}
          empty={<Empty title="No public playlists">Those that you create here belong to no account.</Empty>}
        />
      </Section>
    </View>
  );
}

/** Opens a track or a playlist of any account. */
function ById() {
  return (
    <label class="search">
      <span>Open</span>
      <span class="search-box">
        <Icon name="search" />
        <input
          type="search"
          placeholder="Id of a track or a playlist"
          onChange={(event) => {
            const id = event.currentTarget.value.trim();
            if (id !== "") navigate(`/music/${encodeURIComponent(id)}`);
          }}
        />
      </span>
    </label>
  );
}

function Import({ onDone }: { readonly onDone: () => void }) {
  return (
    <Action
      label="Import…"
      needs="operate"
      title="Import a catalogue"
      submit="Import"
      fields={[
        {
          name: "file",
          label: "Catalogue",
          hint: "A JSON file, as fermata library import reads it.",
          type: "file",
          accept: ".json,application/json",
        },
      ]}
      run={async (_, headers, { data }) => {
        const body = await documentIn(data.get("file") as File);
        const { tracks, playlists } = await read(admin.POST("/admin/v1/library/imports", { body, headers }));
        return `Imported ${counted(tracks.length, "track")} and ${counted(playlists.length, "playlist")}.`;
      }}
      onDone={onDone}
    >
      <p>
        All of its tracks and playlists are created, or none; <strong>a second import creates them again</strong>.
        Tracks with audio files are imported with the command line, which finds the files next to the catalogue.
      </p>
    </Action>
  );
}

/** @throws {Error} it is not JSON */
async function documentIn(file: File): Promise<Record<string, unknown>> {
  const text = await file.text();
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch (error) {
    throw new Error(`${file.name} is not JSON: ${(error as Error).message}`, { cause: error });
  }
}

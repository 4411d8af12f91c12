import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { App } from "../../config/index.js";
import type { TrackId } from "../../core/ids.js";

/** The members of an imported track that a test sets; the rest is ordinary, and it is public. */
export interface ImportedTrack {
  readonly title?: string;
  readonly artist_label?: string;
  readonly tags?: { readonly mood: readonly string[] };
  /** Without it the track has no audio. */
  readonly audio?: Uint8Array;
  /** `mp3` by default. */
  readonly ending?: string;
}

/** Imports a track into an app's library. */
export async function importTrack(app: App, { audio, ending = "mp3", ...given }: ImportedTrack = {}): Promise<TrackId> {
  const folder = await mkdtemp(join(tmpdir(), "fermata-import-"));
  try {
    if (audio !== undefined) await writeFile(join(folder, `mix.${ending}`), audio);
    const track = {
      ref: "a",
      account: null,
      visibility: "public",
      title: "Rain on a tin roof",
      artist_label: "Nightingale",
      ...(audio === undefined ? {} : { audio_file: `mix.${ending}` }),
      ...given,
    };
    const { tracks } = await app.library.import({ tracks: [track] }, folder);
    return (tracks[0] as { readonly id: TrackId }).id;
  } finally {
    await rm(folder, { recursive: true });
  }
}

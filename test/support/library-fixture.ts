import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { App, Overrides } from "../../config/index.js";
import type { AccountId } from "../../core/ids.js";

/** Half a second of silence: 8 kHz, 8 bit, mono. */
export const SILENCE_WAV = wav(4_000);

/** Without analysis and covers, so that the silence takes no time. */
export const UNHEARD: Overrides = {
  audioAnalyser: { analyse: () => Promise.resolve(null), close: () => Promise.resolve() },
  coverPainter: { paint: () => Promise.reject(new Error("There is no paint.")) },
};

/** A track of an import file; missing members get defaults. */
export interface FixtureTrack {
  readonly account?: AccountId | null;
  readonly visibility?: "public" | "private";
  readonly title?: string;
  readonly artist_label?: string;
  readonly bpm?: number;
  readonly prompt?: string;
  readonly tags?: { readonly [group: string]: readonly string[] };
  /** Without it a track is found by id only. */
  readonly hasAudio?: boolean;
}

export interface FixturePlaylist {
  readonly account?: AccountId | null;
  readonly visibility?: "public" | "private";
  readonly title?: string;
  readonly tracks?: readonly string[];
}

/** Fills the library of an app, by importing. */
export class LibraryFixture {
  private constructor(
    private readonly app: App,
    private readonly folder: string,
  ) {}

  static async open(app: App): Promise<LibraryFixture> {
    const folder = await mkdtemp(join(tmpdir(), "fermata-library-"));
    await writeFile(join(folder, "silence.wav"), SILENCE_WAV);
    return new LibraryFixture(app, folder);
  }

  /**
   * Adds tracks, by default playable and private to `account`, and playlists; later ones are newer.
   *
   * @returns the id of each by its name
   */
  async add<Name extends string>(
    account: AccountId | null,
    tracks: Readonly<Record<Name, FixtureTrack>>,
    playlists: Readonly<Record<string, FixturePlaylist>> = {},
  ): Promise<Readonly<Record<string, string>>> {
    const visibility = account === null ? "public" : "private";
    const created = await this.app.library.import(
      {
        tracks: Object.entries<FixtureTrack>(tracks).map(([ref, { hasAudio = true, ...given }]) => ({
          ref,
          ...{ account, visibility, title: ref, artist_label: "Nightingale", ...given },
          ...(hasAudio ? { audio_file: "silence.wav" } : {}),
        })),
        playlists: Object.entries(playlists).map(([ref, given]) => ({
          ref,
          account,
          visibility,
          title: ref,
          tracks: [],
          ...given,
        })),
      },
      this.folder,
    );
    return Object.fromEntries([...created.tracks, ...created.playlists].map(({ ref, id }) => [ref, id]));
  }

  close(): Promise<void> {
    return rm(this.folder, { recursive: true, force: true });
  }
}

/** A track of a response without the signatures of its links, which change with time. */
export function unsigned(track: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const cut = (value: unknown): unknown => (typeof value === "string" ? value.split("?expires=")[0] : value);
  return Object.fromEntries(Object.entries(track).map(([name, value]) => [name, cut(value)]));
}

function wav(samples: number): Buffer {
  const header = Buffer.alloc(44);
  header.write("RIFF", 0, "latin1");
  header.writeUInt32LE(36 + samples, 4);
  header.write("WAVEfmt ", 8, "latin1");
  header.writeUInt32LE(16, 16);
  for (const [value, offset] of [
    [1, 20],
    [1, 22],
    [1, 32],
    [8, 34],
  ] as const)
    header.writeUInt16LE(value, offset);
  header.writeUInt32LE(8_000, 24);
  header.writeUInt32LE(8_000, 28);
  header.write("data", 36, "latin1");
  header.writeUInt32LE(samples, 40);
  return Buffer.concat([header, Buffer.alloc(samples, 128)]);
}

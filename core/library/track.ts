import type { AccountId, JobId, TrackId } from "../ids.js";
import { withoutControls } from "../printable.js";
import type { ProviderAsset, ProviderReference, TrackTags } from "../ports/music-provider.js";

/** A stored file of a track. */
export interface TrackAsset {
  readonly role: ProviderAsset["role"];
  readonly label: string;
  /** Where the AudioStore keeps it. */
  readonly audioKey: string;
  readonly contentType: string;
  readonly sizeBytes: number;
  readonly durationSeconds: number | null;
}

export interface Track {
  readonly id: TrackId;
  /** null on public tracks without an owner. */
  readonly accountId: AccountId | null;
  /** The job that created it; null on imported tracks. */
  readonly jobId: JobId | null;
  /** Its place among the tracks of its job, from 0. */
  readonly position: number;
  readonly title: string;
  readonly artistLabel: string;
  readonly bpm: number | null;
  readonly prompt: string | null;
  readonly visibility: "public" | "private";
  readonly tags: TrackTags;
  readonly assets: readonly TrackAsset[];
  /**
   * Loudness along the mix, for drawing: a byte for each point, at most {@link WAVEFORM_POINTS}; null when it is not
   * known.
   */
  readonly waveform: Uint8Array | null;
  /** Names the public page of the track while it is shared; null when it is not. Never used again once taken back. */
  readonly shareToken: string | null;
  /** Goes up when the track is unshared: signed links to its files carry it, and die with the number they carry. */
  readonly linkGeneration: number;
  /** The provider that created it, and that provider's reference to it; null on imported tracks. */
  readonly origin: TrackOrigin | null;
  readonly createdAt: number;
}

export interface TrackOrigin {
  readonly providerId: string;
  /** null when the provider gave none. */
  readonly reference: ProviderReference | null;
}

/** The files of a track that its generation links to. */
export const SHOWN_ROLES = ["mix", "cover", "preview"] as const satisfies readonly TrackAsset["role"][];

/** What a generation shows of a file. */
export type ShownAsset = Pick<TrackAsset, "role" | "audioKey" | "durationSeconds">;

/** What a generation shows of its tracks. */
export interface ShownTrack extends Pick<
  Track,
  "id" | "title" | "artistLabel" | "bpm" | "shareToken" | "linkGeneration"
> {
  /** Those of {@link SHOWN_ROLES}. */
  readonly assets: readonly ShownAsset[];
}

/** Points of a {@link Track.waveform}. */
export const WAVEFORM_POINTS = 400;

const TITLE_MAX_LENGTH = 80;

/** The track's asset of this role; null when it has none. */
export function assetOf<Asset extends Pick<TrackAsset, "role">>(
  track: { readonly assets: readonly Asset[] },
  role: TrackAsset["role"],
): Asset | null {
  for (const asset of track.assets) if (asset.role === role) return asset;
  return null;
}

/** The title that a track is stored under: the provider's, or else the first words of the prompt. */
export function titleOf(given: string | null, prompt: string): string {
  const title = withoutControls(given ?? "");
  return title === "" ? titleFromPrompt(prompt) : title;
}

/** A title for a track whose provider gave none: the first words of the prompt. */
export function titleFromPrompt(prompt: string): string {
  const words = withoutControls(prompt).replace(/\s+/gu, " ");
  const characters = [...words];
  if (characters.length <= TITLE_MAX_LENGTH) return words === "" ? "Untitled" : words;
  const cut = characters.slice(0, TITLE_MAX_LENGTH);
  return `${cut.slice(0, Math.max(cut.lastIndexOf(" "), TITLE_MAX_LENGTH / 2)).join("")}…`;
}

import type { AudioUrls } from "../../../core/library/audio-urls.js";
import type { ShareUrls } from "../../../core/library/share-urls.js";
import { assetOf, type Track as LibraryTrack, type TrackAsset } from "../../../core/library/track.js";
import { seconds } from "./time.js";

/** Signs the links in an answer. */
export type LinkSigner = Pick<AudioUrls, "sign">;

/** Makes the links of a track. */
export interface TrackLinks {
  readonly audioUrls: LinkSigner;
  readonly shareUrls: Pick<ShareUrls, "urlOf">;
}

/** A piece of music. Its links are signed, need no API key and expire. */
export interface Track {
  id: string;
  title: string;
  artist_label: string;
  /**
   * Beats per minute.
   * @isInt
   */
  bpm: number | null;
  /** Seconds, with at most 3 decimals. */
  duration: number | null;
  /**
   * The audio; answers Range requests.
   * @format uri
   */
  play_url: string | null;
  /**
   * A page with a player, while the track is shared.
   * @format uri
   */
  share_url: string | null;
  /**
   * A cover image.
   * @format uri
   */
  thumbnail_url: string | null;
  /**
   * A short excerpt.
   * @format uri
   */
  preview_audio_url: string | null;
}

export function presentTrack(track: LibraryTrack, { audioUrls, shareUrls }: TrackLinks): Track {
  const mix = assetOf(track, "mix");
  return {
    id: track.id,
    title: track.title,
    artist_label: track.artistLabel,
    bpm: track.bpm === null ? null : Math.round(track.bpm),
    duration: seconds(mix?.durationSeconds ?? null),
    play_url: urlOf(mix, track, audioUrls),
    share_url: shareUrls.urlOf(track),
    thumbnail_url: urlOf(assetOf(track, "cover"), track, audioUrls),
    preview_audio_url: urlOf(assetOf(track, "preview"), track, audioUrls),
  };
}

function urlOf(
  asset: TrackAsset | null,
  { linkGeneration }: Pick<LibraryTrack, "linkGeneration">,
  links: LinkSigner,
): string | null {
  return asset === null ? null : links.sign(asset.audioKey, { generation: linkGeneration });
}

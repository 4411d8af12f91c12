import type { AudioUrls } from "../../../core/library/audio-urls.js";
import type { ShareUrls } from "../../../core/library/share-urls.js";
import type { TrackWithLyrics } from "../../../core/library/lyrics.js";
import { assetOf, type ShownAsset, type ShownTrack } from "../../../core/library/track.js";
import type { LyricsWord as StoredWord } from "../../../core/ports/music-provider.js";
import { seconds } from "./time.js";

/** Signs the links in a response. */
export type LinkSigner = Pick<AudioUrls, "sign">;

/** Makes the links of a track. */
export interface TrackLinks {
  readonly audioUrls: LinkSigner;
  readonly shareUrls: Pick<ShareUrls, "urlOf">;
}

/** A track. Its links are signed, need no API key and expire. */
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
   * The audio; supports Range requests.
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

/** A word that is sung, and when. */
export interface LyricsWord {
  text: string;
  /** Seconds from the beginning of the track, with at most 3 decimals. */
  start: number;
  /** Seconds; not before its `start`. */
  end: number;
}

/** What the provider of a track says it sang. */
export interface Lyrics {
  /** Lines are separated by line feeds. */
  text: string;
  /** In the order of their beginnings; null where the provider gave no times. */
  words: LyricsWord[] | null;
}

/** A track as it is shown alone. */
export interface SingleTrack extends Track {
  /** What its provider says it sang; left out where it gave none. Lyrics of a request are not repeated here. */
  lyrics?: Lyrics;
}

/** A track without lyrics has the same form as in lists. */
export function presentSingleTrack({ track, lyrics }: TrackWithLyrics, links: TrackLinks): SingleTrack {
  if (lyrics === null) return presentTrack(track, links);
  const { text, words } = lyrics;
  return { ...presentTrack(track, links), lyrics: { text, words: words === null ? null : words.map(presentWord) } };
}

function presentWord({ text, startSeconds, endSeconds }: StoredWord): LyricsWord {
  return { text, start: startSeconds, end: endSeconds };
}

export function presentTrack(track: ShownTrack, { audioUrls, shareUrls }: TrackLinks): Track {
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
  asset: ShownAsset | null,
  { linkGeneration }: Pick<ShownTrack, "linkGeneration">,
  links: LinkSigner,
): string | null {
  return asset === null ? null : links.sign(asset.audioKey, { generation: linkGeneration });
}

import type { SplitOffer as OfferedSplit } from "../../../core/generations/accept-split.js";
import type { Track } from "../../../core/library/track.js";

/** What there is to know of a track beyond its own fields. */
export interface TrackDetails {
  /**
   * How loud it is along its length: at most 400 points of the same duration, 0 to 255; null where its audio could not
   * be read.
   * @isInt
   */
  waveform: number[] | null;
  /** How it can be split here: `POST /api/v1/tracks/{id}/stems` and `…/vocal-removal`. Empty when it cannot. */
  splits: SplitOffer[];
}

export function presentTrackDetails(
  { waveform }: Pick<Track, "waveform">,
  splits: readonly OfferedSplit[],
): TrackDetails {
  return { waveform: waveform === null ? null : [...waveform], splits: splits.map(presentSplitOffer) };
}

/** A way in which a track can be split here. */
export interface SplitOffer {
  operation: "stem_split" | "vocal_removal";
  /**
   * Whole credits.
   * @isInt
   */
  credit_cost: number;
  /** `unavailable`: every provider that can do it is down just now. */
  status: "available" | "unavailable";
}

export function presentSplitOffer({ kind, creditCost, status }: OfferedSplit): SplitOffer {
  return { operation: kind, credit_cost: creditCost, status };
}

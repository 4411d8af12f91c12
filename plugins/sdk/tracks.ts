import type { TrackTags } from "../../core/ports/music-provider.js";

/** The tags of a track for which the provider returns none. */
export const NO_TAGS: TrackTags = { mood: [], activity: [], genre: [], other: [] };

/**
 * A stem's label, in place of the name that its provider has for it: in lower case, with `_` for what no label has.
 *
 * @returns `lead guitar` of `Lead Guitar`, `stem_2` of `2`
 */
export function stemLabel(name: string): string {
  const label = name.toLowerCase().replace(/[^a-z0-9_ -]/g, "_");
  return /^[a-z]/.test(label) && label !== "full" ? label : `stem_${label}`;
}

import type { TrackTags } from "../../core/ports/music-provider.js";

/** The tags of a track for which the provider returns none. */
export const NO_TAGS: TrackTags = { mood: [], activity: [], genre: [], other: [] };

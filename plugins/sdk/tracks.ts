import type { TrackTags } from "../../core/ports/music-provider.js";

/** The tags of a track of which the provider gives none. */
export const NO_TAGS: TrackTags = { mood: [], activity: [], genre: [], other: [] };

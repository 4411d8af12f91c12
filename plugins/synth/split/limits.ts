/** Largest file that is taken apart. */
export const SPLIT_MAX_BYTES = 100_000_000;
/** Longest sound that is taken apart; all that is needed for it fits in a gigabyte. */
export const SPLIT_MAX_SECONDS = 900;

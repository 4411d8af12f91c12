import type { Group } from "./definition.js";
import * as kind from "./kinds.js";

const MIB = 1024 * 1024;
const GIB = 1024 * MIB;

const TIERS: Readonly<Record<string, { readonly maxTracks: number; readonly maxBytes: number }>> = {
  plus: { maxTracks: 100, maxBytes: 2 * GIB },
  pro: { maxTracks: 1_000, maxBytes: 20 * GIB },
};
const OTHER_TIERS = { maxTracks: 10, maxBytes: 200 * MIB };

/** Limits of uploads, for accounts of any tier. */
export const uploads = {
  maxBytes: kind.integer({
    default: 50 * MIB,
    min: 1_024,
    max: 16_384 * MIB,
    unit: "bytes",
    description: "Largest file that an account may upload; `audio.maxBytes` where that is less",
  }),
  maxSeconds: kind.integer({
    default: 900,
    min: 1,
    max: 7_200,
    unit: "seconds",
    description: "Longest audio that an account may upload",
  }),
  timeoutSeconds: kind.duration({
    default: 300,
    max: 3_000,
    unit: "seconds",
    description: "How long an upload may take to arrive; other requests have `http.requestTimeoutSeconds`",
  }),
} as const satisfies Group;

/** What the uploads of one account may hold. */
export const ofTier = {
  maxTracks: kind.integer({
    default: kind.workedOut(
      "plus `100`, pro `1000`, others `10`",
      ({ name }) => (TIERS[name] ?? OTHER_TIERS).maxTracks,
    ),
    min: 0,
    unit: "tracks",
    description: "Tracks that an account of this tier may have uploaded; `0` turns uploads off",
  }),
  maxBytes: kind.integer({
    default: kind.workedOut(
      "plus `2147483648`, pro `21474836480`, others `209715200`",
      ({ name }) => (TIERS[name] ?? OTHER_TIERS).maxBytes,
    ),
    min: 0,
    unit: "bytes",
    description: "What the files that an account of this tier uploaded may hold together; `0` turns uploads off",
  }),
} as const satisfies Group;

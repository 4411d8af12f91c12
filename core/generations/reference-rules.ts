import { InvalidRequestError, type RequestIssue, TrackNotFoundError } from "../errors.js";
import { type AccountId, isId } from "../ids.js";
import type { JobRequest, SourceUse } from "../jobs/job.js";
import { maySee } from "../library/access.js";
import { assetOf, type Track } from "../library/track.js";
import { REFERENCE_MODES, type ReferenceMode } from "../ports/music-provider.js";

/** A track to work from, as a caller names it. */
export interface GivenReference {
  readonly trackId: string;
  readonly mode: string;
  /** Seconds. */
  readonly from?: number | undefined;
  readonly to?: number | undefined;
  /** 0 to 1. */
  readonly strength?: number | undefined;
}

/** The members that each mode takes in addition to the track. */
const MEMBERS: Readonly<
  Record<ReferenceMode, { readonly required: readonly string[]; readonly optional: readonly string[] }>
> = {
  extend: { required: [], optional: ["from", "strength"] },
  cover: { required: [], optional: ["strength"] },
  inpaint: { required: ["from", "to"], optional: ["strength"] },
};

/** What holds for every model. Which modes a model has, and for which tracks, is checked against the model. */
export function checkReference(reference: GivenReference | undefined): RequestIssue[] {
  if (reference === undefined) return [];
  const issues: RequestIssue[] = [];
  const issue = (member: string, message: string): void => {
    issues.push({ path: `body.reference.${member}`, message });
  };
  if (!isMode(reference.mode)) {
    issue("mode", `must be one of ${REFERENCE_MODES.join(", ")}`);
    return issues;
  }
  const { required, optional } = MEMBERS[reference.mode];
  for (const member of ["from", "to", "strength"] as const) {
    const value = reference[member];
    if (value === undefined) {
      if (required.includes(member)) issue(member, `is required to ${reference.mode}`);
    } else if (![...required, ...optional].includes(member)) issue(member, `does not go with ${reference.mode}`);
    else if (!Number.isFinite(value) || value < 0) issue(member, "must be a number of at least 0");
    else if (member === "strength" && value > 1) issue(member, "must be 0 to 1");
  }
  const { from, to } = reference;
  if (issues.length === 0 && from !== undefined && to !== undefined && to <= from) issue("to", "must be behind from");
  return issues;
}

/** How a checked request uses its track; null where it names none. */
export function sourceUseOf(reference: GivenReference | undefined): Pick<JobRequest, "sourceTrackId" | "sourceUse"> {
  if (reference === undefined) return { sourceTrackId: null, sourceUse: null };
  const { trackId, mode, from = null, to = null, strength = null } = reference;
  const sourceUse: SourceUse = { mode: mode as ReferenceMode, fromSeconds: from, toSeconds: to, strength };
  return { sourceTrackId: isId("trk", trackId) ? trackId : null, sourceUse };
}

/**
 * @param track null: there is none of this id
 * @throws {TrackNotFoundError} no such track, it has no audio, or the account may not play it
 */
export function checkPlayable(track: Track | null, accountId: AccountId): asserts track is Track {
  if (track === null || !maySee(track, accountId) || assetOf(track, "mix") === null) throw new TrackNotFoundError();
}

/** @throws {InvalidRequestError} */
export function refuseIf(issues: readonly RequestIssue[]): void {
  if (issues.length > 0) throw new InvalidRequestError(issues);
}

function isMode(mode: string): mode is ReferenceMode {
  return (REFERENCE_MODES as readonly string[]).includes(mode);
}

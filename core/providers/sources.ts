import type { RequestIssue } from "../errors.js";
import type { SourceUse } from "../jobs/job.js";
import { assetOf, type Track, type TrackAsset } from "../library/track.js";
import { REFERENCE_MODES, type ProviderModel, type ReferenceMode, type SourceLimits } from "../ports/music-provider.js";

/** Who is to be given a track. */
export interface SourceTaker {
  readonly id: string;
  readonly label: string;
  readonly isReachable: boolean;
}

/**
 * The file of a track that a provider is given: the lossless copy where it takes that, else the mix; null when it takes
 * neither.
 */
export function sourceFileOf(
  track: Pick<Track, "assets">,
  { contentTypes, maxBytes, maxSeconds }: SourceLimits,
): TrackAsset | null {
  const files = [assetOf(track, "master"), assetOf(track, "mix")].flatMap((asset) => asset ?? []);
  const fitting = files.find(
    ({ contentType, sizeBytes, durationSeconds }) =>
      (contentTypes === undefined || contentTypes.some((type) => type === contentType)) &&
      (maxBytes === undefined || sizeBytes <= maxBytes) &&
      (maxSeconds === undefined || durationSeconds === null || durationSeconds <= maxSeconds),
  );
  return fitting ?? null;
}

/** Whether a provider can be given a track within these limits. */
export function takesSource(limits: SourceLimits, taker: SourceTaker, track: Track): boolean {
  const isOwn = track.origin?.providerId === taker.id;
  return (
    (limits.sources === "any" || isOwn) &&
    (limits.needsUrl !== true || taker.isReachable) &&
    sourceFileOf(track, limits) !== null
  );
}

/** The modes that a model has and this installation can offer. */
export function modesOf(
  { references = {} }: Pick<ProviderModel, "references">,
  { isReachable }: SourceTaker,
): ReferenceMode[] {
  return REFERENCE_MODES.filter((mode) => {
    const capability = references[mode];
    return capability !== undefined && (capability.needsUrl !== true || isReachable);
  });
}

/** The issues of a generation from a track by a model, a line each. */
export function referenceIssues(
  model: ProviderModel,
  taker: SourceTaker,
  use: SourceUse,
  track: Track,
): RequestIssue[] {
  const issue = (member: string, message: string): RequestIssue => ({ path: `body.reference.${member}`, message });
  const limits = model.references?.[use.mode];
  const modes = modesOf(model, taker);
  if (limits === undefined || !modes.includes(use.mode)) {
    const offered = modes.length === 0 ? "it works from no track" : `it has ${modes.join(", ")}`;
    return [issue("mode", `is not offered by ${model.id}; ${offered}`)];
  }
  if (limits.sources === "own" && track.origin?.providerId !== taker.id) {
    return [issue("track_id", `must be a track that ${taker.label} made, to ${use.mode} with ${model.id}`)];
  }
  if (sourceFileOf(track, limits) === null) {
    return [issue("track_id", `has no file that ${model.id} takes: ${shown(limits)}`)];
  }
  const issues: RequestIssue[] = [];
  if (use.strength !== null && limits.takesStrength !== true) {
    issues.push(issue("strength", `cannot be chosen for ${model.id}`));
  }
  const seconds = assetOf(track, "mix")?.durationSeconds ?? null;
  const points = { from: use.fromSeconds, to: use.toSeconds };
  for (const [member, at] of Object.entries(points)) {
    if (at === null || seconds === null || at <= seconds) continue;
    issues.push(issue(member, `must be within the track: at most ${seconds}`));
  }
  return issues;
}

function shown({ contentTypes, maxBytes, maxSeconds }: SourceLimits): string {
  const parts = [
    ...(contentTypes === undefined ? [] : [contentTypes.join(", ")]),
    ...(maxBytes === undefined ? [] : [`at most ${maxBytes} bytes`]),
    ...(maxSeconds === undefined ? [] : [`at most ${maxSeconds} s`]),
  ];
  return parts.join("; ");
}

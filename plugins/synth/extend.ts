import { ProviderFailure } from "../sdk/index.js";
import type { MusicReference } from "../sdk/index.js";
import type { CompositionSpec } from "./job-spec.js";
import { compose } from "./composer/compose.js";
import { SAMPLE_RATE } from "./sound/dsp.js";
import { mixDown } from "./sound/mixdown.js";
import { isDark } from "./composer/theory.js";
import { readReference } from "./split/own-track.js";

/** Longest extended track, the earlier part included. */
export const EXTENDED_MAX_SECONDS = 900;
/** Fade-out of the earlier track under the added part. */
const FADE_SECONDS = 2;

const NOTES = ["C", "C#", "D", "Eb", "E", "F", "F#", "G", "Ab", "A", "Bb", "B"];

/** Stereo, from -1 to 1. */
export interface Stereo {
  readonly left: Float32Array;
  readonly right: Float32Array;
}

/** Length of a track, the earlier part that it extends included. */
export function totalSeconds({ after, seconds }: CompositionSpec): number {
  return (after?.untilSeconds ?? 0) + seconds;
}

/**
 * The spec of an extension: in the tempo and key of the earlier track, unless the request names others.
 *
 * @throws {ProviderFailure} `invalid_input`: the words of the track were not stored, or the result is too long
 */
export function goingOn(next: CompositionSpec, { source, fromSeconds }: MusicReference): CompositionSpec {
  const { masterDigest: _, ...composition } =
    readReference(source.reference) ?? refuse("synth can extend only its own tracks");
  const untilSeconds = fromSeconds ?? totalSeconds(composition);
  const { brief } = compose(composition);
  const key = `${NOTES[brief.key.tonic]} ${isDark(brief.key.mode) ? "minor" : "major"}`;
  const extended: CompositionSpec = { bpm: brief.bpm, key, ...next, after: { composition: composition, untilSeconds } };
  if (totalSeconds(extended) > EXTENDED_MAX_SECONDS) refuse(`an extended track has at most ${EXTENDED_MAX_SECONDS} s`);
  return extended;
}

/** Appends the added part to the earlier track. */
export function joined(spec: CompositionSpec, own: Stereo): Stereo {
  const { after } = spec;
  if (after === undefined) return own;
  const before = joined(after.composition, mixDown(compose(after.composition), false));
  const start = Math.round(after.untilSeconds * SAMPLE_RATE);
  return { left: append(before.left, own.left, start), right: append(before.right, own.right, start) };
}

/** Never louder than the louder of the two. */
function append(before: Float32Array, next: Float32Array, start: number): Float32Array {
  const sound = new Float32Array(start + next.length);
  sound.set(before.subarray(0, start));
  sound.set(next, start);
  const fade = Math.min(Math.round(FADE_SECONDS * SAMPLE_RATE), before.length - start, next.length);
  for (let index = 0; index < fade; index += 1) {
    const weight = index / fade;
    sound[start + index] = (next[index] as number) * weight + (before[start + index] as number) * (1 - weight);
  }
  return sound;
}

function refuse(why: string): never {
  throw new ProviderFailure("invalid_input", why, { billable: "no" });
}

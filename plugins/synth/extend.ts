import { ProviderFailure } from "../sdk/index.js";
import type { MusicReference } from "../sdk/index.js";
import type { CompositionSpec } from "./order.js";
import { compose } from "./piece/compose.js";
import { SAMPLE_RATE } from "./sound/dsp.js";
import { mixDown } from "./sound/mixdown.js";
import { isDark } from "./piece/theory.js";
import { readReference } from "./split/own-piece.js";

/** Of a piece with all that went on from it. */
export const EXTENDED_MAX_SECONDS = 900;
/** Over which what went on in the earlier piece makes way. */
const FADE_SECONDS = 2;

const NOTES = ["C", "C#", "D", "Eb", "E", "F", "F#", "G", "Ab", "A", "Bb", "B"];

/** Stereo, from -1 to 1. */
export interface Stereo {
  readonly left: Float32Array;
  readonly right: Float32Array;
}

/** How long a piece is with what it goes on from. */
export function totalSeconds({ after, seconds }: CompositionSpec): number {
  return (after?.untilSeconds ?? 0) + seconds;
}

/**
 * What goes on from an earlier piece: in its tempo and key, unless the request names others.
 *
 * @throws {ProviderFailure} `invalid_input` for a piece whose words were not kept, and for one that gets too long
 */
export function goingOn(next: CompositionSpec, { source, fromSeconds }: MusicReference): CompositionSpec {
  const { masterDigest: _, ...composition } =
    readReference(source.reference) ?? refuse("synth can extend only what it made");
  const untilSeconds = fromSeconds ?? totalSeconds(composition);
  const { brief } = compose(composition);
  const key = `${NOTES[brief.key.tonic]} ${isDark(brief.key.mode) ? "minor" : "major"}`;
  const extended: CompositionSpec = { bpm: brief.bpm, key, ...next, after: { composition: composition, untilSeconds } };
  if (totalSeconds(extended) > EXTENDED_MAX_SECONDS) refuse(`an extended track has at most ${EXTENDED_MAX_SECONDS} s`);
  return extended;
}

/** A piece behind what it goes on from. */
export function joined(order: CompositionSpec, own: Stereo): Stereo {
  const { after } = order;
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

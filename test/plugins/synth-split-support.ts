import type { ProviderAsset, SplitRequest } from "../../core/ports/music-provider.js";
import { splitAudio } from "../../plugins/synth/split/split-audio.js";
import { readWav, rmsOf, toDecibels } from "../support/audio-analysis.js";
import type { Sound } from "../support/audio-analysis.js";
import { wavFile } from "../support/audio-files.js";
import type { TestSound } from "../support/audio-files.js";

type Channels = readonly [Float32Array, Float32Array];

/**
 * A band in which everything is where signal processing looks for it: the voice and the strokes in the middle, the
 * chords all around.
 */
export interface TestBand {
  readonly sampleRate: number;
  readonly voice: Channels;
  readonly pad: Channels;
  readonly clicks: Channels;
  readonly bass: Channels;
  readonly mix: TestSound;
}

const NOTES = [220, 247, 294, 196];
/** As a share of the frequency, and in radians per second. */
const VIBRATO = { depth: 0.01, turns: 2 * Math.PI * 5.5 };
const CHORD = [262, 330, 392, 523];

export function aBand(seconds = 6, sampleRate = 44_100): TestBand {
  const sounding = (sound: (second: number) => number): Float32Array =>
    Float32Array.from({ length: Math.round(seconds * sampleRate) }, (_, index) => sound(index / sampleRate));
  const middle = (samples: Float32Array): Channels => [samples, samples];
  const partials = (hertz: number, turns: (hertz: number) => number): number =>
    [1, 2, 3, 4, 5, 6, 7, 8].reduce(
      (sum, partial) => sum + Math.sin(2 * Math.PI * turns(partial * hertz)) / partial,
      0,
    );

  const voice = sounding((second) => {
    const note = NOTES[Math.floor(second / 0.6) % NOTES.length] ?? 220;
    const level = Math.min(1, 20 * (second % 0.6), 20 * (0.6 - (second % 0.6)));
    const trembling = second - (VIBRATO.depth / VIBRATO.turns) * Math.cos(VIBRATO.turns * second);
    return 0.1 * level * partials(note, (hertz) => hertz * trembling);
  });
  // The sides are out of tune with each other, as a chorus makes them.
  const side = (detune: number): Float32Array => {
    const turnsOf = (index: number, second: number) => (hertz: number) =>
      (hertz + detune) * second + 0.37 * index * detune;
    return sounding(
      (second) => 0.03 * CHORD.reduce((sum, hertz, index) => sum + partials(hertz, turnsOf(index, second)), 0),
    );
  };
  let state = 1;
  const noise = (): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0;
    return state / 2 ** 31;
  };
  const clicks = middle(sounding((second) => 0.5 * noise() * Math.exp(-80 * (second % 0.5))));
  const bass = middle(sounding((second) => 0.15 * Math.sin(2 * Math.PI * 70 * second)));
  const pad = [side(1.7), side(-2.3)] as const;
  const inTheMiddle = [voice, clicks[0], bass[0]];
  const channels = pad.map((channel) =>
    channel.map((value, index) => inTheMiddle.reduce((sum, part) => sum + (part[index] ?? 0), value)),
  );
  return { sampleRate, voice: middle(voice), pad, clicks, bass, mix: { channels, sampleRate } };
}

export type Stems = ReadonlyMap<string, Sound>;

/** Takes a file apart on this thread. */
export async function stemsOf(file: Uint8Array, operation: SplitRequest["operation"] = "stem_split"): Promise<Stems> {
  const assets = await splitAudio({ operation, bytes: new Uint8Array(file) });
  return new Map(assets.map(({ label, bytes }) => [label, readWav(bytes)]));
}

export function stemsOfSound(sound: TestSound, operation: SplitRequest["operation"] = "stem_split"): Promise<Stems> {
  return stemsOf(wavFile(sound), operation);
}

/** What a provider answered, as sound. */
export function soundsOf(stems: readonly ProviderAsset[] = []): Stems {
  return new Map(
    stems.map(({ label, source }) => {
      if (source.kind !== "bytes") throw new Error(`the stem ${label} is not given as bytes`);
      return [label, readWav(source.bytes)];
    }),
  );
}

/**
 * How far below a sound the difference between it and the sum of its stems lies, in decibels; the worse channel counts.
 */
export function sumErrorOf(stems: Stems, whole: Pick<Sound, "left" | "right">): number {
  const errors = (["left", "right"] as const).map((channel) => {
    const sounds = [...stems.values()].map((stem) => stem[channel]);
    const rest = whole[channel].map(
      (value, index) => value - sounds.reduce((sum, sound) => sum + (sound[index] ?? 0), 0),
    );
    return toDecibels(rmsOf(rest) / rmsOf(whole[channel]));
  });
  return Math.max(...errors);
}

/** How much more of one part than of another a stem holds, in decibels, compared with the mix of both. */
export function preference(stem: Sound | undefined, wanted: Channels, other: Channels): number {
  if (stem === undefined) throw new Error("there is no such stem");
  return toDecibels(Math.abs(amountOf(stem.left, wanted[0])) / Math.abs(amountOf(stem.left, other[0])));
}

/** How much of a part a sound holds: 1 for all of it. */
export function amountOf(sound: Float32Array, part: Float32Array): number {
  let common = 0;
  let own = 0;
  for (const [index, value] of part.entries()) {
    common += value * (sound[index] ?? 0);
    own += value * value;
  }
  return common / own;
}

import type { Consonant, Syllable, Vowel } from "../composer/lyrics.js";
import { CONTROL_SAMPLES, Noise, SAMPLE_RATE, StateFilter, frequencyOf, polyBlep, sineOf, toSamples } from "./dsp.js";

/** A syllable on its note, in seconds from the start of its line. */
export interface SungNote {
  readonly start: number;
  readonly seconds: number;
  readonly midi: number;
  readonly velocity: number;
  readonly syllable: Syllable;
}

type Formants = readonly [first: number, second: number, third: number];

/** Resonances of a mouth, in hertz, for a middle voice. */
const VOWELS: Record<Vowel, Formants> = {
  ah: [800, 1_200, 2_700],
  ae: [700, 1_750, 2_600],
  eh: [560, 1_850, 2_650],
  ee: [310, 2_300, 3_000],
  oh: [480, 880, 2_600],
  oo: [340, 780, 2_450],
  uh: [620, 1_250, 2_600],
};
const LEVELS: Formants = [0.9, 1.7, 0.9];
const WIDTHS: Formants = [90, 120, 190];

/** Evens out the vowels, since a low first resonance meets the strongest part of the buzz. */
const LOUDNESS: Record<Vowel, number> = { ah: 1.3, ae: 1.2, eh: 1.1, ee: 0.85, oh: 1, oo: 0.75, uh: 1.2 };

/** Voiceless sounds are noise around a frequency; voiced ones a darker mouth. */
interface ConsonantSpec {
  readonly noiseHz: number;
  readonly noise: number;
  /** Seconds, and how much of the voice sounds meanwhile. */
  readonly seconds: number;
  readonly voice: number;
  readonly mouth?: Formants;
}

const CONSONANTS: Record<Consonant, ConsonantSpec> = {
  s: { noiseHz: 7_200, noise: 0.16, seconds: 0.085, voice: 0 },
  sh: { noiseHz: 3_400, noise: 0.2, seconds: 0.085, voice: 0 },
  f: { noiseHz: 5_200, noise: 0.09, seconds: 0.07, voice: 0.05 },
  h: { noiseHz: 1_500, noise: 0.12, seconds: 0.06, voice: 0.1 },
  t: { noiseHz: 4_500, noise: 0.3, seconds: 0.035, voice: 0 },
  k: { noiseHz: 2_200, noise: 0.3, seconds: 0.04, voice: 0 },
  p: { noiseHz: 900, noise: 0.3, seconds: 0.03, voice: 0 },
  m: { noiseHz: 1_000, noise: 0, seconds: 0.07, voice: 0.4, mouth: [250, 1_000, 2_200] },
  n: { noiseHz: 1_000, noise: 0, seconds: 0.06, voice: 0.4, mouth: [270, 1_500, 2_500] },
  l: { noiseHz: 1_000, noise: 0, seconds: 0.06, voice: 0.6, mouth: [360, 1_100, 2_700] },
  r: { noiseHz: 1_000, noise: 0, seconds: 0.06, voice: 0.6, mouth: [420, 1_250, 1_700] },
  w: { noiseHz: 1_000, noise: 0, seconds: 0.06, voice: 0.6, mouth: [310, 700, 2_300] },
};

const TAIL_SECONDS = 0.25;

/**
 * Sings one line in one breath: a buzz with vibrato through three moving resonances, noise for consonants.
 *
 * @param size 1 for a middle voice; more for a smaller, brighter throat
 * @returns mono, up to the end of the last note's release
 */
export function singLine(notes: readonly SungNote[], size: number, seed: number): Float32Array {
  const last = notes[notes.length - 1];
  if (last === undefined) return new Float32Array(0);
  const out = new Float32Array(toSamples(last.start + last.seconds + TAIL_SECONDS));
  const noise = new Noise(seed);
  const resonances = LEVELS.map(() => new StateFilter());
  const hiss = new StateFilter();
  const weights = new Float64Array(3);
  const mouth = [...VOWELS[(notes[0] ?? last).syllable.vowel]];
  let hz = frequencyOf((notes[0] ?? last).midi) * 0.94;
  let phase = 0;
  let level = 0;
  let hissLevel = 0;
  let dull = 0;
  let current = 0;
  for (let start = 0; start < out.length; start += CONTROL_SAMPLES) {
    const time = start / SAMPLE_RATE;
    while ((notes[current + 1]?.start ?? Number.POSITIVE_INFINITY) <= time) current += 1;
    const note = notes[current] ?? last;
    const sound = soundAt(note, notes[current + 1], time);
    sound.mouth.forEach(
      (target, index) => (mouth[index] = (mouth[index] ?? target) + 0.07 * (target - (mouth[index] ?? target))),
    );
    hz += 0.04 * (frequencyOf(note.midi) - hz);
    const sinceStart = time - note.start;
    const vibrato = 0.011 * Math.min(1, Math.max(0, (sinceStart - 0.18) * 4));
    const step = (hz * (1 + vibrato * sineOf(5.6 * time) + 0.002 * noise.next())) / SAMPLE_RATE;
    resonances.forEach((resonance, index) => {
      // The lowest resonance follows a high note up, as singers do, or the note would lose its fundamental.
      const frequency = Math.max((mouth[index] ?? 500) * size, index === 0 ? hz * 1.05 : 0);
      const quality = frequency / (WIDTHS[index as 0 | 1 | 2] * 1.3);
      resonance.tune(frequency, quality);
      weights[index] = LEVELS[index as 0 | 1 | 2] / quality;
    });
    hiss.tune(sound.noiseHz, 2.5);
    const nextLevel = level + 0.1 * (sound.voice * (0.6 + 0.4 * note.velocity) - level);
    const nextHiss = hissLevel + 0.26 * (sound.noise - hissLevel);
    const end = Math.min(out.length, start + CONTROL_SAMPLES);
    const slope = (nextLevel - level) / CONTROL_SAMPLES;
    const hissSlope = (nextHiss - hissLevel) / CONTROL_SAMPLES;
    for (let index = start; index < end; index += 1) {
      phase += step;
      if (phase >= 1) phase -= 1;
      const breath = noise.next();
      const buzz = 2 * phase - 1 - polyBlep(phase, step) + 0.05 * breath;
      dull += 0.4 * (buzz - dull);
      let value = 0.06 * dull;
      for (let formant = 0; formant < 3; formant += 1) {
        const resonance = resonances[formant] as StateFilter;
        resonance.process(dull);
        value += resonance.band * (weights[formant] as number);
      }
      hiss.process(breath);
      out[index] = value * level + hiss.band * hissLevel;
      level += slope;
      hissLevel += hissSlope;
    }
  }
  return fadeEdges(out);
}

/** The state of mouth and throat at a moment of a note. */
function soundAt(
  note: SungNote,
  next: SungNote | undefined,
  time: number,
): { mouth: Formants; voice: number; noise: number; noiseHz: number } {
  const { onset, vowel, glide, coda } = note.syllable;
  const since = time - note.start;
  const until = Math.min(note.start + note.seconds, next?.start ?? Number.POSITIVE_INFINITY) - time;
  const first = onset === null ? null : CONSONANTS[onset];
  const final = coda === null ? null : CONSONANTS[coda];
  const brief = Math.min(1, note.seconds / 0.25);
  if (first !== null && since < first.seconds * brief) return during(first, VOWELS[vowel]);
  if (until < 0) return { mouth: VOWELS[glide], voice: 0, noise: 0, noiseHz: 3_000 };
  if (final !== null && until < final.seconds * brief) return during(final, VOWELS[glide]);
  const isGliding = glide !== vowel && until < note.seconds * 0.35;
  const swell = 0.88 + 0.12 * Math.min(1, since / 0.15);
  const sound = isGliding ? glide : vowel;
  return { mouth: VOWELS[sound], voice: swell * LOUDNESS[sound], noise: 0, noiseHz: 3_000 };
}

function during(
  consonant: ConsonantSpec,
  vowel: Formants,
): { mouth: Formants; voice: number; noise: number; noiseHz: number } {
  return {
    mouth: consonant.mouth ?? vowel,
    voice: consonant.voice,
    noise: consonant.noise,
    noiseHz: consonant.noiseHz,
  };
}

function fadeEdges(out: Float32Array): Float32Array {
  const edge = Math.min(400, out.length);
  for (let index = 0; index < edge; index += 1) {
    const gain = index / edge;
    out[index] = (out[index] as number) * gain;
    out[out.length - 1 - index] = (out[out.length - 1 - index] as number) * gain;
  }
  return out;
}

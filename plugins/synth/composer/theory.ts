/** Scales by name, in semitones above the tonic. */
export const MODES = {
  major: [0, 2, 4, 5, 7, 9, 11],
  minor: [0, 2, 3, 5, 7, 8, 10],
  dorian: [0, 2, 3, 5, 7, 9, 10],
  phrygian: [0, 1, 3, 5, 7, 8, 10],
  lydian: [0, 2, 4, 6, 7, 9, 11],
  mixolydian: [0, 2, 4, 5, 7, 9, 10],
} as const satisfies Record<string, readonly number[]>;

export type Mode = keyof typeof MODES;

/** How many thirds are stacked, or what replaces them. */
export type ChordColour = "power" | "triad" | "sus" | "seventh" | "ninth" | "dominant";

export interface Key {
  /** Pitch class; 0 is C. */
  readonly tonic: number;
  readonly mode: Mode;
}

export interface Chord {
  /** Step of the scale, 0 to 6. */
  readonly degree: number;
  /** Pitch class. */
  readonly root: number;
  /** Pitch classes, the root first, without repeats. */
  readonly tones: readonly number[];
  /** The seven pitch classes that melodies use over this chord, from the tonic up. */
  readonly scale: readonly number[];
}

/** True for scales with a minor third. */
export function isDark(mode: Mode): boolean {
  return MODES[mode][2] === 3;
}

/** The chord on a step of the scale. In a dark key the fifth step gets the leading note, so that it pulls home. */
export function chordOn(key: Key, degree: number, colour: ChordColour): Chord {
  const step = mod(degree, 7);
  const pullsHome = step === 4 && isDark(key.mode) && key.mode !== "phrygian" && colour !== "sus";
  const scale = MODES[key.mode].map((semitones, index) =>
    mod(key.tonic + semitones + (pullsHome && index === 6 && semitones === 10 ? 1 : 0), 12),
  );
  const tone = (third: number): number => at(scale, step + third);
  const root = tone(0);
  const shapes: Record<ChordColour, readonly number[]> = {
    power: [root, tone(4)],
    triad: [root, tone(2), tone(4)],
    sus: [root, tone(1), tone(4)],
    seventh: [root, tone(2), tone(4), tone(6)],
    ninth: [root, tone(2), tone(4), tone(6), tone(1)],
    dominant: [root, mod(root + 4, 12), mod(root + 7, 12), mod(root + 10, 12)],
  };
  return { degree: step, root, tones: [...new Set(shapes[colour])], scale };
}

/** MIDI note of a step counted from the tonic nearest to `centre`; steps go on above 6 and below 0. */
export function midiOfStep(scale: readonly number[], step: number, centre: number): number {
  const tonic = nearestMidi(scale[0] ?? 0, centre);
  const octave = Math.floor(step / 7);
  const within = mod(at(scale, step) - (scale[0] ?? 0), 12);
  return tonic + 12 * octave + within;
}

/** The note of a pitch class that is nearest to a MIDI note. */
export function nearestMidi(pitchClass: number, midi: number): number {
  return midi + mod(pitchClass - midi + 6, 12) - 6;
}

/** The chord's notes in close position around `centre`, moved as little as possible from `previous`. */
export function voiceChord(chord: Chord, previous: readonly number[], centre: number): number[] {
  if (previous.length === 0) return chord.tones.map((tone) => nearestMidi(tone, centre)).sort(ascending);
  const middle = previous.reduce((sum, note) => sum + note, 0) / previous.length;
  // Pulled back towards the middle of its range, so that a long track does not drift.
  const target = Math.round(0.7 * middle + 0.3 * centre);
  let best: number[] = [];
  let bestCost = Number.POSITIVE_INFINITY;
  for (let shift = -5; shift <= 5; shift += 1) {
    const voicing = [...new Set(chord.tones.map((tone) => nearestMidi(tone, target + shift)))].sort(ascending);
    const movement = voicing.reduce((sum, note) => sum + Math.min(...previous.map((old) => Math.abs(old - note))), 0);
    const rub = (voicing[1] ?? 99) - (voicing[0] ?? 0) < 3 ? 2 : 0;
    const cost = movement + rub + Math.abs((voicing[0] ?? centre) - centre + 6) * 0.3;
    if (cost < bestCost) [best, bestCost] = [voicing, cost];
  }
  return best;
}

/**
 * The step, counted like {@link midiOfStep}, that is nearest to `step` and belongs to the chord.
 *
 * @param direction which way to look first, so that a tune that climbs goes on climbing
 */
export function nearestChordStep(chord: Chord, step: number, direction: 1 | -1 = -1): number {
  for (const distance of [0, 1, -1, 2, -2, 3, -3]) {
    if (chord.tones.includes(at(chord.scale, step + distance * direction))) return step + distance * direction;
  }
  return step;
}

export function mod(value: number, size: number): number {
  return ((value % size) + size) % size;
}

/** Element of a list that repeats without end in both directions. */
export function at(list: readonly number[], index: number): number {
  return list[mod(index, list.length)] ?? 0;
}

function ascending(a: number, b: number): number {
  return a - b;
}

import type { Random } from "../random.js";
import type { Section } from "./form.js";
import type { HarmonicSpan } from "./harmony.js";
import type { Step } from "./notes.js";
import { at, mod, nearestMidi } from "./theory.js";
import type { Chord } from "./theory.js";

export type BassStyle =
  | "roots"
  | "eighths"
  | "octaves"
  | "offbeat"
  | "rolling"
  | "walking"
  | "rootFifth"
  | "dub"
  | "sub"
  | "lazy"
  | "funk"
  | "reese"
  | "wobble"
  | "pedal"
  | "drone";

/** Middle of the bass's range, E2. */
const CENTRE = 38;

/** Strokes in one bar: sixteenth, length in sixteenths, what is played, level. Shorter lists of steps fit any metre. */
type Stroke = readonly [
  step: number,
  steps: number,
  tone: "root" | "fifth" | "octave" | "third" | "under" | "lead",
  level: number,
];

const BARS: Record<Exclude<BassStyle, "walking" | "drone" | "pedal">, readonly (readonly Stroke[])[]> = {
  roots: [
    [
      [0, 8, "root", 0.8],
      [8, 8, "fifth", 0.65],
    ],
    [[0, 16, "root", 0.8]],
  ],
  eighths: [
    [0, 2, 4, 6, 8, 10, 12, 14].map((step): Stroke => [step, 1.8, "root", step % 4 === 0 ? 0.9 : 0.72]),
    [
      ...[0, 2, 4, 6, 8, 10, 12].map((step): Stroke => [step, 1.8, "root", step % 4 === 0 ? 0.9 : 0.72]),
      [14, 1.8, "lead", 0.8],
    ],
  ],
  octaves: [
    [0, 2, 4, 6, 8, 10, 12, 14].map((step): Stroke => [
      step,
      1.5,
      step % 4 === 0 ? "root" : "octave",
      step % 4 === 0 ? 0.85 : 0.75,
    ]),
  ],
  offbeat: [
    [2, 6, 10, 14].map((step): Stroke => [step, 1.6, "root", 0.85]),
    [
      [2, 1.6, "root", 0.85],
      [6, 1.6, "root", 0.8],
      [9, 0.9, "octave", 0.6],
      [10, 1.6, "root", 0.85],
      [14, 1.6, "root", 0.8],
    ],
  ],
  rolling: [
    [1, 2, 3, 5, 6, 7, 9, 10, 11, 13, 14, 15].map((step): Stroke => [step, 0.85, "root", step % 4 === 2 ? 0.9 : 0.7]),
    [1, 2, 3, 5, 6, 7, 9, 10, 11, 13, 14, 15].map((step): Stroke => [
      step,
      0.85,
      step === 11 || step === 14 ? "octave" : "root",
      step % 4 === 2 ? 0.9 : 0.7,
    ]),
  ],
  rootFifth: [
    [
      [0, 6, "root", 0.85],
      [8, 6, "fifth", 0.7],
    ],
    [
      [0, 6, "root", 0.85],
      [8, 4, "fifth", 0.7],
      [12, 4, "lead", 0.6],
    ],
  ],
  dub: [
    [
      [0, 3, "root", 0.9],
      [6, 1.5, "root", 0.7],
      [8, 3, "third", 0.75],
      [12, 3, "fifth", 0.8],
    ],
    [
      [2, 1.6, "root", 0.8],
      [4, 3, "root", 0.9],
      [8, 2, "under", 0.7],
      [12, 3.5, "root", 0.8],
    ],
  ],
  sub: [
    [
      [0, 6.5, "root", 0.95],
      [7, 2.5, "root", 0.75],
      [10, 5.5, "root", 0.85],
    ],
    [
      [0, 9.5, "root", 0.95],
      [10, 2.8, "octave", 0.6],
      [13, 2.8, "root", 0.75],
    ],
  ],
  lazy: [
    [
      [0, 5, "root", 0.85],
      [7, 2.5, "root", 0.6],
      [10, 5, "fifth", 0.7],
    ],
    [
      [0, 6, "root", 0.85],
      [9, 2, "octave", 0.5],
      [11, 4, "root", 0.7],
    ],
  ],
  funk: [
    [
      [0, 2, "root", 0.95],
      [3, 1, "root", 0.6],
      [6, 1, "octave", 0.8],
      [10, 1.5, "under", 0.7],
      [12, 1.5, "root", 0.8],
      [14, 1, "fifth", 0.6],
      [15, 0.9, "lead", 0.6],
    ],
    [
      [0, 2.5, "root", 0.95],
      [4, 0.8, "octave", 0.7],
      [7, 1, "fifth", 0.65],
      [8, 2, "root", 0.85],
      [11, 1, "octave", 0.75],
      [14, 1.8, "lead", 0.65],
    ],
  ],
  reese: [
    [
      [0, 10, "root", 0.85],
      [10, 5.5, "root", 0.75],
    ],
    [
      [0, 6, "root", 0.85],
      [6, 4, "fifth", 0.7],
      [10, 5.5, "root", 0.8],
    ],
  ],
  wobble: [
    [
      [0, 3.5, "root", 0.95],
      [4, 1.5, "root", 0.8],
      [6, 1.5, "octave", 0.7],
      [8, 5.5, "root", 0.9],
      [14, 1.6, "under", 0.8],
    ],
    [
      [0, 7, "root", 0.95],
      [8, 1.5, "root", 0.85],
      [10, 1.5, "fifth", 0.75],
      [12, 3.5, "root", 0.9],
    ],
  ],
};

interface BassTrack {
  readonly style: BassStyle;
  readonly sections: readonly Section[];
  readonly spans: readonly HarmonicSpan[];
  readonly beatsPerBar: number;
  readonly endBeat: number;
}

/** A bass line that states each chord's root when the chord begins. Quiet sections get long roots only. */
export function playBass({ style, sections, spans, beatsPerBar, endBeat }: BassTrack, random: Random): Step[] {
  const steps: Step[] = [];
  spans.forEach((span, index) => {
    const section = sections.findLast(({ startBar }) => startBar * beatsPerBar <= span.startBeat);
    if (section === undefined || section.intensity < 0.4) return;
    const next = spans[index + 1]?.chord ?? span.chord;
    const root = rootOf(span.chord);
    const isCalm = section.intensity < 0.55 && style !== "walking";
    if (style === "drone" || style === "pedal" || isCalm) {
      steps.push({ beat: span.startBeat, beats: span.beats * 0.98, midi: root, velocity: 0.7 });
      return;
    }
    for (let bar = 0; bar < span.beats / beatsPerBar; bar += 1) {
      const beat = span.startBeat + bar * beatsPerBar;
      const isLastBar = bar + 1 >= span.beats / beatsPerBar;
      const target = rootOf(isLastBar ? next : span.chord);
      if (style === "walking") steps.push(...walk(span.chord, target, beat, beatsPerBar, random));
      else steps.push(...strokesOf(style, span.chord, target, beat, beatsPerBar, isLastBar, random));
    }
  });
  return steps.filter(({ beat }) => beat < endBeat);
}

function strokesOf(
  style: keyof typeof BARS,
  chord: Chord,
  target: number,
  beat: number,
  beatsPerBar: number,
  isLastBar: boolean,
  random: Random,
): Step[] {
  const variants = BARS[style];
  const bar = (isLastBar || random.chance(0.3) ? variants[1] : undefined) ?? variants[0] ?? [];
  const root = rootOf(chord);
  const tones = {
    root,
    fifth: root + fifthOf(chord),
    octave: root + 12,
    third: root + mod((chord.tones[1] ?? chord.root) - chord.root, 12),
    under: root - 12 + fifthOf(chord),
    lead: isLastBar ? approach(target, chord, random) : root + fifthOf(chord),
  };
  return bar
    .filter(([step]) => step < beatsPerBar * 4)
    .map(([step, length, tone, level]) => ({
      beat: beat + step / 4,
      beats: length / 4,
      midi: tones[tone],
      velocity: level * random.between(0.9, 1),
    }));
}

/** One note per beat from the root, through the chord, to a neighbour of the next root. */
function walk(chord: Chord, target: number, beat: number, beatsPerBar: number, random: Random): Step[] {
  const root = rootOf(chord);
  const path = [root];
  for (let index = 1; index < beatsPerBar - 1; index += 1) {
    const tone = at(chord.tones, index + (random.chance(0.25) ? 1 : 0));
    path.push(nearestMidi(tone, (path[index - 1] ?? root) + (target >= root ? 3 : -2)));
  }
  path.push(approach(target, chord, random));
  return path.map((midi, index) => ({
    beat: beat + index,
    beats: 0.92,
    midi: midi > CENTRE + 14 ? midi - 12 : midi,
    velocity: random.between(0.68, 0.85),
  }));
}

/** A step above or below the coming root, mostly within the scale. */
function approach(target: number, chord: Chord, random: Random): number {
  const candidates = [target - 2, target - 1, target + 2, target + 1].filter((midi) =>
    chord.scale.includes(mod(midi, 12)),
  );
  return candidates.length === 0 || random.chance(0.15) ? target - 1 : random.pick(candidates);
}

function fifthOf(chord: Chord): number {
  const fifth = chord.tones.find((tone) => [6, 7, 8].includes(mod(tone - chord.root, 12)));
  return fifth === undefined ? 7 : mod(fifth - chord.root, 12);
}

function rootOf(chord: Chord): number {
  return nearestMidi(chord.root, CENTRE);
}

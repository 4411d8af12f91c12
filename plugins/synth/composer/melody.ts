import type { Random } from "../random.js";
import type { Section, SectionKind } from "./form.js";
import { chordAt } from "./harmony.js";
import type { HarmonicSpan } from "./harmony.js";
import type { Step } from "./notes.js";
import { at, midiOfStep, nearestChordStep } from "./theory.js";

/** Bars of rhythm in sixteenths; a minus is a rest. From sparse to busy. */
const RHYTHMS: Record<3 | 4, readonly (readonly number[])[]> = {
  4: [
    [12, -4],
    [8, 8],
    [-4, 12],
    [6, 10],
    [8, -4, 4],
    [4, 4, 8],
    [6, 6, 4],
    [-2, 6, 8],
    [4, 4, 4, -4],
    [6, 2, 8],
    [3, 3, 6, -4],
    [4, 4, 4, 4],
    [6, 2, 4, 4],
    [3, 3, 2, 8],
    [2, 2, 4, 8],
    [-2, 2, 4, 4, 4],
    [3, 3, 4, 2, 4],
    [2, 2, 2, 2, 8],
    [4, 2, 2, 4, 4],
    [2, 2, 4, 2, 2, 4],
    [3, 3, 2, 2, 2, 4],
    [2, 4, 2, 2, 4, 2],
    [2, 2, 2, 2, 4, 4],
    [3, 1, 2, 2, 3, 1, 4],
    [2, 2, 2, 2, 2, 2, 4],
  ],
  3: [
    [12],
    [8, 4],
    [8, -4],
    [4, 8],
    [4, 4, 4],
    [6, 2, 4],
    [-4, 4, 4],
    [4, 2, 2, 4],
    [2, 2, 4, 4],
    [6, 2, 2, 2],
    [2, 2, 2, 2, 4],
  ],
};

/** Steps up and down the scale; small ones are likelier, a leap turns back. */
const MOVES = [-1, -1, -1, -1, 1, 1, 1, 1, 0, -2, 2, 2, -3, 4];

interface MelodyTrack {
  readonly sections: readonly Section[];
  readonly spans: readonly HarmonicSpan[];
  readonly beatsPerBar: number;
  readonly endBeat: number;
  /** 0 sparse, 1 busy. */
  readonly business: number;
  /** MIDI note at the centre of the melody. */
  readonly centre: number;
  readonly plays: (section: Section) => boolean;
}

/** A bar of a tune: its rhythm, and how it moves from note to note. */
export interface Motif {
  readonly rhythm: readonly number[];
  readonly moves: readonly number[];
}

/** The tune of each kind of section: the first half of a phrase and the second. */
type Motifs = Record<SectionKind, readonly [Motif, Motif]>;

/**
 * A melody built of motifs: every phrase of four bars states one, responds, repeats it and ends on a note
 * of the chord. Sections of one kind share their motifs, so that a chorus is recognised when it returns.
 */
export function playMelody(track: MelodyTrack, random: Random): Step[] {
  const motifs = inventMotifs(track, random);
  return track.sections.filter(track.plays).flatMap((section) => playSection(track, section, motifs[section.kind]));
}

function inventMotifs({ business, beatsPerBar }: MelodyTrack, random: Random): Motifs {
  const invent = (extra: number): readonly [Motif, Motif] => [
    inventMotif(business + extra, beatsPerBar, random),
    inventMotif(business + extra, beatsPerBar, random),
  ];
  const verse = invent(0);
  return { intro: verse, verse, chorus: invent(0.15), bridge: invent(-0.15), outro: verse };
}

function inventMotif(business: number, beatsPerBar: number, random: Random): Motif {
  const rhythms = RHYTHMS[beatsPerBar === 3 ? 3 : 4];
  const centre = Math.min(1, Math.max(0, business)) * (rhythms.length - 1);
  const spread = rhythms.length * 0.18;
  const index = Math.round(Math.min(rhythms.length - 1, Math.max(0, random.between(centre - spread, centre + spread))));
  const rhythm = rhythms[index] ?? [4, 4, 4, 4];
  return { rhythm, moves: rhythm.map(() => random.pick(MOVES)) };
}

function playSection(track: MelodyTrack, section: Section, [call, response]: readonly [Motif, Motif]): Step[] {
  const steps: Step[] = [];
  let position = section.kind === "chorus" ? 4 : 2;
  for (let bar = 0; bar < section.bars; bar += 1) {
    const inPhrase = bar % 4;
    const isCadence = inPhrase === 3 || bar === section.bars - 1;
    const motif = inPhrase === 1 ? response : call;
    const isHome = bar % 8 === 7 || bar === section.bars - 1;
    const played = playBar(
      track,
      section.startBar + bar,
      isCadence ? cadence(motif, track.beatsPerBar) : motif,
      position,
      isCadence ? (isHome ? "home" : "open") : null,
    );
    steps.push(...played.steps);
    position = inPhrase === 3 ? (section.kind === "chorus" ? 4 : 2) : played.position;
  }
  return steps.map((step) => ({ ...step, velocity: step.velocity * (0.8 + 0.2 * section.intensity) }));
}

/** The motif's beginning, then one long note and a breath. */
function cadence(motif: Motif, beatsPerBar: number): Motif {
  const half = beatsPerBar * 2;
  const rhythm: number[] = [];
  let filled = 0;
  for (const length of motif.rhythm) {
    if (filled + Math.abs(length) > half) break;
    rhythm.push(length);
    filled += Math.abs(length);
  }
  const left = beatsPerBar * 4 - filled;
  return { rhythm: [...rhythm, left - 2, -2], moves: motif.moves };
}

function playBar(
  track: MelodyTrack,
  bar: number,
  motif: Motif,
  from: number,
  ending: "home" | "open" | null,
): { steps: Step[]; position: number } {
  const steps: Step[] = [];
  let position = from;
  let sixteenth = 0;
  const sounding = motif.rhythm.filter((length) => length > 0).length;
  motif.rhythm.forEach((length, index) => {
    const beat = bar * track.beatsPerBar + sixteenth / 4;
    const isStrong = sixteenth % 4 === 0;
    sixteenth += Math.abs(length);
    if (length < 0 || beat >= track.endBeat) return;
    position = nextPosition(track, beat, position, index === 0 ? 0 : at(motif.moves, index), isStrong && length >= 3);
    if (ending !== null && steps.length === sounding - 1) position = restingPlace(track, beat, position, ending);
    const { scale } = chordAt(track.spans, beat);
    const midi = midiOfStep(scale, position, track.centre);
    steps.push({ beat, beats: (length / 4) * 0.94, midi, velocity: isStrong ? 0.85 : 0.7 });
  });
  return { steps, position };
}

/** Where a tune goes next: within an octave and a bit, and onto the chord where the beat is strong. */
export function nextPosition(
  { spans }: Pick<MelodyTrack, "spans">,
  beat: number,
  from: number,
  move: number,
  isStrong: boolean,
): number {
  const turned = (from > 7 && move > 0) || (from < -2 && move < 0) ? -move : move;
  const position = Math.min(9, Math.max(-4, from + turned));
  return isStrong ? nearestChordStep(chordAt(spans, beat), position, turned > 0 ? 1 : -1) : position;
}

/**
 * The last note of a phrase: the tonic where the chord has it and the phrase closes, else another note of the chord.
 */
export function restingPlace(
  { spans }: Pick<MelodyTrack, "spans">,
  beat: number,
  position: number,
  ending: "home" | "open",
): number {
  const chord = chordAt(spans, beat);
  const tonic = Math.round(position / 7) * 7;
  if (ending === "home" && chord.tones.includes(chord.scale[0] ?? -1)) return tonic;
  return nearestChordStep(chord, position);
}

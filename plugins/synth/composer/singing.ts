import type { Random } from "../random.js";
import { beatsBeforeEnd } from "./form.js";
import type { Form, Section } from "./form.js";
import { chordAt } from "./harmony.js";
import type { HarmonicSpan } from "./harmony.js";
import type { LyricLine, LyricSection, Syllable } from "./lyrics.js";
import { nextPosition, restingPlace } from "./melody.js";
import { at, midiOfStep } from "./theory.js";

/** A syllable in musical time. */
export interface SungStep {
  readonly beat: number;
  readonly beats: number;
  readonly midi: number;
  readonly velocity: number;
  readonly syllable: Syllable;
  /** True where a breath was taken before. */
  readonly startsLine: boolean;
}

/** A line and the bars that it has. */
interface PlacedLine {
  readonly line: LyricLine;
  readonly startBar: number;
  readonly bars: number;
  readonly section: Section;
  readonly index: number;
}

export interface Song {
  readonly form: Form;
  readonly lines: readonly PlacedLine[];
}

/** Sung faster than this, in syllables per second, words blur. */
const SYLLABLES_PER_SECOND = 7;

/**
 * Lays out a song around its lyrics: two bars per line where there is time, else one; drops lines at the end that still
 * do not fit, and repeats the parts where time is left.
 */
export function planSong(lyrics: readonly LyricSection[], seconds: number, bpm: number, beatsPerBar: number): Song {
  const endBeat = beatsBeforeEnd(seconds, bpm, beatsPerBar);
  const bars = Math.ceil(endBeat / beatsPerBar);
  const introBars = bars >= 24 ? 4 : bars >= 10 ? 2 : 0;
  const outroBars = bars >= 20 ? 2 : 0;
  const sungBars = bars - introBars - outroBars;
  const lineCount = lyrics.reduce((sum, { lines }) => sum + lines.length, 0);
  const barsPerLine = bars >= 2 && (lineCount * 2 <= sungBars || sungBars >= bars * 2) ? 2 : 1;
  const parts = fillBars(lyrics, sungBars, barsPerLine);
  const sections: Section[] = [];
  const lines: PlacedLine[] = [];
  let startBar = 0;
  const add = (kind: Section["kind"], length: number, intensity: number): Section => {
    const section = {
      kind,
      round: sections.filter((other) => other.kind === kind).length,
      startBar,
      bars: length,
      intensity,
    };
    sections.push(section);
    startBar += length;
    return section;
  };
  if (introBars > 0) add("intro", introBars, 0.4);
  parts.forEach((part, index) => {
    const isLast = index === parts.length - 1;
    const length = isLast ? bars - outroBars - startBar : Math.max(1, part.lines.length) * barsPerLine;
    const section = add(part.kind, length, part.kind === "chorus" ? 1 : part.kind === "bridge" ? 0.55 : 0.68);
    part.lines.forEach((line, order) =>
      lines.push({ line, startBar: section.startBar + order * barsPerLine, bars: barsPerLine, section, index: order }),
    );
  });
  if (outroBars > 0) add("outro", outroBars, 0.5);
  return { form: { sections, endBeat }, lines };
}

/** Repeats the parts in order while a whole line fits; at most four bars remain. */
function fillBars(lyrics: readonly LyricSection[], bars: number, barsPerLine: number): LyricSection[] {
  const parts: LyricSection[] = [];
  let left = bars;
  for (let index = 0; left >= barsPerLine; index += 1) {
    const part = lyrics[index % lyrics.length];
    if (part === undefined || (index >= lyrics.length && left < 2 * barsPerLine)) break;
    // Rests between rounds make a short lyric less repetitive.
    if (index > 0 && index % lyrics.length === 0 && left >= 12) {
      parts.push({ kind: "bridge", lines: [] });
      left -= barsPerLine;
    }
    const lines = part.lines.slice(0, Math.floor(left / barsPerLine));
    parts.push({ kind: part.kind, lines });
    left -= lines.length * barsPerLine;
  }
  return parts.length > 0 ? parts : lyrics.slice(0, 1).map(({ kind, lines }) => ({ kind, lines: lines.slice(0, 1) }));
}

interface VocalTrack {
  readonly song: Song;
  readonly spans: readonly HarmonicSpan[];
  readonly bpm: number;
  readonly beatsPerBar: number;
  /** MIDI note at the centre of the voice. */
  readonly centre: number;
}

/**
 * One note per syllable. Lines of one kind of part share their tune; the last syllable rests on a note of the chord.
 */
export function singLines(track: VocalTrack, random: Random): SungStep[] {
  return track.song.lines.flatMap((placed) => singLine(track, placed, random));
}

function singLine(
  { song, spans, bpm, beatsPerBar, centre }: VocalTrack,
  placed: PlacedLine,
  random: Random,
): SungStep[] {
  const startBeat = placed.startBar * beatsPerBar;
  const room = Math.min(placed.bars * beatsPerBar, song.form.endBeat - startBeat);
  const breath = room >= 6 ? 1 : 0.5;
  const singable = Math.max(1, Math.floor(((room - breath) * 60 * SYLLABLES_PER_SECOND) / bpm));
  const line = placed.line.slice(0, singable);
  const onsets = onsetsOf(line.length, Math.max(0.5, room - breath));
  // Odd and even lines form a pair; every part of the same kind repeats it.
  const tune = random.fork(`tune ${placed.section.kind} ${placed.index % 2}`);
  const moves = Array.from({ length: 8 }, () => tune.pick([-1, -1, -1, 1, 1, 1, 0, 2, -2]));
  let position = (placed.section.kind === "chorus" ? 4 : 2) + (placed.index % 2 === 0 ? 0 : 1);
  return line.map((syllable, index) => {
    const offset = onsets[index] ?? 0;
    const beat = startBeat + offset;
    const isLast = index === line.length - 1;
    const until = onsets[index + 1] ?? Math.min(room - breath, offset + 3);
    position = nextPosition({ spans }, beat, position, index === 0 ? 0 : at(moves, index), offset % 1 === 0);
    if (isLast) position = restingPlace({ spans }, beat, position, placed.index % 2 === 1 ? "home" : "open");
    const midi = midiOfStep(chordAt(spans, beat).scale, position, centre);
    return {
      beat,
      beats: Math.max(0.2, until - offset),
      midi,
      velocity: offset % 1 === 0 ? 0.9 : 0.78,
      syllable,
      startsLine: index === 0,
    };
  });
}

/**
 * Beats at which so many syllables begin: evenly spaced on the coarsest grid that fits them, the last one early enough
 * to be held.
 */
export function onsetsOf(count: number, beats: number): number[] {
  const hold = count > 1 ? Math.min(1.5, beats * 0.2) : 0;
  const span = beats - hold;
  const grid = count - 1 <= span * 2 ? 0.5 : count - 1 <= span * 4 ? 0.25 : span / count;
  const places = Math.max(1, Math.floor(span / grid));
  return Array.from({ length: count }, (_, index) => Math.floor((index * places) / Math.max(1, count - 1)) * grid);
}

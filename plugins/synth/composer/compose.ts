import type { CompositionOptions } from "../job-spec.js";
import { Random } from "../random.js";
import type { KitName } from "../sound/drum-kit.js";
import type { SungNote } from "../sound/voice.js";
import { playBand } from "./band.js";
import { readBrief } from "./brief.js";
import type { Brief } from "./brief.js";
import { playDrums } from "./drums.js";
import type { Hit } from "./drums.js";
import { planForm } from "./form.js";
import type { Section } from "./form.js";
import { Grid } from "./grid.js";
import { finalChord, harmonise } from "./harmony.js";
import { lyricsFrom, readLyrics } from "./lyrics.js";
import type { Part } from "./notes.js";
import { planSong, singLines } from "./singing.js";
import type { Song, SungStep } from "./singing.js";

/** The edition that is composed in now. A track keeps its own, so that it can be rendered again as it was. */
export const EDITION = 2;
/** Before it nothing but music was heard. */
const RAIN_EDITION = 2;

/** Input of the composer. */
export interface Commission extends CompositionOptions {
  readonly prompt: string;
  readonly lyrics: string | null;
  readonly seconds: number;
  readonly sung: boolean;
  /** As in `CompositionSpec`. */
  readonly edition?: number;
}

/** A line of the singer: when it begins, and its notes counted from there. */
export interface SungLine {
  readonly start: number;
  readonly notes: readonly SungNote[];
}

/** A composition as notes, ready to render. Times are seconds from the start. */
export interface Composition {
  readonly brief: Brief;
  readonly seconds: number;
  readonly sections: readonly Section[];
  readonly parts: readonly Part[];
  readonly kit: KitName;
  readonly hits: readonly Hit[];
  readonly voice: { readonly lines: readonly SungLine[]; readonly size: number } | null;
  /** Rain is heard under the music. */
  readonly hasRain: boolean;
  /** When the final chord begins. */
  readonly endSeconds: number;
  readonly echoSeconds: number;
}

/** Composes a track. Equal specs give equal notes; no text is refused. */
export function compose({ prompt, lyrics, seconds, sung, edition = 1, ...options }: Commission): Composition {
  const brief = readBrief(prompt, lyrics, options);
  const { genre, bpm } = brief;
  const random = new Random(brief.seed, "piece");
  const beatsPerBar = genre.beatsPerBar ?? 4;
  const grid = new Grid(bpm, beatsPerBar, genre.swing ?? 0.5, genre.swingsSixteenths ?? false);
  const song = sung
    ? planSong(
        lyrics === null || lyrics.trim() === "" ? lyricsFrom(prompt) : readLyrics(lyrics),
        seconds,
        bpm,
        beatsPerBar,
      )
    : null;
  const form = song?.form ?? planForm(seconds, bpm, beatsPerBar);
  const spans = harmonise(
    brief.key,
    form,
    beatsPerBar,
    { ...genre, barsPerChord: genre.barsPerChord ?? 1 },
    random.fork("harmony"),
  );
  const ending = finalChord(brief.key, genre.colour);
  const { sections, endBeat } = form;
  const voiceCentre = random.fork("voice").pick([57, 60, 64]);
  const sungSteps =
    song === null ? [] : singLines({ song, spans, bpm, beatsPerBar, centre: voiceCentre }, random.fork("song"));
  const drums = brief.hasDrums
    ? {
        style: genre.drums ?? (beatsPerBar === 3 ? "threeFour" : "ballad"),
        sections,
        endBeat,
        grid,
        isTight: genre.isTight ?? false,
      }
    : null;
  return {
    brief,
    seconds,
    sections,
    parts: playBand({ brief, form, spans, ending, grid, seconds, hasSinger: sung, sungBars: sungBarsOf(song) }),
    kit: genre.kit,
    hits: drums === null ? [] : playDrums(drums, random.fork("drums")),
    voice:
      song === null
        ? null
        : { lines: sungLines(sungSteps, grid), size: voiceCentre > 60 ? 1.16 : voiceCentre < 60 ? 0.94 : 1.05 },
    hasRain: brief.hasRain && edition >= RAIN_EDITION,
    endSeconds: grid.secondsAt(endBeat),
    echoSeconds: (60 / bpm) * (bpm > 100 ? 0.75 : 0.5),
  };
}

/** Bars in which the singer sings, where the band plays less. */
function sungBarsOf(song: Song | null): ReadonlySet<number> {
  const bars =
    song?.lines.flatMap(({ startBar, bars: count }) => Array.from({ length: count }, (_, index) => startBar + index)) ??
    [];
  return new Set(bars);
}

function sungLines(steps: readonly SungStep[], grid: Grid): SungLine[] {
  const lines: { start: number; notes: SungNote[] }[] = [];
  for (const step of steps) {
    const start = grid.secondsAt(step.beat);
    if (step.startsLine) lines.push({ start, notes: [] });
    const line = lines.at(-1);
    line?.notes.push({
      start: start - line.start,
      seconds: grid.secondsFor(step.beat, step.beats),
      midi: step.midi,
      velocity: step.velocity,
      syllable: step.syllable,
    });
  }
  return lines;
}

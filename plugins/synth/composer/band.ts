import { Random } from "../random.js";
import type { InstrumentName } from "../sound/instruments.js";
import { playBass } from "./bass.js";
import type { Brief } from "./brief.js";
import { playChords } from "./comping.js";
import type { CompStyle } from "./comping.js";
import type { Form, Section } from "./form.js";
import type { Grid } from "./grid.js";
import type { HarmonicSpan } from "./harmony.js";
import { playMelody } from "./melody.js";
import type { Note, Part, Step } from "./notes.js";
import { nearestMidi, voiceChord } from "./theory.js";
import type { Chord } from "./theory.js";

interface BandTrack {
  readonly brief: Brief;
  readonly form: Form;
  readonly spans: readonly HarmonicSpan[];
  /** The chord that all instruments play at the end. */
  readonly ending: Chord;
  readonly grid: Grid;
  readonly seconds: number;
  readonly hasSinger: boolean;
  readonly sungBars: ReadonlySet<number>;
}

/** Level and place of an instrument in the mix. */
type Place = Pick<Part, "gain" | "pan" | "reverb" | "echo"> & { readonly isWide?: boolean };

/** Ranges: MIDI notes that are the centre of chords and melodies. */
const CHORDS_CENTRE = 59;
const PAD_CENTRE = 62;
/** Guitars that are rendered twice, once for each side. */
const DOUBLED = new Set<CompStyle>(["chug", "drive", "strum"]);
const LOW_LEADS = new Set<InstrumentName>(["celloBass", "brass", "leadGuitar", "saxophone", "acidLead"]);
const HIGH_LEADS = new Set<InstrumentName>(["musicBox", "bell", "flute", "vibraphone"]);

/** Every part but drums and voice. Each plays a final chord or note that rings to the end. */
export function playBand(track: BandTrack): Part[] {
  const { brief, form, spans, grid } = track;
  const { genre } = brief;
  const random = new Random(brief.seed, "band");
  const { sections, endBeat } = form;
  const beatsPerBar = grid.beatsPerBar;
  const common = { sections, spans, beatsPerBar };
  const parts: Part[] = [];
  const add = (
    name: string,
    instrument: InstrumentName,
    place: Place,
    steps: readonly Step[],
    finale: readonly number[],
  ): void => {
    const humane = random.fork(`timing ${name}`);
    const played = steps.map((step) => toNote(step, grid, genre.isTight ?? false, humane));
    const end = grid.secondsAt(endBeat);
    const last = finale.map((midi): Note => ({
      start: end,
      seconds: Math.max(0.3, track.seconds - end - 0.4),
      midi,
      velocity: 0.75,
    }));
    parts.push({
      name,
      instrument,
      stem: name === "bass" ? "bass" : "other",
      isWide: false,
      ...place,
      notes: [...played, ...last],
    });
  };
  const space = genre.space;
  const closing = voiceChord(track.ending, [], CHORDS_CENTRE);
  const chordSteps = playChords(
    {
      ...common,
      style: genre.comp,
      centre: CHORDS_CENTRE,
      from: brief.isSolo ? 0 : introStarter(brief) === "chords" ? 0.3 : 0.4,
    },
    random.fork("chords"),
  );
  add(
    "chords",
    brief.chords,
    {
      gain: track.hasSinger ? 0.6 : 0.44,
      pan: brief.isSolo ? -0.15 : -0.45,
      isWide: DOUBLED.has(genre.comp),
      reverb: 0.35 * space + 0.05,
      echo: genre.comp === "skank" ? 0.25 : 0,
    },
    chordSteps,
    closing,
  );
  if (brief.pad !== null && !brief.isSolo && brief.pad !== brief.chords) {
    const padSteps = playChords(
      { ...common, style: "sustain", centre: PAD_CENTRE, from: genre.energy < 0.35 ? 0.3 : 0.5 },
      random.fork("pad"),
    );
    add(
      "pad",
      brief.pad,
      { gain: padGain(brief), pan: 0, isWide: true, reverb: 0.6 * space + 0.1, echo: 0 },
      padSteps,
      voiceChord(track.ending, [], PAD_CENTRE),
    );
  }
  if (brief.bass !== null && genre.bass !== null && !brief.isSolo) {
    const bassSteps = playBass({ ...common, style: genre.bass, endBeat }, random.fork("bass"));
    add("bass", brief.bass, { gain: 0.85, pan: 0, reverb: 0, echo: 0 }, bassSteps, [
      nearestMidi(track.ending.root, 38),
    ]);
  }
  if (genre.arpeggio !== undefined && !brief.isSolo) {
    const from = genre.energy < 0.35 ? 0.5 : 0.75;
    const steps = playChords({ ...common, style: "arpeggio", centre: 71, from }, random.fork("arpeggio"));
    add(
      "arpeggio",
      genre.arpeggio,
      { gain: 0.24, pan: 0.6, reverb: 0.3 * space + 0.05, echo: genre.echo ?? 0.2 },
      steps,
      [],
    );
  }
  addLead(track, random, add);
  return parts.filter(({ notes }) => notes.length > 0);
}

type AddPart = (
  name: string,
  instrument: InstrumentName,
  place: Place,
  steps: readonly Step[],
  finale: readonly number[],
) => void;

/** The tune; with a singer only in the vocal pauses. */
function addLead(
  { brief, form, spans, ending, grid, hasSinger, sungBars }: BandTrack,
  random: Random,
  add: AddPart,
): void {
  const { genre } = brief;
  const centre = LOW_LEADS.has(brief.lead) ? 62 : HIGH_LEADS.has(brief.lead) ? 74 : 69;
  const isShort = form.sections.length < 3;
  const plays = (section: Section): boolean =>
    isShort || hasSinger || section.intensity >= 0.45 || (section.kind === "intro" && introStarter(brief) === "lead");
  const melody = playMelody(
    {
      sections: form.sections,
      spans,
      beatsPerBar: grid.beatsPerBar,
      endBeat: form.endBeat,
      business: genre.business + (brief.energy - genre.energy) * 0.5,
      centre,
      plays,
    },
    random.fork("melody"),
  );
  const steps = hasSinger ? melody.filter(({ beat }) => !sungBars.has(Math.floor(beat / grid.beatsPerBar))) : melody;
  const finale = hasSinger ? [] : [nearestMidi(ending.root, centre + 3)];
  add(
    "lead",
    brief.lead,
    {
      gain: hasSinger ? 0.55 : 0.88,
      pan: brief.isSolo ? 0.15 : 0.25,
      reverb: 0.4 * genre.space + 0.06,
      echo: (genre.echo ?? 0.12) * 0.6,
    },
    steps,
    finale,
  );
}

/** Instruments of the introduction: chords, or the tune over the pad. */
function introStarter({ seed }: Brief): "chords" | "lead" {
  return seed % 3 === 0 ? "lead" : "chords";
}

function padGain({ genre }: Brief): number {
  return genre.comp === "sustain" && genre.energy < 0.3 ? 0.4 : 0.24;
}

function toNote(step: Step, grid: Grid, isTight: boolean, random: Random): Note {
  const wobble = isTight ? 0 : random.between(-0.008, 0.01);
  return {
    start: Math.max(0, grid.secondsAt(step.beat) + wobble),
    seconds: grid.secondsFor(step.beat, step.beats),
    midi: step.midi,
    velocity: Math.min(1, step.velocity * (isTight ? 1 : random.between(0.88, 1.08))),
  };
}

import { Random } from "../random.js";
import type { Composition } from "../composer/compose.js";
import type { Part } from "../composer/notes.js";
import { panned, startSample } from "./bus.js";
import { soundDrum } from "./drum-kit.js";
import { SAMPLE_RATE } from "./dsp.js";
import { soundNote } from "./instruments.js";
import type { SoundedNote } from "./instruments.js";
import { rainEvents } from "./rain.js";
import type { SoundEvent } from "./sound-event.js";
import { singLine } from "./voice.js";

export type StemName = "drums" | "bass" | "other" | "vocals" | "rain";

/** What the stem `other` is made of: its parts by their names, and the crackle of dusty genres. */
export type LayerName = "chords" | "pad" | "arpeggio" | "lead" | "crackle";

/** Notes of the same length, pitch and force sound the same and are rendered once, as long as they fit in here. */
const CACHE_SAMPLES = 6_000_000;
/** Notes are distinguished by length in steps of this many samples, and by force in this many classes. */
const LENGTH_STEP = 512;
const FORCE_CLASSES = 4;
const DRUM_TAKES = 3;

/** The stems that a composition may have, in the order in which they are mixed. */
export function stemsOf({ voice, hasRain }: Composition): StemName[] {
  return [
    "drums",
    "bass",
    "other",
    ...(voice === null ? [] : ["vocals" as const]),
    ...(hasRain ? ["rain" as const] : []),
  ];
}

/** The layers that the stem `other` of a composition has. */
export function layersOf({ parts, brief }: Composition): LayerName[] {
  const names = parts.flatMap((part) => (part.stem === "other" ? [part.name as LayerName] : []));
  return [...names, ...(brief.genre.isDusty === true ? ["crackle" as const] : [])];
}

/**
 * All events of a stem, in order of their start.
 *
 * @param layer only this one of the stem `other`; null: all of them
 */
export function eventsOf(composition: Composition, stem: StemName, layer: LayerName | null): SoundEvent[] {
  const events = unsorted(composition, stem, layer);
  return events.sort((a, b) => a.at - b.at);
}

function unsorted(composition: Composition, stem: StemName, layer: LayerName | null): SoundEvent[] {
  const { parts, brief, seconds } = composition;
  switch (stem) {
    case "drums":
      return drumEvents(composition);
    case "vocals":
      return vocalEvents(composition);
    case "rain":
      return rainEvents(seconds, brief.seed);
    case "bass":
    case "other":
      return [
        ...parts
          .filter((part) => part.stem === stem && (layer === null || part.name === layer))
          .flatMap((part) => partEvents(part, brief.seed)),
        ...(stem === "other" && brief.genre.isDusty === true && (layer ?? "crackle") === "crackle"
          ? crackle(composition)
          : []),
      ];
  }
}

function partEvents(part: Part, seed: number): SoundEvent[] {
  const cache = new NoteCache(part, seed);
  const sides: readonly (-1 | 0 | 1)[] = part.isWide ? [-1, 1] : [0];
  const places = sides.map((side) => ({
    side,
    placement: { ...panned(part.isWide ? 0.8 * side : part.pan), reverb: part.reverb, echo: part.echo },
  }));
  return part.notes.flatMap((note) =>
    places.map(({ side, placement }): SoundEvent => {
      const force = Math.min(FORCE_CLASSES, Math.max(1, Math.ceil(note.velocity * FORCE_CLASSES)));
      return {
        at: startSample(note.start),
        gain: part.gain * note.velocity ** 1.3 * (part.isWide ? 0.7 : 1),
        placement,
        isGathered: true,
        render: () => cache.sound(note.midi, note.seconds, force, side),
      };
    }),
  );
}

class NoteCache {
  private readonly known = new Map<string, SoundedNote>();
  private samples = 0;

  constructor(
    private readonly part: Part,
    private readonly seed: number,
  ) {}

  sound(midi: number, seconds: number, force: number, side: -1 | 0 | 1): SoundedNote {
    const steps = Math.max(1, Math.round((seconds * SAMPLE_RATE) / LENGTH_STEP));
    const key = `${midi} ${steps} ${force} ${side}`;
    const known = this.known.get(key);
    if (known !== undefined) return known;
    const sounded = soundNote(
      this.part.instrument,
      midi,
      (steps * LENGTH_STEP) / SAMPLE_RATE,
      force / FORCE_CLASSES,
      this.seed + midi * 31 + side * 7_919,
      side,
    );
    this.samples += sounded.samples.length;
    if (this.samples > CACHE_SAMPLES) {
      this.known.clear();
      this.samples = sounded.samples.length;
    }
    this.known.set(key, sounded);
    return sounded;
  }
}

function drumEvents({ hits, kit, brief }: Composition): SoundEvent[] {
  const reverb = 0.03 + brief.genre.space * 0.12;
  return hits.map(({ start, sound, velocity }, index): SoundEvent => {
    const { samples, pan } = soundDrum(kit, sound, index % DRUM_TAKES);
    return {
      at: startSample(start),
      gain: velocity ** 1.4,
      placement: { ...panned(pan), reverb: sound === "kick" ? 0 : reverb, echo: 0 },
      isGathered: false,
      render: () => ({ samples, gain: 1 }),
    };
  });
}

/** Clicks of an old record, a few a second, anywhere between left and right. */
function crackle({ seconds, brief }: Composition): SoundEvent[] {
  const random = new Random(brief.seed, "crackle");
  const click = Float32Array.from({ length: 40 }, (_, index) => Math.sin(index * 0.9) * Math.exp(-index / 6));
  return Array.from({ length: Math.round(seconds * 9) }, () => ({
    at: startSample(random.next() * (seconds - 0.1)),
    gain: 0.012 + 0.05 * random.next() ** 4,
    placement: { ...panned(random.between(-0.9, 0.9)), reverb: 0, echo: 0 },
    isGathered: false,
    render: () => ({ samples: click, gain: 1 }),
  }));
}

const VOICE_GAIN = 0.95;

function vocalEvents({ voice, brief }: Composition): SoundEvent[] {
  if (voice === null) return [];
  const placement = { ...panned(0), reverb: 0.12 + 0.25 * brief.genre.space, echo: 0.08 };
  return voice.lines.map(({ start, notes }, index) => ({
    at: startSample(start),
    gain: VOICE_GAIN,
    placement,
    isGathered: false,
    render: () => ({ samples: singLine(notes, voice.size, brief.seed + index), gain: 1 }),
  }));
}

import type { CompositionOptions } from "../job-spec.js";
import { Random, hashText } from "../random.js";
import type { InstrumentName } from "../sound/instruments.js";
import { GENRES, genreNamed } from "./genre-table.js";
import type { Genre } from "./genre.js";
import type { Key, Mode } from "./theory.js";
import { MOODS } from "./moods.js";
import { ACTIVITIES, INSTRUMENT_WORDS, RAIN_WORDS, TEMPOS } from "./words.js";

/** The interpretation of a prompt; the composer has decided everything that the prompt leaves open. */
export interface Brief {
  /** Hash of prompt and lyrics, and of the seed if there is one. */
  readonly seed: number;
  readonly genre: Genre;
  /** Tags of the words that were found. */
  readonly moods: readonly string[];
  readonly activities: readonly string[];
  readonly genres: readonly string[];
  readonly instruments: readonly string[];
  readonly bpm: number;
  readonly key: Key;
  /** Sad to happy, -1 to 1. */
  readonly valence: number;
  /** Calm to wild, 0 to 1. */
  readonly energy: number;
  /** Dull to bright sound, -1 to 1. */
  readonly brightness: number;
  readonly lead: InstrumentName;
  readonly chords: InstrumentName;
  readonly pad: InstrumentName | null;
  readonly bass: InstrumentName | null;
  readonly hasDrums: boolean;
  readonly hasRain: boolean;
  /** One instrument alone: its melody and its chords. */
  readonly isSolo: boolean;
  /** The prompt or an option gives the beats per minute, which are kept exactly. */
  readonly namesTempo: boolean;
}

export const BPM_MIN = 40;
export const BPM_MAX = 220;
const BPM_WORDS = /(?<![\d.])(\d{2,3})(?:\.\d+)?\s*-?\s*(?:bpm|beats per minute)/u;
const KEY_WORDS =
  /\b(?:in|key of|key)\s+([a-g])(\s*(?:#|♯|-?sharp\b)|\s*(?:b|♭|-?flat)(?![a-z]))?(?:[\s-]*(major|minor|maj\b|min\b|dorian|phrygian|lydian|mixolydian|dur\b|moll\b))/u;
const BARE_KEY_WORDS =
  /\b([a-g])(\s*(?:#|♯|-?sharp\b)|\s*(?:b|♭|-?flat)(?![a-z]))?[\s-]+(major|minor|dorian|phrygian|lydian|mixolydian)\b/u;
const ACCIDENTALS = { "": 0, "#": 1, b: -1 } as const;
const PITCH_CLASSES: Record<string, number> = { c: 0, d: 2, e: 4, f: 5, g: 7, a: 9, b: 11 };

/**
 * Reads a prompt. Every text gives a brief; one without any known word gets its music from its hash. Options take
 * precedence over words.
 */
export function readBrief(prompt: string, lyrics: string | null, options: CompositionOptions = {}): Brief {
  const text = ` ${prompt
    .normalize("NFKC")
    .toLowerCase()
    .replace(/[\p{Z}\s]+/gu, " ")} `;
  const chosen = options.seed === undefined ? "" : `\u0000${options.seed}`;
  const seed = hashText(`${prompt}\u0000${lyrics ?? ""}${chosen}`);
  const random = new Random(seed, "brief");
  const moods = MOODS.filter(({ words }) => mentions(text, words));
  const activities = ACTIVITIES.filter(({ words }) => mentions(text, words));
  const named = INSTRUMENT_WORDS.filter(({ words }) => mentions(text, words));
  const found = GENRES.filter(({ words }) => mentions(text, words));
  const factors = TEMPOS.filter(({ words }) => mentions(text, words));
  const valence = mean(
    moods.map((mood) => mood.valence),
    random.between(-0.4, 0.5),
  );
  const feelings = [
    ...moods.map(({ arousal }) => arousal),
    ...activities.map(({ arousal }) => arousal),
    ...factors.map(({ factor = 1 }) => (factor - 1) * 2),
  ];
  const arousal = mean(feelings, random.between(-0.3, 0.3));
  const genre =
    found[0] ??
    fallbackGenre(
      valence,
      arousal,
      feelings.length > 0,
      named.map(({ tag }) => tag),
      random,
    );
  const energy = clamp(genre.energy + arousal * 0.35, 0, 1);
  const namedBpm = options.bpm ?? Number(BPM_WORDS.exec(text)?.[1] ?? Number.NaN);
  const wordBpm = factors.find(({ bpm }) => bpm !== undefined)?.bpm;
  const factor = factors.reduce((product, tempo) => product * (tempo.factor ?? 1), 1);
  const fromGenre =
    genre.bpm[0] + (genre.bpm[1] - genre.bpm[0]) * clamp(0.5 + arousal * 0.5 + random.between(-0.25, 0.25), 0, 1);
  const namesTempo = Number.isFinite(namedBpm);
  const bpm = clamp(Math.round(namesTempo ? namedBpm : (wordBpm ?? fromGenre * factor)), BPM_MIN, BPM_MAX);
  // Drawn also if the key is given, so that later draws stay the same.
  const wordedKey = readKey(text, genre, valence, moods.length > 0, random);
  const isAlone = /\b(?:solo|only|just|alone|unaccompanied)\b/u.test(text) && named.length > 0;
  const lacks = (word: string): boolean =>
    new RegExp(`\\b(?:no|without|zero)\\s+(?:\\w+\\s+(?:or|and)\\s+)?${word}|\\b${word}less\\b`, "u").test(text);
  const wantsDrums = mentions(text, ["drums", "drum", "percussion", "beat", "beats", "drumming"]);
  return {
    seed,
    genre,
    moods: moods.map(({ tag }) => tag),
    activities: activities.map(({ tag }) => tag),
    genres: found.length > 0 ? found.map(({ name }) => name) : [genre.name],
    instruments: named.map(({ tag }) => tag),
    bpm,
    key: keyNamed(options.key) ?? wordedKey,
    valence,
    energy,
    brightness: clamp(
      mean(
        moods.map((mood) => mood.brightness ?? mood.arousal * 0.7),
        0,
      ) +
        (genre.energy - 0.5) * 0.4,
      -1,
      1,
    ),
    lead: named.find(({ lead }) => lead !== undefined)?.lead ?? random.pick(genre.leads),
    chords: named.find(({ chords }) => chords !== undefined)?.chords ?? random.pick(genre.chords),
    pad: named.find(({ pad }) => pad !== undefined)?.pad ?? (genre.pads.length > 0 ? random.pick(genre.pads) : null),
    bass:
      lacks("bass") || genre.bass === null
        ? null
        : (named.find(({ bass }) => bass !== undefined)?.bass ?? random.pick(genre.basses)),
    hasDrums:
      !lacks("drums?") && !lacks("percussion") && !lacks("beat") && !isAlone && (genre.drums !== null || wantsDrums),
    hasRain: mentions(text, RAIN_WORDS) && !lacks("rain"),
    isSolo: isAlone || (genre.name === "ballad" && named.length === 1 && arousal < -0.2),
    namesTempo,
  };
}

/** True where one of the words is a whole word of the text; `text` is lower case and padded with spaces. */
export function mentions(text: string, words: readonly string[]): boolean {
  return words.some((word) => {
    for (let index = text.indexOf(word); index >= 0; index = text.indexOf(word, index + 1)) {
      if (!isLetter(text[index - 1]) && !isLetter(text[index + word.length])) return true;
    }
    return false;
  });
}

function isLetter(character: string | undefined): boolean {
  return character !== undefined && /[\p{L}\p{N}]/u.test(character);
}

/** A genre for a prompt that names none, from its instruments and its mood, else from its hash. */
function fallbackGenre(
  valence: number,
  arousal: number,
  hasFeeling: boolean,
  instruments: readonly string[],
  random: Random,
): Genre {
  if (instruments.includes("electric guitar")) return genreNamed("rock");
  if (instruments.includes("guitar")) return genreNamed("folk");
  if (instruments.includes("music box")) return genreNamed("lullaby");
  if (["saxophone", "vibraphone", "trumpet"].some((tag) => instruments.includes(tag))) return genreNamed("jazz");
  if (["strings", "brass", "choir"].some((tag) => instruments.includes(tag))) return genreNamed("cinematic");
  if (["violin", "cello", "harp", "flute", "accordion"].some((tag) => instruments.includes(tag)))
    return genreNamed("classical");
  if (instruments.includes("synth")) return genreNamed("synthwave");
  if (!hasFeeling)
    return genreNamed(
      random.pick(["pop", "lofi", "house", "folk", "synthwave", "cinematic", "rock", "ambient", "soul", "funk"]),
    );
  if (arousal < -0.55) return genreNamed(random.pick(["ambient", "ballad"]));
  if (arousal < -0.1)
    return genreNamed(random.pick(valence < -0.2 ? ["ballad", "lofi", "cinematic"] : ["lofi", "folk", "ballad"]));
  if (arousal < 0.5)
    return genreNamed(random.pick(valence < -0.2 ? ["cinematic", "synthwave"] : ["pop", "folk", "funk"]));
  return genreNamed(
    random.pick(valence < -0.2 ? ["metal", "techno", "drum and bass"] : ["pop", "house", "rock", "trance"]),
  );
}

function readKey(text: string, genre: Genre, valence: number, hasMood: boolean, random: Random): Key {
  const [, letter, accidental, scale] = KEY_WORDS.exec(text) ?? BARE_KEY_WORDS.exec(text) ?? [];
  const isDarkMood = hasMood && Math.abs(valence) > 0.15 ? valence < 0 : random.chance(genre.darkness);
  const genreMode = isDarkMood ? genre.dark : genre.bright;
  const tonic = random.integer(0, 11);
  if (letter === undefined) {
    const requested: Mode | null = mentions(text, ["minor"]) ? "minor" : mentions(text, ["major"]) ? "major" : null;
    return { tonic, mode: requested ?? (valence < -0.3 && genreMode === "dorian" ? "minor" : genreMode) };
  }
  const shift = accidental === undefined ? 0 : /[#♯s]/u.test(accidental) ? 1 : -1;
  return { tonic: ((PITCH_CLASSES[letter] ?? 0) + shift + 12) % 12, mode: modeNamed(scale) };
}

/** The key that an option names; null without one. */
function keyNamed(name: string | undefined): Key | null {
  const [, letter = "", accidental = "", scale] = /^([A-G])([#b]?) (major|minor)$/.exec(name ?? "") ?? [];
  const pitch = PITCH_CLASSES[letter.toLowerCase()];
  if (pitch === undefined) return null;
  return { tonic: (pitch + ACCIDENTALS[accidental as keyof typeof ACCIDENTALS] + 12) % 12, mode: modeNamed(scale) };
}

function modeNamed(name: string | undefined): Mode {
  switch (name) {
    case "dorian":
    case "phrygian":
    case "lydian":
    case "mixolydian":
      return name;
    case "minor":
    case "min":
    case "moll":
      return "minor";
    default:
      return "major";
  }
}

function mean(values: readonly number[], otherwise: number): number {
  return values.length === 0 ? otherwise : values.reduce((sum, value) => sum + value, 0) / values.length;
}

function clamp(value: number, low: number, high: number): number {
  return Math.min(high, Math.max(low, value));
}

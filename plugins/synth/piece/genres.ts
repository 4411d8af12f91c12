import type { ChordColour, Mode } from "./theory.js";
import type { DrumStyle } from "./drums.js";
import type { BassStyle } from "./bass.js";
import type { CompStyle } from "./comping.js";
import type { ProgressionStyle } from "./harmony.js";
import type { InstrumentName } from "../sound/instruments.js";
import type { KitName } from "../sound/drum-kit.js";

/** Everything that a style of music fixes; the mood moves what is left. */
export interface Genre {
  readonly name: string;
  /** Words of a prompt that ask for it; may hold spaces. */
  readonly words: readonly string[];
  readonly bpm: readonly [number, number];
  readonly beatsPerBar?: 3;
  /** 0.5 is straight, 0.67 a triplet shuffle; pairs are eighths, or sixteenths where `swingsSixteenths`. */
  readonly swing?: number;
  readonly swingsSixteenths?: boolean;
  readonly bright: Mode;
  readonly dark: Mode;
  /** Chance of the dark scale when the mood leaves it open. */
  readonly darkness: number;
  readonly progressions: ProgressionStyle;
  readonly colour: ChordColour;
  /** 2: a chord lasts two bars. */
  readonly barsPerChord?: 2;
  readonly drums: DrumStyle | null;
  readonly kit: KitName;
  readonly bass: BassStyle | null;
  readonly comp: CompStyle;
  readonly leads: readonly InstrumentName[];
  readonly chords: readonly InstrumentName[];
  readonly pads: readonly InstrumentName[];
  readonly basses: readonly InstrumentName[];
  /** An arpeggio in the louder sections. */
  readonly arpeggio?: InstrumentName;
  /** Notes of the melody per bar, roughly: 0 sparse, 1 busy. */
  readonly business: number;
  /** 0 calm, 1 wild. */
  readonly energy: number;
  /** 0 dry, 1 cathedral. */
  readonly space: number;
  /** Depth of the echo on the lead, 0 to 1. */
  readonly echo?: number;
  /** Everything ducks under the bass drum. */
  readonly pumps?: boolean;
  /** Crackle, wow and a duller top. */
  readonly isDusty?: boolean;
  /** Played to the grid, without human timing. */
  readonly isTight?: boolean;
}

/** In order of precedence where a prompt names several. */
export const GENRES: readonly Genre[] = [
  { name: "drum and bass", words: ["drum and bass", "drum & bass", "drum n bass", "dnb", "d&b", "jungle", "breakcore", "liquid"], bpm: [168, 176], bright: "major", dark: "minor", darkness: 0.8, progressions: "loop", colour: "seventh", barsPerChord: 2, drums: "breakbeat", kit: "electronic", bass: "reese", comp: "pulse", leads: ["softLead", "pluck"], chords: ["pluck", "electricPiano"], pads: ["warmPad"], basses: ["reeseBass"], arpeggio: "pluck", business: 0.45, energy: 0.9, space: 0.4, echo: 0.4, isTight: true },
  { name: "dubstep", words: ["dubstep", "brostep", "riddim", "bass music"], bpm: [138, 142], bright: "dorian", dark: "phrygian", darkness: 0.9, progressions: "loop", colour: "triad", barsPerChord: 2, drums: "halftime", kit: "electronic", bass: "wobble", comp: "sustain", leads: ["sawLead", "squareLead"], chords: ["warmPad"], pads: ["darkPad"], basses: ["reeseBass"], arpeggio: "pluck", business: 0.4, energy: 0.9, space: 0.35, echo: 0.3, pumps: true, isTight: true },
  { name: "trap", words: ["trap", "drill", "phonk"], bpm: [136, 148], bright: "dorian", dark: "phrygian", darkness: 0.9, progressions: "loop", colour: "triad", barsPerChord: 2, drums: "trap", kit: "eight08", bass: "sub", comp: "sustain", leads: ["bell", "flute", "pluck"], chords: ["darkPad", "piano"], pads: ["darkPad"], basses: ["subBass"], arpeggio: "bell", business: 0.4, energy: 0.7, space: 0.4, echo: 0.35, isTight: true },
  { name: "lofi", words: ["lofi", "lo-fi", "lo fi", "chillhop", "chill hop", "study beats"], bpm: [70, 86], swing: 0.6, swingsSixteenths: true, bright: "major", dark: "dorian", darkness: 0.5, progressions: "jazz", colour: "ninth", drums: "boomBap", kit: "dusty", bass: "lazy", comp: "lazy", leads: ["softPiano", "vibraphone", "nylonGuitar"], chords: ["electricPiano"], pads: ["warmPad"], basses: ["roundBass"], business: 0.35, energy: 0.3, space: 0.35, isDusty: true },
  { name: "hip hop", words: ["hip hop", "hip-hop", "hiphop", "rap", "boom bap", "boombap", "beats"], bpm: [84, 96], swing: 0.58, swingsSixteenths: true, bright: "dorian", dark: "minor", darkness: 0.75, progressions: "loop", colour: "seventh", drums: "boomBap", kit: "eight08", bass: "lazy", comp: "stabs", leads: ["electricPiano", "flute", "bell"], chords: ["electricPiano", "piano"], pads: ["strings"], basses: ["subBass", "roundBass"], business: 0.4, energy: 0.55, space: 0.2 },
  { name: "reggae", words: ["reggae", "dub", "ska", "dancehall", "rocksteady", "reggaeton"], bpm: [72, 84], swing: 0.56, bright: "major", dark: "dorian", darkness: 0.35, progressions: "modal", colour: "triad", drums: "oneDrop", kit: "acoustic", bass: "dub", comp: "skank", leads: ["organ", "brass", "flute"], chords: ["cleanGuitar", "organ"], pads: ["organ"], basses: ["roundBass"], business: 0.4, energy: 0.5, space: 0.35, echo: 0.5 },
  { name: "techno", words: ["techno", "industrial", "rave", "acid", "minimal techno", "hardstyle", "gabber"], bpm: [128, 138], bright: "dorian", dark: "phrygian", darkness: 0.95, progressions: "loop", colour: "triad", barsPerChord: 2, drums: "techno", kit: "electronic", bass: "rolling", comp: "stabs", leads: ["acidLead", "sawLead"], chords: ["stab"], pads: ["darkPad"], basses: ["acidBass"], arpeggio: "acidLead", business: 0.6, energy: 0.9, space: 0.35, echo: 0.5, pumps: true, isTight: true },
  { name: "trance", words: ["trance", "psytrance", "goa", "eurodance", "edm", "festival", "big room", "hardcore"], bpm: [134, 140], bright: "major", dark: "minor", darkness: 0.75, progressions: "anthem", colour: "triad", drums: "house", kit: "electronic", bass: "offbeat", comp: "pulse", leads: ["superLead"], chords: ["superLead"], pads: ["strings", "warmPad"], basses: ["synthBass"], arpeggio: "pluck", business: 0.6, energy: 0.95, space: 0.5, echo: 0.5, pumps: true, isTight: true },
  { name: "house", words: ["house", "deep house", "tech house", "garage", "electro", "electronic", "electronica", "dance", "club", "dj"], bpm: [120, 126], swing: 0.53, swingsSixteenths: true, bright: "dorian", dark: "minor", darkness: 0.7, progressions: "loop", colour: "ninth", drums: "house", kit: "electronic", bass: "offbeat", comp: "stabs", leads: ["pluck", "softLead", "organ"], chords: ["stab", "electricPiano", "organ"], pads: ["warmPad"], basses: ["synthBass"], arpeggio: "pluck", business: 0.4, energy: 0.8, space: 0.3, echo: 0.35, pumps: true, isTight: true },
  { name: "disco", words: ["disco", "nu disco", "boogie"], bpm: [116, 122], bright: "major", dark: "dorian", darkness: 0.5, progressions: "pop", colour: "seventh", drums: "disco", kit: "acoustic", bass: "octaves", comp: "chop", leads: ["strings", "brass"], chords: ["cleanGuitar", "electricPiano"], pads: ["strings"], basses: ["fingerBass"], business: 0.55, energy: 0.8, space: 0.25 },
  { name: "funk", words: ["funk", "funky", "groove", "groovy"], bpm: [100, 112], swing: 0.55, swingsSixteenths: true, bright: "mixolydian", dark: "dorian", darkness: 0.5, progressions: "modal", colour: "dominant", drums: "funk", kit: "acoustic", bass: "funk", comp: "chop", leads: ["brass", "clavinet"], chords: ["cleanGuitar", "clavinet"], pads: ["organ"], basses: ["fingerBass"], business: 0.6, energy: 0.7, space: 0.15 },
  { name: "synthwave", words: ["synthwave", "synth wave", "retrowave", "outrun", "vaporwave", "80s", "eighties", "new wave", "cyberpunk", "synthpop", "neon"], bpm: [88, 112], bright: "major", dark: "minor", darkness: 0.7, progressions: "anthem", colour: "triad", drums: "backbeat", kit: "gated", bass: "rolling", comp: "sustain", leads: ["sawLead", "squareLead"], chords: ["warmPad", "brassPad"], pads: ["warmPad"], basses: ["synthBass"], arpeggio: "pluck", business: 0.45, energy: 0.65, space: 0.45, echo: 0.5, pumps: true, isTight: true },
  { name: "chiptune", words: ["chiptune", "8-bit", "8 bit", "8bit", "16-bit", "nes", "gameboy", "arcade", "retro game", "video game", "pixel"], bpm: [124, 152], bright: "major", dark: "minor", darkness: 0.35, progressions: "anthem", colour: "triad", drums: "backbeat", kit: "chip", bass: "octaves", comp: "arpeggio", leads: ["chipLead"], chords: ["chipPulse"], pads: [], basses: ["chipBass"], arpeggio: "chipPulse", business: 0.8, energy: 0.75, space: 0.05, echo: 0.25, isTight: true },
  { name: "metal", words: ["metal", "heavy metal", "thrash", "metalcore", "djent", "doom", "death metal"], bpm: [132, 172], bright: "minor", dark: "phrygian", darkness: 0.8, progressions: "metal", colour: "power", drums: "metal", kit: "rock", bass: "eighths", comp: "chug", leads: ["leadGuitar"], chords: ["powerGuitar"], pads: [], basses: ["pickBass"], business: 0.65, energy: 1, space: 0.2 },
  { name: "punk", words: ["punk", "pop punk", "hardcore punk", "emo"], bpm: [164, 184], bright: "major", dark: "minor", darkness: 0.25, progressions: "pop", colour: "power", drums: "punk", kit: "rock", bass: "eighths", comp: "chug", leads: ["leadGuitar"], chords: ["powerGuitar"], pads: [], basses: ["pickBass"], business: 0.55, energy: 0.95, space: 0.12 },
  { name: "rock", words: ["rock", "grunge", "indie rock", "alternative", "hard rock", "garage rock", "stadium"], bpm: [112, 138], bright: "mixolydian", dark: "minor", darkness: 0.5, progressions: "rock", colour: "power", drums: "rock", kit: "rock", bass: "eighths", comp: "drive", leads: ["leadGuitar"], chords: ["powerGuitar"], pads: ["organ"], basses: ["pickBass"], business: 0.5, energy: 0.8, space: 0.2 },
  { name: "bossa nova", words: ["bossa", "bossa nova", "samba", "latin", "salsa", "brazilian", "cuban", "rumba", "tango", "flamenco", "mambo"], bpm: [116, 136], bright: "major", dark: "dorian", darkness: 0.45, progressions: "jazz", colour: "seventh", drums: "bossa", kit: "brush", bass: "rootFifth", comp: "bossa", leads: ["flute", "nylonGuitar", "vibraphone"], chords: ["nylonGuitar"], pads: [], basses: ["uprightBass"], business: 0.5, energy: 0.4, space: 0.25 },
  { name: "blues", words: ["blues", "bluesy", "delta blues"], bpm: [76, 104], swing: 0.66, bright: "mixolydian", dark: "dorian", darkness: 0.3, progressions: "blues", colour: "dominant", drums: "shuffle", kit: "acoustic", bass: "walking", comp: "shuffle", leads: ["cleanGuitar", "organ"], chords: ["piano", "organ"], pads: ["organ"], basses: ["fingerBass", "uprightBass"], business: 0.5, energy: 0.5, space: 0.2 },
  { name: "jazz", words: ["jazz", "jazzy", "swing", "bebop", "big band", "noir", "speakeasy", "smoky"], bpm: [112, 156], swing: 0.64, bright: "major", dark: "dorian", darkness: 0.4, progressions: "jazz", colour: "seventh", drums: "swing", kit: "brush", bass: "walking", comp: "charleston", leads: ["saxophone", "vibraphone", "trumpet"], chords: ["piano"], pads: [], basses: ["uprightBass"], business: 0.6, energy: 0.45, space: 0.2 },
  { name: "soul", words: ["soul", "r&b", "rnb", "rhythm and blues", "motown", "gospel", "neo soul"], bpm: [72, 98], swing: 0.57, swingsSixteenths: true, bright: "major", dark: "dorian", darkness: 0.35, progressions: "jazz", colour: "ninth", drums: "backbeat", kit: "acoustic", bass: "funk", comp: "lazy", leads: ["electricPiano", "saxophone", "organ"], chords: ["electricPiano", "organ"], pads: ["strings"], basses: ["fingerBass"], business: 0.45, energy: 0.5, space: 0.25 },
  { name: "cinematic", words: ["cinematic", "epic", "orchestral", "orchestra", "trailer", "film", "movie", "score", "soundtrack", "heroic", "battle", "symphonic", "fantasy", "adventure"], bpm: [84, 120], bright: "lydian", dark: "minor", darkness: 0.75, progressions: "epic", colour: "triad", drums: "taiko", kit: "orchestral", bass: "pedal", comp: "ostinato", leads: ["brass", "strings", "choir"], chords: ["spiccato"], pads: ["strings", "choir"], basses: ["celloBass"], business: 0.35, energy: 0.8, space: 0.75 },
  { name: "waltz", words: ["waltz", "3/4", "ballroom", "carousel", "viennese"], bpm: [132, 168], beatsPerBar: 3, bright: "major", dark: "minor", darkness: 0.4, progressions: "classical", colour: "triad", drums: null, kit: "orchestral", bass: "roots", comp: "waltz", leads: ["strings", "flute", "accordion"], chords: ["piano", "strings"], pads: ["strings"], basses: ["celloBass"], business: 0.5, energy: 0.5, space: 0.45 },
  { name: "classical", words: ["classical", "baroque", "sonata", "chamber", "string quartet", "mozart", "bach", "chopin", "nocturne", "symphony", "concerto", "romantic piano"], bpm: [72, 116], bright: "major", dark: "minor", darkness: 0.45, progressions: "classical", colour: "triad", drums: null, kit: "orchestral", bass: "roots", comp: "alberti", leads: ["piano", "strings", "flute"], chords: ["piano", "harp"], pads: ["strings"], basses: ["celloBass"], business: 0.6, energy: 0.4, space: 0.5 },
  { name: "folk", words: ["folk", "acoustic", "singer songwriter", "campfire", "celtic", "irish", "medieval", "indie folk", "americana", "bluegrass", "country", "western", "cowboy"], bpm: [88, 120], bright: "major", dark: "dorian", darkness: 0.3, progressions: "folk", colour: "triad", drums: "stomp", kit: "hand", bass: "rootFifth", comp: "strum", leads: ["flute", "fiddle", "steelGuitar"], chords: ["steelGuitar"], pads: [], basses: ["uprightBass"], business: 0.5, energy: 0.45, space: 0.2 },
  { name: "lullaby", words: ["lullaby", "music box", "cradle", "baby", "bedtime", "nursery", "kids", "children"], bpm: [66, 84], beatsPerBar: 3, bright: "major", dark: "minor", darkness: 0.1, progressions: "folk", colour: "triad", drums: null, kit: "hand", bass: null, comp: "arpeggio", leads: ["musicBox"], chords: ["harp", "softPiano"], pads: ["warmPad"], basses: ["subBass"], business: 0.4, energy: 0.15, space: 0.5 },
  { name: "ambient", words: ["ambient", "drone", "atmospheric", "soundscape", "meditation", "meditative", "new age", "spa", "space music", "ethereal", "healing", "zen"], bpm: [60, 76], bright: "lydian", dark: "dorian", darkness: 0.45, progressions: "drift", colour: "sus", barsPerChord: 2, drums: null, kit: "electronic", bass: "drone", comp: "sustain", leads: ["bell", "softLead", "flute"], chords: ["glassPad"], pads: ["warmPad", "choir"], basses: ["subBass"], arpeggio: "bell", business: 0.15, energy: 0.1, space: 0.9, echo: 0.6 },
  { name: "ballad", words: ["ballad", "piano", "emotional", "love song", "torch song"], bpm: [62, 78], bright: "major", dark: "minor", darkness: 0.5, progressions: "pop", colour: "triad", drums: null, kit: "brush", bass: "roots", comp: "arpeggio", leads: ["piano"], chords: ["piano"], pads: ["strings"], basses: ["celloBass"], business: 0.35, energy: 0.3, space: 0.45 },
  { name: "pop", words: ["pop", "k-pop", "kpop", "j-pop", "jpop", "radio", "summer", "catchy", "indie", "corporate", "jingle", "advert", "commercial"], bpm: [100, 124], bright: "major", dark: "minor", darkness: 0.25, progressions: "pop", colour: "triad", drums: "backbeat", kit: "acoustic", bass: "eighths", comp: "pulse", leads: ["softLead", "bell", "pluck"], chords: ["piano", "cleanGuitar"], pads: ["warmPad"], basses: ["fingerBass", "synthBass"], arpeggio: "pluck", business: 0.55, energy: 0.65, space: 0.25 },
];

/** The genre of that name. */
export function genreNamed(name: string): Genre {
  const genre = GENRES.find((candidate) => candidate.name === name);
  if (genre === undefined) throw new RangeError(`no genre is called ${name}`);
  return genre;
}

import type { InstrumentName } from "../sound/instruments.js";

/** Activities: the tag, its words, and the arousal that they ask for. */
export const ACTIVITIES: readonly {
  readonly tag: string;
  readonly words: readonly string[];
  readonly arousal: number;
}[] = [
  { tag: "study", words: ["study", "studying", "homework", "reading", "learning"], arousal: -0.5 },
  {
    tag: "focus",
    words: ["focus", "work", "working", "concentration", "coding", "programming", "office"],
    arousal: -0.2,
  },
  { tag: "sleep", words: ["sleep", "sleeping", "bedtime", "asleep", "insomnia", "nap"], arousal: -1 },
  { tag: "meditation", words: ["meditation", "meditate", "mindfulness", "breathing", "yoga", "spa"], arousal: -0.9 },
  { tag: "relaxing", words: ["relax", "relaxing", "unwind", "chilling", "lounge", "bath", "beach"], arousal: -0.6 },
  { tag: "workout", words: ["workout", "gym", "fitness", "training", "exercise", "boxing", "cardio"], arousal: 0.9 },
  { tag: "running", words: ["running", "run", "jogging", "sprint", "marathon"], arousal: 0.8 },
  { tag: "party", words: ["party", "dancing", "celebration", "club", "festival", "nightclub"], arousal: 0.8 },
  { tag: "driving", words: ["driving", "drive", "road", "roadtrip", "highway", "car", "cruising"], arousal: 0.3 },
  { tag: "gaming", words: ["gaming", "game", "boss", "level", "quest", "esports"], arousal: 0.5 },
  { tag: "dinner", words: ["dinner", "restaurant", "cooking", "cafe", "café", "cocktail", "wine"], arousal: -0.3 },
  { tag: "travel", words: ["travel", "journey", "vacation", "holiday", "flight", "hiking"], arousal: 0.1 },
];

/** Words of speed: a factor on the tempo, or a tempo of their own. */
export const TEMPOS: readonly { readonly words: readonly string[]; readonly factor?: number; readonly bpm?: number }[] =
  [
    { words: ["very slow", "super slow", "slowest"], factor: 0.72 },
    {
      words: ["slow", "slowly", "slowed", "langsam", "lent", "lento", "despacio", "downtempo", "unhurried"],
      factor: 0.84,
    },
    { words: ["very fast", "super fast", "insanely fast", "breakneck"], factor: 1.28 },
    {
      words: [
        "fast",
        "quick",
        "rapid",
        "speedy",
        "schnell",
        "rapide",
        "rápido",
        "rapido",
        "uptempo",
        "up-tempo",
        "frantic",
        "hectic",
      ],
      factor: 1.15,
    },
    { words: ["mid tempo", "mid-tempo", "midtempo", "moderate"], factor: 1 },
    { words: ["largo"], bpm: 56 },
    { words: ["adagio"], bpm: 68 },
    { words: ["andante"], bpm: 84 },
    { words: ["moderato"], bpm: 104 },
    { words: ["allegro"], bpm: 132 },
    { words: ["vivace"], bpm: 152 },
    { words: ["presto"], bpm: 172 },
  ];

/** Words that let it rain. */
export const RAIN_WORDS = [
  ...["rain", "rainy", "raining", "rainfall", "raindrop", "raindrops", "drizzle", "downpour"],
  ...["regen", "pluie", "lluvia"],
];

/** Instruments by the words that name them, and the parts that each can play. */
export const INSTRUMENT_WORDS: readonly {
  readonly tag: string;
  readonly words: readonly string[];
  readonly lead?: InstrumentName;
  readonly chords?: InstrumentName;
  readonly pad?: InstrumentName;
  readonly bass?: InstrumentName;
}[] = [
  {
    tag: "electric piano",
    words: ["electric piano", "rhodes", "wurlitzer", "e-piano"],
    lead: "electricPiano",
    chords: "electricPiano",
  },
  { tag: "piano", words: ["piano", "pianos", "klavier", "keys"], lead: "piano", chords: "piano" },
  {
    tag: "electric guitar",
    words: ["electric guitar", "distorted guitar", "guitar solo", "guitar riff"],
    lead: "leadGuitar",
    chords: "powerGuitar",
  },
  {
    tag: "guitar",
    words: [
      "guitar",
      "guitars",
      "acoustic guitar",
      "gitarre",
      "guitarra",
      "guitare",
      "ukulele",
      "banjo",
      "mandolin",
      "lute",
    ],
    lead: "steelGuitar",
    chords: "steelGuitar",
  },
  {
    tag: "strings",
    words: ["strings", "string", "violins", "orchestra", "orchestral"],
    lead: "strings",
    pad: "strings",
  },
  { tag: "violin", words: ["violin", "fiddle", "viola", "geige"], lead: "fiddle" },
  { tag: "cello", words: ["cello", "cellos", "double bass", "contrabass"], lead: "celloBass", bass: "celloBass" },
  {
    tag: "flute",
    words: ["flute", "flutes", "pan flute", "whistle", "recorder", "shakuhachi", "ocarina"],
    lead: "flute",
  },
  { tag: "saxophone", words: ["sax", "saxophone", "clarinet", "oboe"], lead: "saxophone" },
  { tag: "trumpet", words: ["trumpet", "trumpets", "horn"], lead: "trumpet" },
  { tag: "brass", words: ["brass", "horns", "trombone", "tuba", "fanfare"], lead: "brass", chords: "brassPad" },
  { tag: "organ", words: ["organ", "hammond", "church"], lead: "organ", chords: "organ" },
  { tag: "accordion", words: ["accordion", "harmonica", "bandoneon"], lead: "accordion" },
  { tag: "harp", words: ["harp", "koto", "guzheng", "lyre", "kalimba", "sitar"], lead: "harp", chords: "harp" },
  { tag: "bells", words: ["bell", "bells", "chimes", "glockenspiel", "celesta", "sleigh"], lead: "bell" },
  { tag: "music box", words: ["music box"], lead: "musicBox" },
  {
    tag: "vibraphone",
    words: ["vibraphone", "vibes", "marimba", "xylophone", "steel drum"],
    lead: "vibraphone",
    chords: "vibraphone",
  },
  { tag: "choir", words: ["choir", "choral", "voices", "gregorian", "chant", "vocals"], pad: "choir" },
  {
    tag: "synth",
    words: ["synth", "synths", "synthesizer", "synthesiser", "moog", "arpeggio", "arp"],
    lead: "sawLead",
    pad: "warmPad",
  },
  { tag: "808", words: ["808", "808s", "sub bass"], bass: "subBass" },
  { tag: "bass", words: ["bass guitar", "slap bass", "bassline"], bass: "fingerBass" },
];

/** Words that do not describe the music; titles do not end in them and tags omit them. */
export const FILLER_WORDS = new Set(
  [
    "a an and the of for to in on at by with without from into my your our me you i we it its is are be",
    "this that some any please make create generate compose write give want need like about very really",
    "song songs music track piece tune beat instrumental style bpm key ein eine und der die das mit für",
    "un une le la les el los las de del y et con para por pour",
  ].flatMap((line) => line.split(" ")),
);

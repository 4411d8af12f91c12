import type { InstrumentName } from "../sound/instruments.js";

/** How a word of feeling moves the music; each from -1 to 1. */
export interface Mood {
  readonly tag: string;
  readonly words: readonly string[];
  /** Sad to happy. */
  readonly valence: number;
  /** Calm to excited. */
  readonly arousal: number;
  /** Dull to bright sound, where it differs from the arousal. */
  readonly brightness?: number;
}

export const MOODS: readonly Mood[] = [
  {
    tag: "sad",
    words: [
      "sad",
      "sadness",
      "sorrow",
      "sorrowful",
      "crying",
      "tears",
      "grief",
      "heartbreak",
      "heartbroken",
      "mourning",
      "lonely",
      "triste",
      "traurig",
      "tragic",
    ],
    valence: -0.9,
    arousal: -0.5,
  },
  {
    tag: "melancholic",
    words: [
      "melancholic",
      "melancholy",
      "wistful",
      "bittersweet",
      "longing",
      "nostalgic",
      "nostalgia",
      "autumn",
      "rain",
      "rainy",
      "melancholisch",
    ],
    valence: -0.5,
    arousal: -0.4,
  },
  {
    tag: "happy",
    words: [
      "happy",
      "joy",
      "joyful",
      "cheerful",
      "sunny",
      "fun",
      "bright",
      "smile",
      "feliz",
      "fröhlich",
      "heureux",
      "glücklich",
      "allegro",
      "birthday",
    ],
    valence: 0.9,
    arousal: 0.4,
  },
  {
    tag: "uplifting",
    words: [
      "uplifting",
      "inspiring",
      "inspirational",
      "hopeful",
      "hope",
      "motivational",
      "optimistic",
      "positive",
      "sunrise",
    ],
    valence: 0.8,
    arousal: 0.3,
  },
  {
    tag: "triumphant",
    words: ["triumphant", "victory", "victorious", "glorious", "heroic", "majestic", "proud", "anthem"],
    valence: 0.6,
    arousal: 0.7,
  },
  {
    tag: "playful",
    words: ["playful", "quirky", "funny", "silly", "cute", "whimsical", "bouncy", "comic"],
    valence: 0.8,
    arousal: 0.4,
    brightness: 0.6,
  },
  {
    tag: "romantic",
    words: ["romantic", "love", "tender", "sensual", "intimate", "wedding", "sweet", "amor", "amour", "liebe"],
    valence: 0.4,
    arousal: -0.3,
  },
  {
    tag: "calm",
    words: [
      "calm",
      "peaceful",
      "gentle",
      "soft",
      "quiet",
      "serene",
      "tranquil",
      "soothing",
      "mellow",
      "chill",
      "relaxing",
      "relaxed",
      "ruhig",
      "tranquilo",
      "calme",
    ],
    valence: 0.2,
    arousal: -0.7,
    brightness: -0.4,
  },
  {
    tag: "dreamy",
    words: [
      "dreamy",
      "dream",
      "dreams",
      "ethereal",
      "floating",
      "hazy",
      "stars",
      "moonlight",
      "ocean",
      "clouds",
      "underwater",
    ],
    valence: 0.2,
    arousal: -0.5,
  },
  {
    tag: "mysterious",
    words: ["mysterious", "mystery", "mystic", "mystical", "enigmatic", "secret", "magic", "magical", "enchanted"],
    valence: -0.2,
    arousal: -0.2,
  },
  {
    tag: "dark",
    words: [
      "dark",
      "gloomy",
      "sinister",
      "evil",
      "haunting",
      "haunted",
      "ominous",
      "night",
      "midnight",
      "shadow",
      "gothic",
      "dystopian",
      "dunkel",
      "oscuro",
    ],
    valence: -0.7,
    arousal: 0,
    brightness: -0.5,
  },
  {
    tag: "scary",
    words: ["scary", "horror", "creepy", "spooky", "terrifying", "halloween", "eerie"],
    valence: -0.8,
    arousal: 0.2,
    brightness: -0.2,
  },
  {
    tag: "tense",
    words: ["tense", "suspense", "suspenseful", "tension", "anxious", "thriller", "nervous", "urgent", "chase"],
    valence: -0.5,
    arousal: 0.5,
  },
  {
    tag: "angry",
    words: ["angry", "aggressive", "rage", "furious", "brutal", "violent", "intense", "hard"],
    valence: -0.5,
    arousal: 0.9,
  },
  {
    tag: "energetic",
    words: [
      "energetic",
      "energy",
      "upbeat",
      "lively",
      "exciting",
      "powerful",
      "driving",
      "hype",
      "banger",
      "wild",
      "pumping",
      "dynamic",
      "fierce",
    ],
    valence: 0.3,
    arousal: 0.9,
  },
  {
    tag: "warm",
    words: ["warm", "cozy", "cosy", "fireplace", "home", "smooth", "soulful", "coffee"],
    valence: 0.4,
    arousal: -0.4,
    brightness: -0.4,
  },
  {
    tag: "cold",
    words: ["cold", "icy", "winter", "frozen", "snow", "bleak", "sterile"],
    valence: -0.3,
    arousal: -0.3,
    brightness: 0.4,
  },
];

/** What one does to the music: the tag, its words, and how lively that wants it. */
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

/** Instruments by the words that name them, and what each can be in the band. */
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

/** Words that say nothing about the music; they are left out of titles' ends and of the other tags. */
export const FILLER_WORDS = new Set(
  "a an and the of for to in on at by with without from into my your our me you i we it its is are be this that some any please make create generate compose write give want need like about very really song songs music track piece tune beat instrumental style bpm key ein eine und der die das mit für un une le la les el los las de del y et con para por pour".split(
    " ",
  ),
);

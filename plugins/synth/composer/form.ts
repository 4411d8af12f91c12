export type SectionKind = "intro" | "verse" | "chorus" | "bridge" | "outro";

export interface Section {
  readonly kind: SectionKind;
  /** How many sections of this kind came before. */
  readonly round: number;
  readonly startBar: number;
  readonly bars: number;
  /** 0 hushed, 1 full; how much of the band plays. */
  readonly intensity: number;
}

export interface Form {
  readonly sections: readonly Section[];
  /** Beat of the final chord, at the end of the last section. */
  readonly endBeat: number;
}

/** The least time for the last chord to ring, in seconds. */
const TAIL_SECONDS = 1.6;

const INTENSITY: Record<SectionKind, number> = { intro: 0.35, verse: 0.6, chorus: 1, bridge: 0.5, outro: 0.45 };

/** Sequences of the parts, by the number of units of four (in long tracks eight) bars. */
const PLANS: readonly (readonly SectionKind[])[] = [
  ["verse"],
  ["verse", "chorus"],
  ["verse", "chorus", "chorus"],
  ["intro", "verse", "chorus", "chorus"],
  ["intro", "verse", "chorus", "verse", "chorus"],
  ["intro", "verse", "chorus", "bridge", "chorus", "outro"],
  ["intro", "verse", "chorus", "verse", "bridge", "chorus", "outro"],
  ["intro", "verse", "chorus", "verse", "chorus", "bridge", "chorus", "outro"],
  ["intro", "verse", "verse", "chorus", "verse", "chorus", "bridge", "chorus", "outro"],
  ["intro", "verse", "verse", "chorus", "verse", "chorus", "bridge", "chorus", "chorus", "outro"],
];

/** Beats from the start to the final chord: whole bars if two fit, else whole beats. */
export function beatsBeforeEnd(seconds: number, bpm: number, beatsPerBar: number): number {
  const beats = Math.floor(((seconds - TAIL_SECONDS) * bpm) / 60);
  return beats < 2 * beatsPerBar ? Math.max(1, beats) : beats - (beats % beatsPerBar);
}

/** Plans the sections of an instrumental track. */
export function planForm(seconds: number, bpm: number, beatsPerBar: number): Form {
  const endBeat = beatsBeforeEnd(seconds, bpm, beatsPerBar);
  const bars = Math.ceil(endBeat / beatsPerBar);
  const unit = bars >= 56 ? 8 : 4;
  return { sections: layOut(planOf(Math.max(1, Math.floor(bars / unit))), bars, unit), endBeat };
}

function planOf(units: number): readonly SectionKind[] {
  const plan = PLANS[units - 1];
  if (plan !== undefined) return plan;
  // Longer than any plan: rounds of verse, verse, chorus before the last third.
  const longest = PLANS[PLANS.length - 1] ?? [];
  const rounds = Array.from({ length: units - longest.length }, (_, index): SectionKind =>
    index % 3 === 2 ? "chorus" : "verse",
  );
  return [...longest.slice(0, 1), ...rounds, ...longest.slice(1)];
}

/** Gives each section one unit and spreads the bars that are left, never leaving one of no bars. */
function layOut(kinds: readonly SectionKind[], bars: number, unit: number): Section[] {
  const kept = kinds.slice(0, Math.max(1, Math.floor(bars / 2)));
  const lengths = shareBars(kept, bars, unit);
  const rounds = new Map<SectionKind, number>();
  let startBar = 0;
  return kept.map((kind, index) => {
    const round = rounds.get(kind) ?? 0;
    rounds.set(kind, round + 1);
    const length = lengths[index] ?? 1;
    const isLast = index === kept.length - 1;
    const rise = kind === "verse" || kind === "chorus" ? 0.08 * round : 0;
    const intensity = Math.min(1, INTENSITY[kind] + rise + (isLast && kind === "verse" ? 0.15 : 0));
    const section = { kind, round, startBar, bars: length, intensity };
    startBar += length;
    return section;
  });
}

function shareBars(kinds: readonly SectionKind[], bars: number, unit: number): number[] {
  const even = Math.floor(bars / kinds.length);
  const base = even >= unit ? even - (even % unit) : even >= 4 ? 4 : even;
  const lengths = kinds.map(() => base);
  let left = bars - base * kinds.length;
  for (let index = 0; left >= unit; index = (index + 1) % kinds.length) {
    const kind = kinds[index];
    if (kind === "intro" || kind === "outro" ? kinds.length < 3 : true) {
      lengths[index] = (lengths[index] ?? 0) + unit;
      left -= unit;
    }
  }
  // An odd rest is least noticed in the middle of nowhere: before the singing starts, or just before the end.
  const rest = kinds[0] === "intro" ? 0 : kinds.length - 1;
  lengths[rest] = (lengths[rest] ?? 0) + left;
  return lengths;
}

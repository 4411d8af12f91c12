import type { Random } from "../random.js";
import type { Section } from "./form.js";
import type { Grid } from "./grid.js";

export type DrumSound =
  | "kick"
  | "snare"
  | "clap"
  | "rim"
  | "hat"
  | "openHat"
  | "ride"
  | "crash"
  | "tomHigh"
  | "tomMid"
  | "tomLow"
  | "shaker";

/** One stroke. */
export interface Hit {
  /** Seconds from the start. */
  readonly start: number;
  readonly sound: DrumSound;
  /** 0 to 1. */
  readonly velocity: number;
}

export type DrumStyle =
  | "house"
  | "techno"
  | "disco"
  | "rock"
  | "punk"
  | "metal"
  | "backbeat"
  | "funk"
  | "boomBap"
  | "trap"
  | "halftime"
  | "breakbeat"
  | "oneDrop"
  | "swing"
  | "shuffle"
  | "bossa"
  | "taiko"
  | "stomp"
  | "ballad"
  | "threeFour";

/** A bar in sixteenths: `X` accent, `x` stroke, `o` ghost note. Shorter patterns repeat. */
type Pattern = Partial<Record<DrumSound, string>>;

interface DrumPatterns {
  readonly verse: Pattern;
  readonly chorus: Pattern;
  /** The drums that pause in quiet sections. */
  readonly quiet: readonly DrumSound[];
}

const PATTERNS: Record<DrumStyle, DrumPatterns> = {
  house: {
    verse: { kick: "X...", clap: "....X...", hat: "..x.", openHat: "..x." },
    chorus: { kick: "X...", clap: "....X...", hat: "x.xo", openHat: "..X.", shaker: "oxox" },
    quiet: ["kick", "clap"],
  },
  techno: {
    verse: { kick: "X...", hat: "..x.", rim: "...x..x....x..x." },
    chorus: { kick: "X...", hat: "oxXx", openHat: "..X.", clap: "....X...", rim: "...x..x....x..x." },
    quiet: ["clap"],
  },
  disco: {
    verse: { kick: "X...", snare: "....X...", hat: "x.", openHat: "..x." },
    chorus: { kick: "X...", snare: "....X...", clap: "....x...", hat: "x.xx", openHat: "..X.", shaker: "xo" },
    quiet: ["kick", "snare", "clap"],
  },
  rock: {
    verse: { kick: "X.....x.X.......", snare: "....X.......X...", hat: "X.x." },
    chorus: { kick: "X..x..x.X..x....", snare: "....X.......X...", openHat: "X.x." },
    quiet: ["snare"],
  },
  punk: {
    verse: { kick: "X.x.", snare: "..X.", hat: "x." },
    chorus: { kick: "X.x.", snare: "..X.", openHat: "X." },
    quiet: ["snare"],
  },
  metal: {
    verse: { kick: "X.xxX.xxX.xxX.xx", snare: "....X.......X...", hat: "X..." },
    chorus: { kick: "Xxxx", snare: "....X.......X...", ride: "X.x." },
    quiet: ["snare"],
  },
  backbeat: {
    verse: { kick: "X.......x.x.....", snare: "....X.......X...", hat: "x.o." },
    chorus: {
      kick: "X..x....X.x.....",
      snare: "....X.......X...",
      clap: "............x...",
      hat: "x.xo",
      openHat: "..............x.",
    },
    quiet: ["kick", "snare"],
  },
  funk: {
    verse: { kick: "X..x..x...x.....", snare: "....X..o.o..X..o", hat: "xoxo" },
    chorus: { kick: "X.x...x..xx.....", snare: "....X..o.o..X.oo", hat: "Xxxx", openHat: "..............x." },
    quiet: ["snare"],
  },
  boomBap: {
    verse: { kick: "X......x..x.....", snare: "....X.......X...", hat: "x.x.x.xox.x.x.x." },
    chorus: {
      kick: "X.....xX..x....o",
      snare: "....X..o....X..o",
      hat: "x.xox.x.x.xox.xx",
      openHat: "......x.........",
    },
    quiet: ["kick", "snare"],
  },
  trap: {
    verse: { kick: "X......x..X.....", clap: "........X.......", hat: "x.x.x.x.x.xxx.x." },
    chorus: {
      kick: "X..x...x..X...x.",
      clap: "........X.......",
      snare: "........x......o",
      hat: "xxx.x.xxxxx.xxxx",
      openHat: "......x.........",
    },
    quiet: ["kick", "clap"],
  },
  halftime: {
    verse: { kick: "X.....x.........", snare: "........X.......", hat: "x.x." },
    chorus: {
      kick: "X..x......x..x..",
      snare: "........X.......",
      clap: "........X.......",
      hat: "x.xx",
      crash: "........o.......",
    },
    quiet: ["kick", "snare"],
  },
  breakbeat: {
    verse: { kick: "X.........x.....", snare: "....X..o....X...", hat: "x.x." },
    chorus: { kick: "X.........x..x..", snare: "....X..o.o..X..o", hat: "x.xx", ride: "x..." },
    quiet: ["kick", "snare"],
  },
  oneDrop: {
    verse: { kick: "........X.......", rim: "........x.......", hat: "x.x.x.xxx.x.x.x." },
    chorus: { kick: "x.......X.......", rim: "........X..x...x", hat: "x.x.x.xxx.x.x.xx", openHat: "......x........." },
    quiet: ["kick"],
  },
  swing: {
    verse: { ride: "X...x.x.", hat: "....x...", kick: "o..." },
    chorus: { ride: "X...X.x.", hat: "....x...", kick: "o...", snare: "......o.......o.", rim: "............x..." },
    quiet: ["kick"],
  },
  shuffle: {
    verse: { kick: "X.....x.X.......", snare: "....X.......X...", hat: "x.x." },
    chorus: { kick: "X.....x.X.....x.", snare: "....X..o....X..o", ride: "X.x." },
    quiet: ["snare"],
  },
  bossa: {
    verse: { rim: "x..x..x...x..x..", kick: "x..xx..x", shaker: "xoxo" },
    chorus: { rim: "X..x..x...x..x..", kick: "x..xx..x", shaker: "Xoxo", ride: "x.x." },
    quiet: ["kick"],
  },
  taiko: {
    verse: { tomLow: "X.......x.......", tomMid: "......x.......xx" },
    chorus: {
      tomLow: "X..x....X..x....",
      tomMid: "......xx..x...xx",
      tomHigh: "............x.xx",
      crash: "o...............",
      kick: "X.......X.......",
    },
    quiet: ["tomMid"],
  },
  stomp: {
    verse: { kick: "X.......x.......", shaker: "oxxo", clap: "............o..." },
    chorus: { kick: "X.......x.x.....", clap: "....X.......X...", shaker: "xoXo" },
    quiet: ["kick", "clap"],
  },
  threeFour: {
    verse: { kick: "X...........", hat: "....x...x..." },
    chorus: { kick: "X...........", snare: "....x...x...", ride: "x...x...x..." },
    quiet: ["kick"],
  },
  ballad: {
    verse: { kick: "X...............", rim: "........x.......", hat: "x..." },
    chorus: { kick: "X.........x.....", snare: "........X.......", hat: "x.o.", ride: "x..." },
    quiet: ["kick"],
  },
};

const FILLS: readonly Pattern[] = [
  { snare: "x.xxX.xx", tomHigh: "........x.x.....", tomMid: "..........xxx...", tomLow: ".............xxX" },
  { tomHigh: "x.x.............", tomMid: "....x.x.........", tomLow: "........X.X.X.xx", kick: "X...X...X...X..." },
  { snare: "............xxXX", kick: "X......x..x....." },
  { snare: "....X...x.x.xxxx", kick: "X.......X......." },
];

const STROKES: Record<string, number> = { X: 1, x: 0.72, o: 0.34 };

interface DrumTrack {
  readonly style: DrumStyle;
  readonly sections: readonly Section[];
  readonly endBeat: number;
  readonly grid: Grid;
  /** Played to the grid, without human timing. */
  readonly isTight: boolean;
}

/** All drum hits of a composition, fills before new sections and the last hit included. */
export function playDrums({ style, sections, endBeat, grid, isTight }: DrumTrack, random: Random): Hit[] {
  const hits: Hit[] = [];
  const stepsPerBar = grid.beatsPerBar * 4;
  const strike = (beat: number, sound: DrumSound, level: number): void => {
    if (beat >= endBeat) return;
    const wobble = isTight ? 0 : random.between(-0.006, 0.006);
    const velocity = Math.min(1, level * (isTight ? random.between(0.94, 1) : random.between(0.82, 1)));
    hits.push({ start: Math.max(0, grid.secondsAt(beat) + wobble), sound, velocity });
  };
  sections.forEach((section, index) => {
    const { verse, chorus, quiet } = PATTERNS[style];
    const isQuiet = section.intensity < 0.55;
    const pattern = section.intensity > 0.75 ? chorus : verse;
    const next = sections[index + 1];
    const fill = isTight && section.kind !== "verse" ? FILLS[2] : random.pick(FILLS);
    if (section.intensity > 0.75) strike(section.startBar * grid.beatsPerBar, "crash", 0.8);
    for (let bar = 0; bar < section.bars; bar += 1) {
      const startBeat = (section.startBar + bar) * grid.beatsPerBar;
      const fills = bar === section.bars - 1 && next !== undefined && next.intensity > 0.5 && section.bars > 1;
      for (let step = 0; step < stepsPerBar; step += 1) {
        const isFill = fills && fill !== undefined && step >= stepsPerBar / 2;
        for (const [sound, steps] of Object.entries(isFill ? fill : pattern) as [DrumSound, string][]) {
          if (isQuiet && !isFill && quiet.includes(sound)) continue;
          const level = STROKES[steps[step % steps.length] ?? "."] ?? 0;
          if (level > 0) strike(startBeat + step / 4, sound, level * (isQuiet ? 0.75 : 1));
        }
        if (!isFill && !isTight && !isQuiet && random.chance(0.015)) strike(startBeat + step / 4, "hat", 0.3);
      }
    }
  });
  const end = grid.secondsAt(endBeat);
  const last = sections[sections.length - 1];
  hits.push(
    { start: end, sound: "kick", velocity: 0.9 },
    { start: end, sound: "crash", velocity: last !== undefined && last.intensity > 0.75 ? 0.8 : 0.5 },
  );
  return hits.sort((a, b) => a.start - b.start);
}

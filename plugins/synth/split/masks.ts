import { binsOf } from "./frame.js";
import type { Frame } from "./frame.js";
import { NeighbourMedian, TimeMedian } from "./median.js";

/** Frames that the median along time spans: some 0.4 s. A sound longer than half of that is a tone. */
const TONE_FRAMES = 17;
/** The same for held tones, some 2 s: accompaniment more often than a voice. */
const HELD_FRAMES = 89;
/**
 * Frequencies that the median across them spans, as hertz. A sound that is equally loud over that range is a stroke.
 */
const STROKE_HZ = 190;
/** Frames before and after that help to measure how much both channels have in common. */
const COMMON_REACH = 2;
/** A frequency so many times as loud as its neighbourhood belongs to a tone, even to one that trembles. */
const STANDS_OUT = 2;
/** The bass is below the first; none of it is above the second. */
const BASS_HZ = [120, 220] as const;
/** The voice gets less from the first on, and nothing above the second, where it has more noise than sound. */
const VOICE_TOP_HZ = [9_000, 14_000] as const;
/** How strictly sounds outside the centre are excluded from the voice. */
const CENTRE_SHARPNESS = 3;

/** How much of each frequency of a frame goes to which stem, from 0 to 1; the remainder is the rest. */
export class Masks {
  readonly drums: Float32Array;
  readonly bass: Float32Array;
  /** Taken from the mean of both channels, not from each. */
  readonly vocals: Float32Array;
  private readonly bassBand: Float32Array;
  private readonly voiceBand: Float32Array;
  private readonly strokes: Float32Array;
  private readonly tones: TimeMedian;
  /** Replaces the centre where both channels are equal. */
  private readonly held: TimeMedian | null;
  private readonly neighbours: NeighbourMedian;

  /** @param isMono whether both channels are the same: then the middle carries no information */
  constructor(size: number, sampleRate: number, isMono: boolean) {
    const bins = binsOf(size);
    this.drums = new Float32Array(bins);
    this.bass = new Float32Array(bins);
    this.vocals = new Float32Array(bins);
    this.strokes = new Float32Array(bins);
    const hertz = sampleRate / size;
    this.bassBand = Float32Array.from({ length: bins }, (_, bin) => fallBetween(bin * hertz, BASS_HZ));
    this.voiceBand = this.bassBand.map((low, bin) => (1 - low) * fallBetween(bin * hertz, VOICE_TOP_HZ));
    this.tones = new TimeMedian(TONE_FRAMES, bins);
    this.held = isMono ? new TimeMedian(HELD_FRAMES, bins) : null;
    this.neighbours = new NeighbourMedian(2 * Math.round(STROKE_HZ / hertz / 2) + 1);
  }

  /** Frames behind the one to be weighed that must be known. */
  get lag(): number {
    return (this.held ?? this.tones).reach;
  }

  /**
   * Advances by one frame, including the silent ones before the beginning. @param frameAt by distance in time from that
   * frame
   */
  advance(frameAt: (distance: number) => Frame): void {
    this.tones.advance((distance) => frameAt(distance).level);
    this.held?.advance((distance) => frameAt(distance).level);
  }

  /** Computes the masks of the current frame. */
  weigh(frameAt: (distance: number) => Frame): void {
    const { level } = frameAt(0);
    const { drums, bass, vocals, strokes, tones, held } = this;
    this.neighbours.write(level, strokes);
    if (held === null) this.weighCentre(frameAt);
    for (let bin = 0; bin < level.length; bin += 1) {
      const own = level[bin] as number;
      const tone = tones.at(bin);
      const low = this.bassBand[bin] as number;
      const drum =
        low * share(Math.max(0, own - tone), tone) + (1 - low) * shareOfStroke(strokes[bin] as number, tone, own);
      const voice = held === null ? (vocals[bin] as number) : share(Math.max(0, own - held.at(bin)), held.at(bin));
      drums[bin] = drum;
      bass[bin] = (1 - drum) * low;
      vocals[bin] = voice * (1 - drum) * (this.voiceBand[bin] as number);
    }
  }

  /**
   * Writes to `vocals` how centred each frequency is: 1 where both channels agree, 0 where they have nothing in common.
   */
  private weighCentre(frameAt: (distance: number) => Frame): void {
    const { vocals, drums: drumPower } = this;
    vocals.fill(0);
    drumPower.fill(0);
    for (let distance = -COMMON_REACH; distance <= COMMON_REACH; distance += 1) {
      const { common, power } = frameAt(distance);
      for (let bin = 0; bin < power.length; bin += 1) {
        vocals[bin] = (vocals[bin] as number) + (common[bin] as number);
        drumPower[bin] = (drumPower[bin] as number) + (power[bin] as number);
      }
    }
    for (let bin = 0; bin < vocals.length; bin += 1) {
      const power = drumPower[bin] as number;
      vocals[bin] = power > 0 ? Math.max(0, (vocals[bin] as number) / power) ** CENTRE_SHARPNESS : 0;
    }
  }
}

/** Not for the bass: its partials are so close together that all of it would look like a stroke. */
function shareOfStroke(stroke: number, tone: number, own: number): number {
  return share(stroke, Math.max(tone, own - STANDS_OUT * stroke));
}

/** The share of one power in the sum of two (Wiener). */
function share(wanted: number, rival: number): number {
  const power = wanted * wanted;
  return power > 0 ? power / (power + rival * rival) : 0;
}

/** 1 below a band, 0 above it, and a smooth way down between. */
function fallBetween(hertz: number, [from, to]: readonly [number, number]): number {
  const share = Math.max(0, Math.min(1, (hertz - from) / (to - from)));
  return 0.5 + 0.5 * Math.cos(Math.PI * share);
}

import { SAMPLE_RATE, StateFilter, toSamples } from "./dsp.js";
import { Echo, Reverb } from "./effects.js";

/** Sound is mixed this many samples at a time. */
export const SEGMENT = 1 << 17;
/** Longest single sound; what is longer is cut. */
const LONGEST = 12 * SAMPLE_RATE;

/** The gains of a mono sound for left, right, reverb and echo. */
export interface Placement {
  readonly left: number;
  readonly right: number;
  readonly reverb: number;
  readonly echo: number;
}

export interface RoomSpec {
  /** Everything above is softened, as on an old record; null leaves it. */
  readonly dullHz: number | null;
  /** Null for a dry bus. */
  readonly reverbSeconds: number | null;
  readonly brightness: number;
  readonly echoSeconds: number;
}

/**
 * One stem while it is mixed: a segment of stereo sound and its effects. Callers add sounds in order of their start,
 * read a finished segment from `left` and `right`, and call `advance`.
 */
export class Bus {
  readonly left = new Float32Array(SEGMENT + LONGEST);
  readonly right = new Float32Array(SEGMENT + LONGEST);
  private readonly reverbSend = new Float32Array(SEGMENT + LONGEST);
  private readonly echoSend = new Float32Array(SEGMENT + LONGEST);
  private readonly reverb: Reverb | null;
  private readonly echo: Echo;
  private readonly dullers: readonly [StateFilter, StateFilter] | null;
  private usesEcho = false;
  /** Sums the many overlapping sounds of one placement before they are spread over the four buffers above. */
  private readonly gathered = new Map<Placement, Float32Array>();
  /** All samples from here on are silent. */
  private filled = SEGMENT;

  constructor({ reverbSeconds, brightness, echoSeconds, dullHz }: RoomSpec) {
    this.dullers = dullHz === null ? null : [new StateFilter(), new StateFilter()];
    this.dullers?.forEach((filter) => filter.tune(dullHz ?? 0, 0.7));
    this.reverb = reverbSeconds === null ? null : new Reverb(reverbSeconds, brightness);
    this.echo = new Echo(echoSeconds, 0.38);
  }

  /**
   * Adds a sound to those of its place, by identity: cheaper than `add` where many overlap.
   *
   * @param offset samples from the start of the present stretch, which is within it
   */
  gather(samples: Float32Array, offset: number, gain: number, place: Placement): void {
    const length = Math.min(samples.length, LONGEST);
    const target = this.gathered.get(place) ?? new Float32Array(SEGMENT + LONGEST);
    this.gathered.set(place, target);
    this.filled = Math.max(this.filled, offset + length);
    accumulate(target, samples, offset, length, gain);
  }

  /** @param offset samples from the start of the present stretch, which is within it */
  add(samples: Float32Array, offset: number, gain: number, place: Placement): void {
    const length = Math.min(samples.length, LONGEST);
    this.filled = Math.max(this.filled, offset + length);
    this.spread(samples, offset, length, gain, place);
  }

  private spread(samples: Float32Array, offset: number, length: number, gain: number, place: Placement): void {
    if (place.echo > 0) {
      this.usesEcho = true;
      accumulate(this.echoSend, samples, offset, length, gain * place.echo);
    }
    const { left, right, reverbSend } = this;
    const toLeft = gain * place.left;
    const toRight = gain * place.right;
    const toReverb = gain * place.reverb;
    for (let index = 0; index < length; index += 1) {
      const sample = samples[index] as number;
      const target = offset + index;
      left[target] = (left[target] as number) + sample * toLeft;
      right[target] = (right[target] as number) + sample * toRight;
      reverbSend[target] = (reverbSend[target] as number) + sample * toReverb;
    }
  }

  /** Runs the effects over the first samples of the stretch. */
  finish(length: number): void {
    for (const [place, samples] of this.gathered) this.spread(samples, 0, length, 1, place);
    if (this.usesEcho) this.echo.process(this.echoSend, this.left, this.right, length);
    this.reverb?.process(this.reverbSend, this.left, this.right, length);
    this.dullers?.[0].lowPass(this.left, 0, length, 1, 0);
    this.dullers?.[1].lowPass(this.right, 0, length, 1, 0);
  }

  /** Moves on to the next stretch. */
  advance(): void {
    const rest = this.filled - SEGMENT;
    for (const samples of [this.left, this.right, this.reverbSend, this.echoSend, ...this.gathered.values()]) {
      samples.copyWithin(0, SEGMENT, this.filled);
      samples.fill(0, rest, this.filled);
    }
    this.filled = Math.max(SEGMENT, rest);
  }
}

function accumulate(target: Float32Array, samples: Float32Array, offset: number, length: number, gain: number): void {
  for (let index = 0; index < length; index += 1) {
    target[offset + index] = (target[offset + index] as number) + (samples[index] as number) * gain;
  }
}

/** Gains of a place between left (-1) and right (1), equally loud wherever it is. */
export function panned(pan: number): Pick<Placement, "left" | "right"> {
  const angle = ((pan + 1) * Math.PI) / 4;
  return { left: Math.cos(angle) * Math.SQRT2, right: Math.sin(angle) * Math.SQRT2 };
}

/** The sample at which something begins, never before the start. */
export function startSample(seconds: number): number {
  return Math.max(0, toSamples(seconds));
}

import { SAMPLE_RATE, toSamples } from "./dsp.js";

/** A reverb of four delay lines that feed each other; mono in, stereo added to the bus. */
export class Reverb {
  private readonly lines: readonly Float32Array[];
  private readonly gains: readonly number[];
  private readonly positions = [0, 0, 0, 0];
  private readonly smooth = [0, 0, 0, 0];
  private readonly damping: number;

  /** @param seconds until the sound has fallen by 60 dB */
  constructor(seconds: number, brightness: number) {
    const stretch = 0.6 + 0.5 * Math.min(1, seconds / 3);
    const sizes = [1_637, 1_987, 2_459, 3_001].map((size) => Math.round(size * stretch));
    this.lines = sizes.map((size) => new Float32Array(size));
    this.gains = sizes.map((size) => 10 ** ((-3 * size) / (seconds * SAMPLE_RATE)));
    this.damping = 0.25 + 0.5 * brightness;
  }

  process(send: Float32Array, left: Float32Array, right: Float32Array, length: number): void {
    const [lineA, lineB, lineC, lineD] = this.lines as [Float32Array, Float32Array, Float32Array, Float32Array];
    const [gainA, gainB, gainC, gainD] = this.gains as [number, number, number, number];
    let [atA, atB, atC, atD] = this.positions as [number, number, number, number];
    let [a, b, c, d] = this.smooth as [number, number, number, number];
    const { damping } = this;
    for (let index = 0; index < length; index += 1) {
      a += damping * ((lineA[atA] as number) * gainA - a);
      b += damping * ((lineB[atB] as number) * gainB - b);
      c += damping * ((lineC[atC] as number) * gainC - c);
      d += damping * ((lineD[atD] as number) * gainD - d);
      const input = send[index] as number;
      // A Hadamard matrix: as much energy comes out as goes in.
      const sum = 0.5 * (a + b);
      const difference = 0.5 * (a - b);
      const otherSum = 0.5 * (c + d);
      const otherDifference = 0.5 * (c - d);
      lineA[atA] = sum + otherSum + input;
      lineB[atB] = difference + otherDifference + input;
      lineC[atC] = sum - otherSum - input;
      lineD[atD] = difference - otherDifference + input;
      atA = atA + 1 === lineA.length ? 0 : atA + 1;
      atB = atB + 1 === lineB.length ? 0 : atB + 1;
      atC = atC + 1 === lineC.length ? 0 : atC + 1;
      atD = atD + 1 === lineD.length ? 0 : atD + 1;
      left[index] = (left[index] as number) + 0.5 * (a - c);
      right[index] = (right[index] as number) + 0.5 * (b - d);
    }
    this.positions.splice(0, 4, atA, atB, atC, atD);
    this.smooth.splice(0, 4, a, b, c, d);
  }
}

/** Echoes that alternate between the sides and lose treble; mono in, stereo added to the bus. */
export class Echo {
  private readonly first: Float32Array;
  private readonly second: Float32Array;
  private position = 0;
  private dullFirst = 0;
  private dullSecond = 0;

  constructor(
    seconds: number,
    private readonly feedback: number,
  ) {
    this.first = new Float32Array(toSamples(seconds));
    this.second = new Float32Array(toSamples(seconds));
  }

  process(send: Float32Array, left: Float32Array, right: Float32Array, length: number): void {
    const { first, second, feedback } = this;
    for (let index = 0; index < length; index += 1) {
      const early = first[this.position] as number;
      const late = second[this.position] as number;
      this.dullFirst += 0.35 * (early - this.dullFirst);
      this.dullSecond += 0.35 * (late - this.dullSecond);
      first[this.position] = (send[index] as number) + feedback * this.dullSecond;
      second[this.position] = this.dullFirst;
      this.position = this.position + 1 === first.length ? 0 : this.position + 1;
      left[index] = (left[index] as number) + early;
      right[index] = (right[index] as number) + late * 0.8;
    }
  }
}

/** Silence before the first beat, so that the fade-in at the start does not soften its attack. */
const LEAD_IN_SECONDS = 0.02;

/** Turns musical time (beats from the start) into seconds, swing included. */
export class Grid {
  private readonly secondsPerBeat: number;
  /** Length in beats of the pair of notes that swings. */
  private readonly pair: number;

  constructor(
    readonly bpm: number,
    readonly beatsPerBar: number,
    private readonly swing: number,
    swingsSixteenths: boolean,
  ) {
    this.secondsPerBeat = 60 / bpm;
    this.pair = swingsSixteenths ? 0.5 : 1;
  }

  secondsAt(beat: number): number {
    const start = Math.floor(beat / this.pair) * this.pair;
    const within = (beat - start) / this.pair;
    const swung = within < 0.5 ? within * 2 * this.swing : this.swing + (within - 0.5) * 2 * (1 - this.swing);
    return LEAD_IN_SECONDS + (start + swung * this.pair) * this.secondsPerBeat;
  }

  /** How long `beats` last from `beat` on. */
  secondsFor(beat: number, beats: number): number {
    return this.secondsAt(beat + beats) - this.secondsAt(beat);
  }
}

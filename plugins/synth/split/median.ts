/**
 * Replaces one value of a sorted stretch by another and keeps it sorted, so that its middle stays the median of a
 * window that slides.
 *
 * @param old must be in the stretch
 */
function replaceSorted(values: Float32Array, start: number, size: number, old: number, next: number): void {
  let at = start;
  while ((values[at] as number) < old) at += 1;
  const last = start + size - 1;
  while (at < last && (values[at + 1] as number) < next) {
    values[at] = values[at + 1] as number;
    at += 1;
  }
  while (at > start && (values[at - 1] as number) > next) {
    values[at] = values[at - 1] as number;
    at -= 1;
  }
  values[at] = next;
}

/** Medians along time: of so many frames (odd) around one, for each frequency. */
export class TimeMedian {
  /** Frames before and after. */
  readonly reach: number;
  private readonly sorted: Float32Array;

  constructor(
    private readonly span: number,
    private readonly bins: number,
  ) {
    this.reach = span >> 1;
    this.sorted = new Float32Array(bins * span);
  }

  /** Goes on by one frame. @param levelAt by distance in time from the frame that is then the middle one */
  advance(levelAt: (distance: number) => Float32Array): void {
    const [old, next] = [levelAt(-this.reach - 1), levelAt(this.reach)];
    for (let bin = 0; bin < this.bins; bin += 1) {
      replaceSorted(this.sorted, bin * this.span, this.span, old[bin] as number, next[bin] as number);
    }
  }

  at(bin: number): number {
    return this.sorted[bin * this.span + this.reach] as number;
  }
}

/** Medians of as many neighbours as `span` (odd) says, around each value; beyond the ends the values are mirrored. */
export class NeighbourMedian {
  private readonly window: Float32Array;

  constructor(private readonly span: number) {
    this.window = new Float32Array(span);
  }

  write(values: Float32Array, medians: Float32Array): void {
    const { window, span } = this;
    const reach = span >> 1;
    const last = values.length - 1;
    const at = (index: number): number =>
      values[index < 0 ? -index : index > last ? 2 * last - index : index] as number;
    for (let index = 0; index < span; index += 1) window[index] = at(index - reach);
    window.sort();
    medians[0] = window[reach] as number;
    for (let index = 1; index <= last; index += 1) {
      replaceSorted(window, 0, span, at(index - reach - 1), at(index + reach));
      medians[index] = window[reach] as number;
    }
  }
}

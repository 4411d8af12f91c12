/** The discrete Fourier transform of complex numbers, in place; its size is a power of two. */
export class Fourier {
  private readonly cosines: Float64Array;
  private readonly sines: Float64Array;
  private readonly reversed: Uint32Array;

  constructor(readonly size: number) {
    this.cosines = Float64Array.from({ length: size / 2 }, (_, index) => Math.cos((2 * Math.PI * index) / size));
    this.sines = Float64Array.from({ length: size / 2 }, (_, index) => Math.sin((2 * Math.PI * index) / size));
    this.reversed = new Uint32Array(size);
    for (let index = 1; index < size; index += 1) {
      this.reversed[index] = ((this.reversed[index >> 1] as number) >> 1) | (index % 2 === 1 ? size >> 1 : 0);
    }
  }

  forward(re: Float64Array, im: Float64Array): void {
    this.reorder(re, im);
    const { size, cosines, sines } = this;
    for (let half = 1; half < size; half *= 2) {
      const stride = size / (2 * half);
      for (let start = 0; start < size; start += 2 * half) {
        for (let offset = 0, turn = 0; offset < half; offset += 1, turn += stride) {
          const low = start + offset;
          const high = low + half;
          const cosine = cosines[turn] as number;
          const sine = sines[turn] as number;
          const highRe = re[high] as number;
          const highIm = im[high] as number;
          const turnedRe = highRe * cosine + highIm * sine;
          const turnedIm = highIm * cosine - highRe * sine;
          re[high] = (re[low] as number) - turnedRe;
          im[high] = (im[low] as number) - turnedIm;
          re[low] = (re[low] as number) + turnedRe;
          im[low] = (im[low] as number) + turnedIm;
        }
      }
    }
  }

  /** Undoes `forward`, but for a factor of `size`. */
  backward(re: Float64Array, im: Float64Array): void {
    this.forward(im, re);
  }

  private reorder(re: Float64Array, im: Float64Array): void {
    for (let index = 0; index < this.size; index += 1) {
      const other = this.reversed[index] as number;
      if (other <= index) continue;
      const keptRe = re[index] as number;
      const keptIm = im[index] as number;
      re[index] = re[other] as number;
      im[index] = im[other] as number;
      re[other] = keptRe;
      im[other] = keptIm;
    }
  }
}

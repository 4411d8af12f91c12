/** Stereo sound from -1 to 1. */
export interface Sound {
  readonly left: Float32Array;
  readonly right: Float32Array;
  readonly sampleRate: number;
}

/** Reads a 16-bit stereo WAV file with a plain header. */
export function readWav(bytes: Uint8Array): Sound {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const frames = view.getUint32(40, true) / 4;
  const channel = (offset: number): Float32Array => {
    const samples = new Float32Array(frames);
    for (let index = 0; index < frames; index += 1)
      samples[index] = view.getInt16(44 + 4 * index + offset, true) / 32_768;
    return samples;
  };
  return { left: channel(0), right: channel(2), sampleRate: view.getUint32(24, true) };
}

/** Decodes an MP3 file as a player does, gaps of the codec removed, and fails on any damaged frame. */
export async function decodeMp3(
  bytes: Uint8Array,
  options: { readonly gapless: boolean } = { gapless: true },
): Promise<Sound> {
  const { MPEGDecoder } = await import("mpg123-decoder");
  const decoder = new MPEGDecoder({ enableGapless: options.gapless });
  await decoder.ready;
  const { channelData, sampleRate, errors } = decoder.decode(bytes);
  decoder.free();
  if (errors.length > 0) throw new Error(`damaged MP3: ${errors[0]?.message}`);
  const [left = new Float32Array(0), right = left] = channelData;
  return { left, right, sampleRate };
}

/** Decodes a FLAC file of 16 bits to the very numbers that `readWav` gives, and fails on any damaged frame. */
export async function decodeFlac(bytes: Uint8Array): Promise<Sound> {
  const { FLACDecoder } = await import("@wasm-audio-decoders/flac");
  const decoder = new FLACDecoder();
  await decoder.ready;
  const { channelData, sampleRate, errors } = await decoder.decodeFile(bytes);
  decoder.free();
  if (errors.length > 0) throw new Error(`damaged FLAC: ${errors[0]?.message}`);
  // The decoder's full scale is 32,767.
  const [left = new Float32Array(0), right = left] = channelData.map((channel) =>
    channel.map((sample) => Math.round(sample * 32_767) / 32_768),
  );
  return { left, right, sampleRate };
}

/** How many MPEG-1 layer III frames of 44.1 kHz a file holds, one after the other from its first byte to its last. */
export function countMp3Frames(bytes: Uint8Array): number {
  const kbps = [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320];
  let frames = 0;
  for (let offset = 0; offset < bytes.length; frames += 1) {
    const flags = bytes[offset + 2] ?? 0;
    if (bytes[offset] !== 0xff) throw new Error(`no frame at byte ${offset}`);
    offset += Math.floor((144_000 * (kbps[flags >> 4] ?? 0)) / 44_100) + ((flags >> 1) & 1);
  }
  return frames;
}

/** Both channels as one. */
export function monoOf({ left, right }: Sound): Float32Array {
  return left.map((sample, index) => (sample + (right[index] ?? 0)) / 2);
}

export function rmsOf(samples: Float32Array): number {
  let sum = 0;
  for (const sample of samples) sum += sample * sample;
  return Math.sqrt(sum / Math.max(1, samples.length));
}

export function peakOf(samples: Float32Array): number {
  let peak = 0;
  for (const sample of samples) peak = Math.max(peak, Math.abs(sample));
  return peak;
}

/** Highest level between the samples, by interpolation at four times the rate around the loud ones. */
export function truePeakOf(samples: Float32Array): number {
  const peak = peakOf(samples);
  let highest = peak;
  for (let index = 8; index < samples.length - 8; index += 1) {
    if (Math.max(Math.abs(samples[index] ?? 0), Math.abs(samples[index + 1] ?? 0)) < 0.85 * peak) continue;
    for (const share of [0.25, 0.5, 0.75]) {
      let value = 0;
      for (let tap = -7; tap <= 8; tap += 1) {
        const x = tap - share;
        const window = 0.5 + 0.5 * Math.cos((Math.PI * x) / 8.5);
        value += (samples[index + tap] ?? 0) * (Math.sin(Math.PI * x) / (Math.PI * x)) * window;
      }
      highest = Math.max(highest, Math.abs(value));
    }
  }
  return highest;
}

export function toDecibels(ratio: number): number {
  return 20 * Math.log10(Math.max(1e-12, ratio));
}

const FFT_SIZE = 2_048;

/** Mean power per frequency bin over the whole sound; bin `i` is at `i * sampleRate / 2048`. */
export function spectrumOf(samples: Float32Array, hop = FFT_SIZE): Float64Array {
  const power = new Float64Array(FFT_SIZE / 2);
  let frames = 0;
  for (let start = 0; start + FFT_SIZE <= samples.length; start += hop) {
    const frame = framePower(samples, start);
    for (let bin = 0; bin < power.length; bin += 1) power[bin] = (power[bin] as number) + (frame[bin] as number);
    frames += 1;
  }
  return power.map((value) => value / Math.max(1, frames));
}

/** The frequency in the middle of the sound's spectrum, in hertz. */
export function spectralCentroid(samples: Float32Array, sampleRate: number): number {
  const amplitude = spectrumOf(samples).map(Math.sqrt);
  const total = amplitude.reduce((sum, value) => sum + value, 0);
  return (
    amplitude.reduce((sum, value, bin) => sum + value * ((bin * sampleRate) / FFT_SIZE), 0) / Math.max(1e-12, total)
  );
}

/** Share of the sound's power between two frequencies. */
export function bandShare(samples: Float32Array, sampleRate: number, lowHz: number, highHz: number): number {
  const power = spectrumOf(samples);
  const inBand = power.filter((_, bin) => bin * sampleRate >= lowHz * FFT_SIZE && bin * sampleRate < highHz * FFT_SIZE);
  return (
    inBand.reduce((sum, value) => sum + value, 0) /
    Math.max(
      1e-20,
      power.reduce((sum, value) => sum + value, 0),
    )
  );
}

/** How many onsets are measured per second. */
export const ONSET_RATE = 44_100 / 512;

/** How much louder each 512th of samples is than the one before, over all frequencies: peaks are onsets. */
export function onsetEnvelope(samples: Float32Array): Float64Array {
  const before = new Float64Array(FFT_SIZE / 2);
  const envelope = new Float64Array(Math.max(0, Math.floor((samples.length - FFT_SIZE) / 512)));
  for (let frame = 0; frame < envelope.length; frame += 1) {
    const power = framePower(samples, frame * 512);
    let rise = 0;
    for (let bin = 0; bin < power.length; bin += 1) {
      const now = Math.log1p(1_000 * Math.sqrt(power[bin] as number));
      rise += Math.max(0, now - (before[bin] as number));
      before[bin] = now;
    }
    envelope[frame] = frame === 0 ? 0 : rise;
  }
  return envelope;
}

/** Onsets per second. */
export function onsetDensity(samples: Float32Array, sampleRate: number): number {
  const envelope = onsetEnvelope(samples);
  const mean = envelope.reduce((sum, value) => sum + value, 0) / Math.max(1, envelope.length);
  const peaks = envelope.filter(
    (value, index) => value > 1.8 * mean && value >= (envelope[index - 1] ?? 0) && value > (envelope[index + 1] ?? 0),
  );
  return peaks.length / (samples.length / sampleRate);
}

/** How well onsets repeat after a number of beats per minute: the autocorrelation there, 1 for perfect repetition. */
export function beatStrength(samples: Float32Array, bpm: number): number {
  const envelope = onsetEnvelope(samples);
  const mean = envelope.reduce((sum, value) => sum + value, 0) / Math.max(1, envelope.length);
  const centred = envelope.map((value) => value - mean);
  const lag = (60 / bpm) * ONSET_RATE;
  const at = (whole: number): number => {
    let sum = 0;
    for (let index = 0; index + whole < centred.length; index += 1)
      sum += (centred[index] as number) * (centred[index + whole] as number);
    return sum;
  };
  const share = lag - Math.floor(lag);
  return ((1 - share) * at(Math.floor(lag)) + share * at(Math.floor(lag) + 1)) / at(0);
}

/** Longest stretch below a level, in seconds. */
export function longestSilence(samples: Float32Array, sampleRate: number, level = 0.001): number {
  let longest = 0;
  let current = 0;
  for (const sample of samples) {
    current = Math.abs(sample) < level ? current + 1 : 0;
    longest = Math.max(longest, current);
  }
  return longest / sampleRate;
}

/** Power per bin of 2,048 samples under a Hann window. The next call writes into the same array. */
function framePower(samples: Float32Array, start: number): Float64Array {
  for (let index = 0; index < FFT_SIZE; index += 1)
    real[index] = (samples[start + index] ?? 0) * (HANN[index] as number);
  imaginary.fill(0);
  transform();
  for (let bin = 0; bin < power.length; bin += 1)
    power[bin] = ((real[bin] as number) ** 2 + (imaginary[bin] as number) ** 2) / FFT_SIZE ** 2;
  return power;
}

const real = new Float64Array(FFT_SIZE);
const imaginary = new Float64Array(FFT_SIZE);
const power = new Float64Array(FFT_SIZE / 2);
const HANN = Float64Array.from(
  { length: FFT_SIZE },
  (_, index) => 0.5 - 0.5 * Math.cos((2 * Math.PI * index) / FFT_SIZE),
);
const TWIDDLE_COS = Float64Array.from({ length: FFT_SIZE / 2 }, (_, index) =>
  Math.cos((2 * Math.PI * index) / FFT_SIZE),
);
const TWIDDLE_SIN = Float64Array.from(
  { length: FFT_SIZE / 2 },
  (_, index) => -Math.sin((2 * Math.PI * index) / FFT_SIZE),
);

/** Fast Fourier transform of `real` and `imaginary` in place (radix 2). */
function transform(): void {
  for (let index = 1, reversed = 0; index < FFT_SIZE; index += 1) {
    let bit = FFT_SIZE >> 1;
    for (; (reversed & bit) !== 0; bit >>= 1) reversed ^= bit;
    reversed ^= bit;
    if (index < reversed) {
      [real[index], real[reversed]] = [real[reversed] as number, real[index] as number];
      [imaginary[index], imaginary[reversed]] = [imaginary[reversed] as number, imaginary[index] as number];
    }
  }
  for (let size = 2; size <= FFT_SIZE; size *= 2) {
    const stride = FFT_SIZE / size;
    for (let start = 0; start < FFT_SIZE; start += size) {
      for (let offset = 0; offset < size / 2; offset += 1) {
        const even = start + offset;
        const odd = even + size / 2;
        const cos = TWIDDLE_COS[offset * stride] as number;
        const sin = TWIDDLE_SIN[offset * stride] as number;
        const re = (real[odd] as number) * cos - (imaginary[odd] as number) * sin;
        const im = (real[odd] as number) * sin + (imaginary[odd] as number) * cos;
        real[odd] = (real[even] as number) - re;
        imaginary[odd] = (imaginary[even] as number) - im;
        real[even] = (real[even] as number) + re;
        imaginary[even] = (imaginary[even] as number) + im;
      }
    }
  }
}

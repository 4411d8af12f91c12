import { BrokenAudioError } from "./sound.js";

const SAMPLE_RATE_MIN = 4_000;
const SAMPLE_RATE_MAX = 384_000;
const CHANNELS_MAX = 16;
/**
 * Samples of all channels that one step of a decoder may unpack to: 24 MB of floating point numbers. A block of FLAC
 * has at most 65,535 × 8, a page of Opus half a minute, 2.9 million in stereo; only hostile files have more.
 */
const STEP_SAMPLES_MAX = 6_000_000;
/**
 * What a file may unpack to by its size: five minutes of stereo for nothing, since silence needs next to no bytes, and
 * then so many samples for each byte. Speech at 6 kbit/s has 64; a file with more is an attack on the decoder.
 */
const SILENCE_SAMPLES_MAX = 5 * 60 * 48_000 * 2;
const SAMPLES_PER_BYTE_MAX = 250;

export interface AudioShape {
  readonly sampleRate: number;
  readonly channels: number;
}

/**
 * What one file may unpack to. Decoders ask it before they decode, with what the headers of files, pages and frames
 * declare: a few bytes may declare any amount of sound.
 */
export class SampleBudget {
  private bytes = 0;
  private declared = 0;

  /** @param maxSamples of all channels together */
  constructor(
    private readonly maxSeconds: number,
    private readonly maxSamples: number,
  ) {}

  /** Counts what was read of the file. */
  feed(bytes: number): void {
    this.bytes += bytes;
  }

  /**
   * @param samples of one channel, from the beginning of the file.
   * @throws {BrokenAudioError} it is too long, or no sound at all
   */
  checkLength(samples: number, { sampleRate, channels }: AudioShape): void {
    const isSensible =
      sampleRate >= SAMPLE_RATE_MIN && sampleRate <= SAMPLE_RATE_MAX && channels >= 1 && channels <= CHANNELS_MAX;
    if (!isSensible) throw new BrokenAudioError(`it has ${channels} channels at ${sampleRate} Hz`);
    if (samples / sampleRate > this.maxSeconds)
      throw new BrokenAudioError(`it is longer than ${this.maxSeconds} seconds`);
    if (samples * channels > this.maxSamples) throw new BrokenAudioError(`it has more than ${this.maxSamples} samples`);
  }

  /**
   * For the next frame or page.
   * @param samples of one channel, in it alone.
   * @throws {BrokenAudioError} it is too much
   */
  checkStep(samples: number, shape: AudioShape): void {
    this.checkLength(samples, shape);
    const all = samples * shape.channels;
    if (all > STEP_SAMPLES_MAX) throw new BrokenAudioError(`it unpacks to ${all} samples at once`);
    this.declared += all;
    const isDense = this.declared > SILENCE_SAMPLES_MAX + this.bytes * SAMPLES_PER_BYTE_MAX;
    if (isDense) throw new BrokenAudioError(`its first ${this.bytes} bytes unpack to ${this.declared} samples`);
  }
}

import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { createEncoder } from "wasm-media-encoders";
import type { AudioPreview } from "../../../core/ports/audio-analyser.js";
import type { Excerpt } from "./preview-window.js";

const FADE_SECONDS = 1.5;
const MONO_KBPS = 96;
const STEREO_KBPS = 128;
const ENCODE_CHUNK = 1 << 15;
/** What MPEG-1 layer III can be sampled at; everything else is brought to the first. */
const SAMPLE_RATES = [44_100, 48_000, 32_000];

let encoding: ReturnType<typeof loadEncoder> | undefined;

/** Fades an excerpt and encodes it. One at a time: there is one encoder. */
export async function encodePreview(excerpt: Excerpt): Promise<AudioPreview> {
  const sampleRate = SAMPLE_RATES.includes(excerpt.sampleRate) ? excerpt.sampleRate : (SAMPLE_RATES[0] as number);
  const given = excerpt.isMono ? [excerpt.left] : [excerpt.left, excerpt.right];
  const channels = given.map((channel) => new Faded(channel, excerpt.sampleRate, sampleRate));
  const samples = channels[0]?.length ?? 0;
  encoding ??= loadEncoder();
  const encoder = await encoding;
  encoder.configure({
    sampleRate,
    channels: excerpt.isMono ? 1 : 2,
    bitrate: excerpt.isMono ? MONO_KBPS : STEREO_KBPS,
  });
  const parts: Uint8Array[] = [];
  for (let start = 0; start < samples; start += ENCODE_CHUNK) {
    parts.push(
      encoder.encode(channels.map((channel) => channel.slice(start, Math.min(samples, start + ENCODE_CHUNK)))).slice(),
    );
  }
  parts.push(encoder.finalize().slice());
  return {
    bytes: new Uint8Array(Buffer.concat(parts)),
    contentType: "audio/mpeg",
    durationSeconds: samples / sampleRate,
  };
}

/**
 * One channel of an excerpt, faded at both ends and brought to another sample rate stretch by stretch, so that no copy
 * of it is held.
 */
class Faded {
  readonly length: number;
  private readonly fade: number;
  private readonly step: number;

  constructor(
    private readonly channel: Int16Array,
    from: number,
    to: number,
  ) {
    this.fade = Math.min(channel.length / 4, FADE_SECONDS * from);
    this.step = from / to;
    this.length = Math.floor(channel.length / this.step);
  }

  slice(start: number, end: number): Float32Array {
    const stretch = new Float32Array(end - start);
    for (let index = 0; index < stretch.length; index++) stretch[index] = this.resampled(start + index);
    return stretch;
  }

  /** Means of what falls together when there were more samples, lines between them when there were fewer. */
  private resampled(index: number): number {
    if (this.step === 1) return this.at(index);
    const taps = Math.max(1, Math.ceil(this.step));
    let sum = 0;
    for (let tap = 0; tap < taps; tap++) sum += this.between((index + tap / taps) * this.step);
    return sum / taps;
  }

  private between(position: number): number {
    const whole = Math.floor(position);
    const first = this.at(whole);
    const second = whole + 1 < this.channel.length ? this.at(whole + 1) : first;
    return first + (position - whole) * (second - first);
  }

  private at(index: number): number {
    const last = this.channel.length - 1;
    if (index > last) return 0;
    const gain = Math.min(1, index / this.fade, (last - index) / this.fade);
    return ((this.channel[index] as number) / 32_768) * gain * gain * (3 - 2 * gain);
  }
}

async function loadEncoder() {
  const entry = createRequire(import.meta.url).resolve("wasm-media-encoders");
  return createEncoder("audio/mpeg", await readFile(join(dirname(entry), "..", "wasm", "mp3.wasm")));
}

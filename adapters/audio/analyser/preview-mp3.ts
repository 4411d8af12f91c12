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
  const channels = given.map((channel) => resample(faded(channel, excerpt.sampleRate), excerpt.sampleRate, sampleRate));
  const samples = channels[0]?.length ?? 0;
  encoding ??= loadEncoder();
  const encoder = await encoding;
  encoder.configure({ sampleRate, channels: excerpt.isMono ? 1 : 2, bitrate: excerpt.isMono ? MONO_KBPS : STEREO_KBPS });
  const parts: Uint8Array[] = [];
  for (let start = 0; start < samples; start += ENCODE_CHUNK) {
    const end = Math.min(samples, start + ENCODE_CHUNK);
    parts.push(encoder.encode(channels.map((channel) => channel.subarray(start, end))).slice());
  }
  parts.push(encoder.finalize().slice());
  return { bytes: new Uint8Array(Buffer.concat(parts)), contentType: "audio/mpeg", durationSeconds: samples / sampleRate };
}

function faded(channel: Int16Array, sampleRate: number): Float32Array {
  const fade = Math.min(channel.length / 4, FADE_SECONDS * sampleRate);
  return Float32Array.from(channel, (value, index) => {
    const gain = Math.min(1, index / fade, (channel.length - 1 - index) / fade);
    return (value / 32_768) * gain * gain * (3 - 2 * gain);
  });
}

/** Means of what falls together when there were more samples, lines between them when there were fewer. */
function resample(samples: Float32Array, from: number, to: number): Float32Array {
  if (from === to) return samples;
  const step = from / to;
  const at = (position: number): number => {
    const whole = Math.floor(position);
    const first = samples[whole] ?? 0;
    return first + (position - whole) * ((samples[whole + 1] ?? first) - first);
  };
  const taps = Math.max(1, Math.ceil(step));
  return Float32Array.from({ length: Math.floor(samples.length / step) }, (_, index) => {
    let sum = 0;
    for (let tap = 0; tap < taps; tap++) sum += at((index + tap / taps) * step);
    return sum / taps;
  });
}

async function loadEncoder() {
  const entry = createRequire(import.meta.url).resolve("wasm-media-encoders");
  return createEncoder("audio/mpeg", await readFile(join(dirname(entry), "..", "wasm", "mp3.wasm")));
}

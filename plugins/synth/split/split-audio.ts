import { ProviderFailure } from "../../sdk/index.js";
import type { RenderedAsset, SplitSpec } from "../job-spec.js";
import { createWav } from "../output/wav.js";
import type { WavFile } from "../output/wav.js";
import { toInt16 } from "../sound/gain-curve.js";
import { decode } from "./decode.js";
import { SPLIT_MAX_SECONDS } from "./limits.js";
import { Separator } from "./separator.js";
import type { Part, Stretch } from "./separator.js";
import { stemAssets } from "./stem-assets.js";

/** The limit in samples, so that a high sample rate needs no more memory. */
const FRAMES_MAX = SPLIT_MAX_SECONDS * 48_000;
const SAMPLE_RATE_MIN = 4_000;
const SAMPLE_RATE_MAX = 192_000;
const FULL_SCALE = 32_768;

/** The remainder of the source without the parts, and its label. */
const PARTS = {
  stem_split: { parts: ["drums", "bass", "vocals"], rest: "other" },
  vocal_removal: { parts: ["vocals"], rest: "instrumental" },
} as const satisfies Record<SplitSpec["operation"], { readonly parts: readonly Part[]; readonly rest: string }>;

interface Measured {
  readonly frames: number;
  readonly sampleRate: number;
  readonly isMono: boolean;
}

/**
 * Splits any audio by signal processing, on the calling thread. The rest is the source without the parts, sample by
 * sample, so that all stems add up to the source as 16-bit numbers.
 *
 * @throws {ProviderFailure} `invalid_input` for no audio, `failed` for a broken file, an empty or a too long one
 */
export async function splitAudio({ operation, bytes }: SplitSpec): Promise<RenderedAsset[]> {
  const { frames, sampleRate, isMono } = await measure(bytes);
  const { parts, rest } = PARTS[operation];
  const files = new Map<string, WavFile>([...parts, rest].map((label) => [label, createWav(frames, sampleRate)]));
  let written = 0;
  const separator = new Separator({ sampleRate, isMono, parts }, (source, stretches) => {
    const count = Math.min(source.left.length, frames - written);
    if (count > 0) writeStretch(files, rest, written, count, source, stretches);
    written += count;
  });
  for await (const stretch of decode(bytes)) separator.add(stretch);
  separator.end();
  return stemAssets(operation, files, frames / sampleRate);
}

/** Decodes the whole file once to measure it, so that a refused file takes no memory. */
async function measure(bytes: Uint8Array): Promise<Measured> {
  let frames = 0;
  let sampleRate = 0;
  let isMono = true;
  for await (const { left, right, sampleRate: rate } of decode(bytes)) {
    if (rate < SAMPLE_RATE_MIN || rate > SAMPLE_RATE_MAX) {
      throw refused(`it has ${rate} samples per second; allowed: ${SAMPLE_RATE_MIN} to ${SAMPLE_RATE_MAX}`);
    }
    if (sampleRate !== 0 && rate !== sampleRate)
      throw refused(`it goes from ${sampleRate} to ${rate} samples per second`);
    sampleRate = rate;
    frames += left.length;
    if (frames > Math.min(FRAMES_MAX, SPLIT_MAX_SECONDS * rate)) {
      throw refused(`it is too long; allowed: ${SPLIT_MAX_SECONDS} seconds, and ${FRAMES_MAX} samples of a channel`);
    }
    isMono &&= left === right || left.every((value, index) => value === right[index]);
  }
  if (frames === 0) throw refused("there is no sound in it");
  return { frames, sampleRate, isMono };
}

function refused(why: string): ProviderFailure {
  return new ProviderFailure("failed", `the file cannot be split: ${why}`);
}

function writeStretch(
  files: ReadonlyMap<string, WavFile>,
  rest: string,
  start: number,
  count: number,
  source: Stretch,
  parts: ReadonlyMap<Part, Stretch>,
): void {
  const restSamples = files.get(rest)?.samples;
  if (restSamples === undefined) return;
  for (const channel of ["left", "right"] as const) {
    const offset = 2 * start + (channel === "left" ? 0 : 1);
    const remains = source[channel].slice(0, count);
    for (let index = 0; index < count; index += 1) remains[index] = FULL_SCALE * (remains[index] as number);
    for (const [part, stretch] of parts) {
      const samples = files.get(part)?.samples;
      if (samples === undefined) continue;
      for (let index = 0; index < count; index += 1) {
        const value = toInt16(FULL_SCALE * (stretch[channel][index] as number));
        samples[offset + 2 * index] = value;
        remains[index] = (remains[index] as number) - value;
      }
    }
    for (let index = 0; index < count; index += 1) restSamples[offset + 2 * index] = toInt16(remains[index] as number);
  }
}

import { createWav } from "../output/wav.js";
import type { WavFile } from "../output/wav.js";
import type { Composition } from "../composer/compose.js";
import { Bus, SEGMENT } from "./bus.js";
import { SAMPLE_RATE } from "./dsp.js";
import { eventsOf } from "./events.js";
import type { StemName } from "./events.js";
import { GainCurve, toInt16 } from "./gain-curve.js";
import { loudnessOf } from "./loudness.js";

export interface Mixdown {
  /** Stereo, from -1 to 1, finished. */
  readonly left: Float32Array;
  readonly right: Float32Array;
  readonly master: WavFile;
  /** The same moments and gains as the master: they add up to it. Empty when not kept. */
  readonly stems: ReadonlyMap<StemName, WavFile>;
}

/** Loudness of every track, in LUFS. */
const TARGET_LUFS = -16;
/** Stems wait for their final gain as 16-bit numbers that reach up to this level. */
const STEM_HEADROOM = 3;
const STORED_SCALE = 32_767 / STEM_HEADROOM;

/** Renders a track: each stem in turn, then one gain curve over all of them. */
export function mixDown(composition: Composition, keepStems: boolean): Mixdown {
  const frames = Math.round(composition.seconds * SAMPLE_RATE);
  const left = new Float32Array(frames);
  const right = new Float32Array(frames);
  const stems = new Map<StemName, WavFile>();
  const names: StemName[] = ["drums", "bass", "other", ...(composition.voice === null ? [] : ["vocals" as const])];
  for (const name of names) {
    const wav = keepStems ? createWav(frames, SAMPLE_RATE) : null;
    if (wav !== null) stems.set(name, wav);
    renderStem(composition, name, left, right, wav?.samples ?? null);
  }
  const gain = 10 ** ((TARGET_LUFS - loudnessOf(left, right)) / 20);
  const curve = new GainCurve(left, right, Number.isFinite(gain) ? gain : 1, SAMPLE_RATE);
  curve.apply(left);
  curve.apply(right);
  const master = createWav(frames, SAMPLE_RATE);
  for (let index = 0; index < frames; index += 1) {
    master.samples[2 * index] = toInt16((left[index] as number) * 32_767);
    master.samples[2 * index + 1] = toInt16((right[index] as number) * 32_767);
  }
  for (const { samples } of stems.values()) curve.applyInterleaved(samples, STEM_HEADROOM);
  return { left, right, master, stems };
}

/** The low-pass of dusty genres and of moods with a dull sound. */
const DUSTY_HZ = 4_800;
const DULL_HZ = 6_500;

/** Adds one stem to the mix, and writes it to `kept` on the way. */
function renderStem(
  composition: Composition,
  name: StemName,
  left: Float32Array,
  right: Float32Array,
  kept: Int16Array | null,
): void {
  const events = eventsOf(composition, name);
  if (events.length === 0) return;
  const { genre, brightness } = composition.brief;
  const bus = new Bus({
    reverbSeconds: name === "bass" ? null : name === "drums" ? 0.5 + genre.space : 0.8 + 3 * genre.space,
    brightness: 0.5 + 0.3 * brightness,
    echoSeconds: composition.echoSeconds,
    dullHz:
      genre.isDusty === true && name !== "vocals" ? DUSTY_HZ : name === "other" && brightness < -0.2 ? DULL_HZ : null,
  });
  const pump = genre.pumps === true && name !== "drums" ? kickSamples(composition) : [];
  let next = 0;
  for (let start = 0; start < left.length; start += SEGMENT) {
    const length = Math.min(SEGMENT, left.length - start);
    for (let event = events[next]; event !== undefined && event.at < start + length; event = events[next]) {
      const { samples, gain } = event.render();
      if (event.isGathered) bus.gather(samples, event.at - start, gain * event.gain, event.placement);
      else bus.add(samples, event.at - start, gain * event.gain, event.placement);
      next += 1;
    }
    bus.finish(length);
    if (pump.length > 0) duck(bus, pump, start, length, name === "bass" ? 0.75 : 0.55);
    for (let index = 0; index < length; index += 1) {
      const leftSample = bus.left[index] as number;
      const rightSample = bus.right[index] as number;
      left[start + index] = (left[start + index] as number) + leftSample;
      right[start + index] = (right[start + index] as number) + rightSample;
      if (kept !== null) {
        kept[2 * (start + index)] = toInt16(leftSample * STORED_SCALE);
        kept[2 * (start + index) + 1] = toInt16(rightSample * STORED_SCALE);
      }
    }
    bus.advance();
  }
}

function kickSamples({ hits }: Composition): number[] {
  return hits.filter(({ sound }) => sound === "kick").map(({ start }) => Math.round(start * SAMPLE_RATE));
}

const DUCK_SAMPLES = 0.24 * SAMPLE_RATE;
const DUCK_ATTACK = 0.004 * SAMPLE_RATE;

/** Turns the stretch down under each stroke of the bass drum and lets it swell back. */
function duck(bus: Bus, kicks: readonly number[], start: number, length: number, depth: number): void {
  let low = 0;
  let high = kicks.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((kicks[middle] ?? 0) + DUCK_SAMPLES < start) low = middle + 1;
    else high = middle;
  }
  for (let kick = low; kick < kicks.length && (kicks[kick] ?? 0) < start + length; kick += 1) {
    const at = (kicks[kick] ?? 0) - start;
    const until = Math.min(length, at + DUCK_SAMPLES, (kicks[kick + 1] ?? Number.POSITIVE_INFINITY) - start);
    for (let index = Math.max(0, at); index < until; index += 1) {
      const since = index - at;
      const swell = since / DUCK_SAMPLES;
      const gain = 1 - depth * Math.min(1, since / DUCK_ATTACK) * (1 - swell) * (1 - swell);
      bus.left[index] = (bus.left[index] as number) * gain;
      bus.right[index] = (bus.right[index] as number) * gain;
    }
  }
}

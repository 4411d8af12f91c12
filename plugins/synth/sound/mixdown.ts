import { createWav } from "../output/wav.js";
import type { WavFile } from "../output/wav.js";
import type { Composition } from "../composer/compose.js";
import { Bus, SEGMENT } from "./bus.js";
import { SAMPLE_RATE } from "./dsp.js";
import { eventsOf, layersOf, stemsOf } from "./events.js";
import type { LayerName, StemName } from "./events.js";
import { GainCurve, toInt16 } from "./gain-curve.js";
import { loudnessOf } from "./loudness.js";
import { RAIN_LUFS } from "./rain.js";

export interface Mixdown {
  /** Stereo, from -1 to 1, finished. */
  readonly left: Float32Array;
  readonly right: Float32Array;
  readonly master: WavFile;
  /** The same moments and gains as the master: they add up to it. Empty when not kept. */
  readonly stems: ReadonlyMap<StemName, WavFile>;
  /** The gain over the whole track. */
  readonly curve: GainCurve;
}

/** Loudness of every track, in LUFS. */
const TARGET_LUFS = -16;
/** How much quieter than the music rain is, in LU. */
const RAIN_BELOW = 14;
/** Stems wait for their final gain as 16-bit numbers that reach up to this level. */
const STEM_HEADROOM = 3;
const STORED_SCALE = 32_767 / STEM_HEADROOM;

/** Renders a track: each stem in turn, then one gain curve over all of them. */
export function mixDown(composition: Composition, keepStems: boolean): Mixdown {
  const frames = Math.round(composition.seconds * SAMPLE_RATE);
  const left = new Float32Array(frames);
  const right = new Float32Array(frames);
  const stems = new Map<StemName, WavFile>();
  for (const name of stemsOf(composition)) {
    const wav = keepStems ? createWav(frames, SAMPLE_RATE) : null;
    if (wav !== null) stems.set(name, wav);
    const gain = name === "rain" ? rainGain(left, right) : 1;
    renderStem(composition, frames, { name, layer: null }, (stemLeft, stemRight, start, length) => {
      for (let index = 0; index < length; index += 1) {
        const leftSample = (stemLeft[index] as number) * gain;
        const rightSample = (stemRight[index] as number) * gain;
        left[start + index] = (left[start + index] as number) + leftSample;
        right[start + index] = (right[start + index] as number) + rightSample;
        if (wav !== null) store(wav, start + index, leftSample, rightSample);
      }
    });
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
  return { left, right, master, stems, curve };
}

/**
 * Renders each layer of the stem `other` by itself, with the gain that the mix had: they add up to that stem, but for
 * rounding.
 */
export function renderLayers(composition: Composition, { curve, left }: Mixdown): Map<LayerName, WavFile> {
  return new Map(
    layersOf(composition).map((layer) => {
      const wav = createWav(left.length, SAMPLE_RATE);
      renderStem(composition, left.length, { name: "other", layer }, (layerLeft, layerRight, start, length) => {
        for (let index = 0; index < length; index += 1)
          store(wav, start + index, layerLeft[index] as number, layerRight[index] as number);
      });
      curve.applyInterleaved(wav.samples, STEM_HEADROOM);
      return [layer, wav];
    }),
  );
}

/** Keeps samples until the gain of the track is known. */
function store({ samples }: WavFile, frame: number, left: number, right: number): void {
  samples[2 * frame] = toInt16(left * STORED_SCALE);
  samples[2 * frame + 1] = toInt16(right * STORED_SCALE);
}

/** For rain under the music that is mixed so far. */
function rainGain(left: Float32Array, right: Float32Array): number {
  const music = loudnessOf(left, right);
  return Number.isFinite(music) ? 10 ** ((music - RAIN_BELOW - RAIN_LUFS) / 20) : 1;
}

/** The low-pass of dusty genres and of moods with a dull sound. */
const DUSTY_HZ = 4_800;
const DULL_HZ = 6_500;

type Segment = (left: Float32Array, right: Float32Array, start: number, length: number) => void;

/** Renders a stem, or one layer of it, and hands over one segment after the other. */
function renderStem(
  composition: Composition,
  frames: number,
  { name, layer }: { readonly name: StemName; readonly layer: LayerName | null },
  onSegment: Segment,
): void {
  const events = eventsOf(composition, name, layer);
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
  for (let start = 0; start < frames; start += SEGMENT) {
    const length = Math.min(SEGMENT, frames - start);
    for (let event = events[next]; event !== undefined && event.at < start + length; event = events[next]) {
      const { samples, gain } = event.render();
      if (event.isGathered) bus.gather(samples, event.at - start, gain * event.gain, event.placement);
      else bus.add(samples, event.at - start, gain * event.gain, event.placement);
      next += 1;
    }
    bus.finish(length);
    if (pump.length > 0) duck(bus, pump, start, length, name === "bass" ? 0.75 : 0.55);
    onSegment(bus.left, bus.right, start, length);
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

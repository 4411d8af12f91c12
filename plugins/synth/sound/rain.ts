import { panned, startSample } from "./bus.js";
import { Noise, SAMPLE_RATE, StateFilter, sineOf, toSamples } from "./dsp.js";
import type { SoundEvent } from "./sound-event.js";
import { Random } from "../random.js";

/** The bed of rain is made of stretches that fade into each other. */
const STRETCH_SECONDS = 8;
const FADE_SECONDS = 2;
/** What a distant rain is made of: neither rumble nor hiss. */
const LOW_HZ = 350;
const HIGH_HZ = 2_600;
const BED_GAIN = 0.5;
const DROPS_PER_SECOND = 14;

/** Loudness of the rain by itself at a gain of 1, in LUFS. */
export const RAIN_LUFS = -15;

/** Steady rain around the listener, and drops that fall close by. */
export function rainEvents(seconds: number, seed: number): SoundEvent[] {
  return [...bed(seconds, seed), ...drops(seconds, new Random(seed, "rain"))];
}

/** Each side rains for itself. */
function bed(seconds: number, seed: number): SoundEvent[] {
  return [-0.75, 0.75].flatMap((pan, side) =>
    Array.from({ length: Math.ceil(seconds / STRETCH_SECONDS) }, (_, stretch) => ({
      at: startSample(stretch * STRETCH_SECONDS),
      gain: BED_GAIN,
      placement: { ...panned(pan), reverb: 0, echo: 0 },
      isGathered: false,
      render: () => ({ samples: stretchOf(seed + 2 * stretch + side, stretch === 0), gain: 1 }),
    })),
  );
}

function stretchOf(seed: number, isFirst: boolean): Float32Array {
  const samples = new Float32Array(toSamples(STRETCH_SECONDS + FADE_SECONDS));
  const fade = toSamples(FADE_SECONDS);
  const noise = new Noise(seed);
  const [bottom, top, ceiling] = [new StateFilter(), new StateFilter(), new StateFilter()];
  bottom.tune(LOW_HZ, 0.7);
  top.tune(HIGH_HZ, 0.5);
  ceiling.tune(2 * HIGH_HZ, 0.6);
  for (let index = 0; index < samples.length; index += 1) {
    const white = noise.next();
    bottom.process(white);
    top.process(bottom.high(white));
    ceiling.process(top.low);
    // Two noises add up by their energy, so that a quarter of a sine keeps the loudness.
    const rise = isFirst ? 1 : Math.min(1, index / fade);
    const fall = Math.min(1, (samples.length - index) / fade);
    samples[index] = ceiling.low * sineOf(rise / 4) * sineOf(fall / 4);
  }
  return samples;
}

function drops(seconds: number, random: Random): SoundEvent[] {
  return Array.from({ length: Math.round(seconds * DROPS_PER_SECOND) }, () => {
    const [hz, decay] = [random.between(900, 3_400), random.between(0.004, 0.02)];
    return {
      at: startSample(random.next() * Math.max(0, seconds - 0.1)),
      gain: 0.05 + 0.3 * random.next() ** 4,
      placement: { ...panned(random.between(-0.9, 0.9)), reverb: 0.12, echo: 0 },
      isGathered: false,
      render: () => ({ samples: drop(hz, decay), gain: 1 }),
    };
  });
}

/** A short tone that rises a little, as a bubble does. */
function drop(hz: number, decaySeconds: number): Float32Array {
  const samples = new Float32Array(toSamples(6 * decaySeconds));
  let phase = 0;
  for (let index = 0; index < samples.length; index += 1) {
    const time = index / SAMPLE_RATE;
    phase += (hz * (1 + 4 * time)) / SAMPLE_RATE;
    samples[index] = sineOf(phase) * Math.exp(-time / decaySeconds);
  }
  return samples;
}

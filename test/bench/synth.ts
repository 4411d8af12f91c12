import { compose } from "../../plugins/synth/composer/compose.js";
import type { RenderSpec } from "../../plugins/synth/job-spec.js";
import { encodeMp3 } from "../../plugins/synth/output/mp3.js";
import { renderTrack } from "../../plugins/synth/render.js";
import { SAMPLE_RATE } from "../../plugins/synth/sound/dsp.js";
import { mixDown } from "../../plugins/synth/sound/mixdown.js";
import { atLeast, type Bench, type Figure, median } from "./figures.js";

const PROMPTS = [
  "calm piano over soft rain, slow and warm",
  "driving techno with a dark bass",
  "acoustic folk ballad with strings",
  "upbeat disco funk",
] as const;
const REAL_TIME_MIN = 20;
const WARM_UP_SECONDS = 15;

export const synth: Bench = {
  name: "synth",
  compares: "rendering a track with its MP3 and its lossless master with encoding the MP3 alone, in CPU time",
  async run() {
    // A thread that has rendered a little runs compiled loops; each prompt has instruments of its own.
    for (const chunk of PROMPTS.keys()) await renderTrack(aSpec(chunk, WARM_UP_SECONDS));
    return [await figureOf(30, PROMPTS.length), await figureOf(240, 2)];
  },
};

async function figureOf(seconds: number, chunks: number): Promise<Figure> {
  const rendering: number[] = [];
  const encoding: number[] = [];
  for (let chunk = 0; chunk < chunks; chunk++) {
    const order = aSpec(chunk, seconds);
    rendering.push(await processorSeconds(() => renderTrack(order)));
    const { left, right } = mixDown(compose(order), false);
    encoding.push(await processorSeconds(() => encodeMp3([left, right], SAMPLE_RATE, 192)));
  }
  const times = seconds / median(rendering);
  const encodedTimes = seconds / median(encoding);
  return {
    name: `synth: ${seconds} s, per core`,
    value: `${times.toFixed(1)} × real time`,
    baseline: `${encodedTimes.toFixed(1)} × (MP3 only)`,
    ratio: times / encodedTimes,
    target: atLeast(times, REAL_TIME_MIN, " ×"),
  };
}

function aSpec(chunk: number, seconds: number): RenderSpec {
  const sung = chunk % 2 === 1;
  const lyrics = sung ? "Rain on a tin roof\nAll through the night\nWash me a window\nLet in the light" : null;
  return {
    kind: "render",
    prompt: PROMPTS[chunk % PROMPTS.length] as string,
    lyrics,
    seconds,
    sung,
    keepMaster: true,
    keepStems: false,
  };
}

/** CPU time of this process, which other processes on the machine do not affect. */
async function processorSeconds(work: () => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000_000;
}

import type { RenderSpec, RenderedAsset, RenderedTrack } from "./job-spec.js";
import { joined, totalSeconds } from "./extend.js";
import { encodeFlac } from "./output/flac.js";
import { encodeMp3 } from "./output/mp3.js";
import { createWav, isAudible, type WavFile } from "./output/wav.js";
import { compose } from "./composer/compose.js";
import { tagsOf } from "./composer/tags.js";
import { titleOf } from "./composer/title.js";
import { SAMPLE_RATE } from "./sound/dsp.js";
import { toInt16 } from "./sound/gain-curve.js";
import { mixDown } from "./sound/mixdown.js";
import { digestOf } from "./split/own-track.js";
import { withoutMarkers } from "./test-hooks.js";

const INT16_MAX = 32_767;

/** Composes, renders and encodes a track on the calling thread. The host derives its preview and cover. */
export async function renderTrack(spec: RenderSpec): Promise<RenderedTrack> {
  const composition = compose(spec);
  const own = mixDown(composition, spec.keepStems && spec.after === undefined);
  const { left, right } = joined(spec, own);
  const master = spec.after === undefined ? own.master : toWav(left, right);
  const seconds = totalSeconds(spec);
  const assets: RenderedAsset[] = [
    {
      role: "mix",
      label: "full",
      contentType: "audio/mpeg",
      durationSeconds: seconds,
      bytes: await encodeMp3([left, right], SAMPLE_RATE, 192),
    },
  ];
  const keep = async (role: "master" | "stem", label: string, file: WavFile): Promise<void> => {
    const bytes = await encodeFlac(file, SAMPLE_RATE);
    assets.push({ role, label, contentType: "audio/flac", durationSeconds: seconds, bytes });
  };
  if (spec.keepMaster) await keep("master", "full", master);
  for (const [label, file] of own.stems) if (isAudible(file)) await keep("stem", label, file);
  return {
    title: titleOf(withoutMarkers(spec.prompt)),
    bpm: composition.brief.bpm,
    tags: tagsOf(composition.brief, spec.sung),
    assets,
    masterDigest: digestOf(master.bytes),
  };
}

function toWav(left: Float32Array, right: Float32Array): WavFile {
  const file = createWav(left.length, SAMPLE_RATE);
  for (let index = 0; index < left.length; index += 1) {
    file.samples[2 * index] = toInt16((left[index] as number) * INT16_MAX);
    file.samples[2 * index + 1] = toInt16((right[index] as number) * INT16_MAX);
  }
  return file;
}

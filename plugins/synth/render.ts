import type { RenderOrder, RenderedAsset, RenderedTrack } from "./order.js";
import { joined, totalSeconds } from "./extend.js";
import { paintCover } from "./output/cover.js";
import { encodeMp3 } from "./output/mp3.js";
import { PREVIEW_SECONDS, cutPreview } from "./output/preview.js";
import { createWav, type WavFile } from "./output/wav.js";
import { compose } from "./piece/compose.js";
import type { Composition } from "./piece/compose.js";
import { tagsOf } from "./piece/tags.js";
import { titleOf } from "./piece/title.js";
import { SAMPLE_RATE } from "./sound/dsp.js";
import { toInt16 } from "./sound/gain-curve.js";
import { mixDown } from "./sound/mixdown.js";
import { digestOf } from "./split/own-piece.js";
import { withoutMarkers } from "./test-hooks.js";

const INT16_MAX = 32_767;

/** Composes, sounds and encodes a track: all the work of one submission, on the calling thread. */
export async function renderTrack(order: RenderOrder): Promise<RenderedTrack> {
  const composition = compose(order);
  const own = mixDown(composition, order.keepStems && order.after === undefined);
  const { left, right } = joined(order, own);
  const master = order.after === undefined ? own.master : toWav(left, right);
  const seconds = totalSeconds(order);
  const preview = cutPreview(left, right, SAMPLE_RATE, (order.after?.untilSeconds ?? 0) + previewStart(composition));
  const sound = { label: "full", durationSeconds: seconds };
  const assets: RenderedAsset[] = [
    { ...sound, role: "mix", contentType: "audio/mpeg", bytes: await encodeMp3([left, right], SAMPLE_RATE, 192) },
    { ...sound, role: "master", contentType: "audio/wav", bytes: master.bytes },
    {
      ...sound,
      role: "preview",
      contentType: "audio/mpeg",
      durationSeconds: Math.min(seconds, PREVIEW_SECONDS),
      bytes: await encodeMp3([preview], SAMPLE_RATE, 96),
    },
    { ...sound, role: "cover", contentType: "image/png", durationSeconds: null, bytes: paintCover(composition.brief) },
    ...[...own.stems].map(([label, { bytes }]): RenderedAsset => ({
      ...sound,
      role: "stem",
      label,
      contentType: "audio/wav",
      bytes,
    })),
  ];
  return {
    title: titleOf(withoutMarkers(order.prompt)),
    bpm: composition.brief.bpm,
    tags: tagsOf(composition.brief, order.sung),
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

/** A moment before the first chorus, in seconds. */
function previewStart({ sections, seconds, endSeconds }: Composition): number {
  const chorus = sections.find(({ kind }) => kind === "chorus");
  const last = sections[sections.length - 1];
  if (chorus === undefined || last === undefined) return 0;
  return Math.min(seconds - PREVIEW_SECONDS, (chorus.startBar / (last.startBar + last.bars)) * endSeconds - 4);
}

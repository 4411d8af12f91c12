import { type AudioAnalysis, PREVIEW_SECONDS } from "../../../core/ports/audio-analyser.js";
import { WAVEFORM_POINTS } from "../../../core/library/track.js";
import { LoudnessCurve, loudnessOf } from "./loudness.js";
import type { AnalysisOrder } from "./messages.js";
import { encodePreview } from "./preview-mp3.js";
import { HOP_SECONDS, PreviewWindow } from "./preview-window.js";
import type { SampleBudget } from "./sample-budget.js";
import { BrokenAudioError, type Sound } from "./sound.js";

/** Measures one file from its beginning to its end. */
export class Analysis {
  private readonly curve = new LoudnessCurve();
  private window: PreviewWindow | null = null;
  private sampleRate = 0;
  private hopSamples = 0;
  private samples = 0;
  private hopPower = 0;

  constructor(
    private readonly order: Pick<AnalysisOrder, "preview">,
    private readonly budget: SampleBudget,
  ) {}

  /** @throws {BrokenAudioError} the file is too long, or has a shape that no listener could hear */
  add(sound: Sound): void {
    if (sound.samples === 0) return;
    this.budget.checkLength(this.samples + sound.samples, {
      sampleRate: sound.sampleRate,
      channels: sound.channels.length,
    });
    if (this.sampleRate === 0) this.begin(sound);
    if (sound.sampleRate !== this.sampleRate) throw new BrokenAudioError("its sample rate changes");
    for (let start = 0; start < sound.samples;) {
      const end = Math.min(sound.samples, start + this.hopSamples - (this.samples % this.hopSamples));
      this.addWithinHop({
        ...sound,
        samples: end - start,
        channels: sound.channels.map((channel) => channel.subarray(start, end)),
      });
      start = end;
    }
  }

  async end(): Promise<AudioAnalysis> {
    if (this.samples === 0) throw new BrokenAudioError("there is no sound in it");
    return {
      durationSeconds: this.samples / this.sampleRate,
      waveform: this.curve.waveform(WAVEFORM_POINTS),
      preview: this.window === null ? null : await encodePreview(this.window.excerpt()),
    };
  }

  private begin({ sampleRate }: Sound): void {
    this.sampleRate = sampleRate;
    this.hopSamples = Math.round(sampleRate * HOP_SECONDS);
    if (this.order.preview) this.window = new PreviewWindow(sampleRate, this.hopSamples, PREVIEW_SECONDS / HOP_SECONDS);
  }

  private addWithinHop(sound: Sound): void {
    this.hopPower += this.curve.add(sound);
    this.window?.write(sound);
    this.samples += sound.samples;
    if (this.samples % this.hopSamples !== 0) return;
    this.window?.endHop(loudnessOf(Math.sqrt(this.hopPower / this.hopSamples)));
    this.hopPower = 0;
  }
}

import type { Container } from "inversify";
import { ProcessAudioAnalyser } from "../../adapters/audio/analyser/audio-analyser.js";
import { NoAudioAnalyser } from "../../adapters/audio/analyser/no-analyser.js";
import { PaperCoverPainter } from "../../adapters/covers/cover-painter.js";
import { DeriveAssets } from "../../core/library/derive-assets.js";
import type { AudioAnalyser } from "../../core/ports/audio-analyser.js";
import type { CoverPainter } from "../../core/ports/cover-painter.js";
import type { Settings } from "../settings.js";
import { TOKENS as T } from "../tokens.js";

export interface PlaybackOverrides {
  readonly audioAnalyser?: AudioAnalyser;
  readonly coverPainter?: CoverPainter;
}

const ANALYSERS: Readonly<Record<Settings["audio"]["analyser"], () => AudioAnalyser>> = {
  builtin: () => new ProcessAudioAnalyser(),
  none: () => new NoAudioAnalyser(),
};

/** What is made of a track's own audio. */
export function bindPlayback(container: Container, overrides: PlaybackOverrides): void {
  container
    .bind(T.audioAnalyser)
    .toResolvedValue(({ audio }) => overrides.audioAnalyser ?? ANALYSERS[audio.analyser](), [T.settings]);
  container.bind(T.coverPainter).toResolvedValue(() => overrides.coverPainter ?? new PaperCoverPainter());
  container
    .bind(T.deriveAssets)
    .toResolvedValue(
      (audio, analyser, covers, logger, settings) =>
        new DeriveAssets({ audio, analyser, covers, logger, maxBytes: settings.audio.maxBytes }),
      [T.audio, T.audioAnalyser, T.coverPainter, T.logger, T.settings],
    );
}

import type { Container } from "inversify";
import { ProcessAudioAnalyser } from "../../adapters/audio/analyser/audio-analyser.js";
import { PaperCoverPainter } from "../../adapters/covers/cover-painter.js";
import { DeriveAssets } from "../../core/library/derive-assets.js";
import type { AudioAnalyser } from "../../core/ports/audio-analyser.js";
import type { CoverPainter } from "../../core/ports/cover-painter.js";
import { TOKENS as T } from "../tokens.js";

export interface PlaybackOverrides {
  readonly audioAnalyser?: AudioAnalyser;
  readonly coverPainter?: CoverPainter;
}

/** What is made of a track's own audio. */
export function bindPlayback(container: Container, overrides: PlaybackOverrides): void {
  container.bind(T.audioAnalyser).toResolvedValue(() => overrides.audioAnalyser ?? new ProcessAudioAnalyser());
  container.bind(T.coverPainter).toResolvedValue(() => overrides.coverPainter ?? new PaperCoverPainter());
  container
    .bind(T.deriveAssets)
    .toResolvedValue(
      (audio, analyser, covers, logger, settings) =>
        new DeriveAssets({ audio, analyser, covers, logger, maxBytes: settings.audio.maxBytes }),
      [T.audio, T.audioAnalyser, T.coverPainter, T.logger, T.settings],
    );
}

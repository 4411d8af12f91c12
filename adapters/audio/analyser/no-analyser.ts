import type { AnalysisRequest, AudioAnalyser } from "../../../core/ports/audio-analyser.js";

/** Knows no format: for installations where nothing decodes what providers and imports bring. */
export class NoAudioAnalyser implements AudioAnalyser {
  readonly decodes = false;
  private readonly closing = new AbortController();

  async analyse(_source: Uint8Array | AsyncIterable<Uint8Array>, { signal }: AnalysisRequest): Promise<null> {
    this.closing.signal.throwIfAborted();
    signal?.throwIfAborted();
    return null;
  }

  async close(): Promise<void> {
    this.closing.abort(new Error("The audio analyser has been closed."));
  }
}

import { expect } from "chai";
import { WAVEFORM_POINTS } from "../../core/library/track.js";
import { type AudioAnalyser, AudioUnreadableError, PREVIEW_SECONDS } from "../../core/ports/audio-analyser.js";
import { rmsOf, decodeMp3 } from "../support/audio-analysis.js";
import { aChord, mp3File, wavFile } from "../support/audio-files.js";

/** Quiet, from second 10 to second 50 loud, then quiet again. */
const SWELL = aChord(60, (second) => (second >= 10 && second < 50 ? 0.9 : 0.05), { sampleRate: 22_050 });

const failureOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => null,
    (error: unknown) => error,
  );

async function* chunks(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let start = 0; start < bytes.length; start += size) yield bytes.subarray(start, start + size);
}

/**
 * The promises of every {@link AudioAnalyser}. Each must support WAV and MP3, unless it declares that it decodes
 * nothing: then it supports no format.
 */
export function audioAnalyserContract(name: string, open: () => AudioAnalyser, { decodes = true } = {}): void {
  describe(`AudioAnalyser contract: ${name}`, () => {
    let analyser: AudioAnalyser;
    before(() => {
      analyser = open();
    });
    after(() => analyser.close());

    it("returns null for an unknown format", async () => {
      for (const text of ["", "x", "ID3\x04 and words", "%PDF-1.7 no music", "\x89PNG\r\n\x1a\n".repeat(500)]) {
        expect(await analyser.analyse(Buffer.from(text, "latin1"), { preview: true }), text).to.equal(null);
      }
    });

    it("accepts no file after its signal is aborted or it is closed", async () => {
      const reason = new Error("the caller is gone");
      expect(
        await failureOf(analyser.analyse(wavFile(SWELL), { preview: false, signal: AbortSignal.abort(reason) })),
      ).to.equal(reason);
      const closed = open();
      await closed.close();
      expect(await failureOf(closed.analyse(wavFile(SWELL), { preview: true }))).to.be.instanceOf(Error);
    });

    if (!decodes) {
      it("supports no format", async () => {
        for (const file of [wavFile(SWELL), await mp3File(aChord(1, () => 0.5))])
          expect(await analyser.analyse(file, { preview: true })).to.equal(null);
      });
      return;
    }

    it("measures duration and loudness", async () => {
      const analysis = await analyser.analyse(wavFile(SWELL), { preview: false });
      expect(analysis?.durationSeconds).to.equal(60);
      expect(analysis?.preview).to.equal(null);
      const waveform = analysis?.waveform ?? [];
      expect(waveform).to.have.length(WAVEFORM_POINTS);
      expect(waveform.every((point) => Number.isInteger(point) && point >= 0 && point <= 255)).to.equal(true);
      const [quiet, loud] = [waveform[30] ?? 0, waveform[200] ?? 0];
      expect(Math.max(...waveform)).to.equal(255);
      expect(loud).to.be.above(245);
      // 25 dB less are about a sixth as loud.
      expect(quiet).to.be.within(25, 65);
    });

    it("returns the same result for chunks of any size", async () => {
      const file = wavFile(aChord(2, () => 0.5));
      const whole = await analyser.analyse(file, { preview: false });
      for (const size of [1_021, 70_000])
        expect(await analyser.analyse(chunks(file, size), { preview: false })).to.deep.equal(whole);
    });

    it("returns zeros as the waveform of silence, and fewer points for a short track", async () => {
      const silence = await analyser.analyse(wavFile(aChord(1, () => 0)), { preview: false });
      expect(new Set(silence?.waveform)).to.deep.equal(new Set([0]));
      expect(
        (await analyser.analyse(wavFile(aChord(0.1, () => 0.5)), { preview: false }))?.waveform,
      ).to.have.length.within(1, 10);
    });

    it("cuts a preview from the loudest part, faded at both ends", async () => {
      const preview = (await analyser.analyse(wavFile(SWELL), { preview: true }))?.preview;
      expect(preview?.durationSeconds).to.be.closeTo(PREVIEW_SECONDS, 0.01);
      const { left, sampleRate } = await decodeMp3(preview?.bytes ?? new Uint8Array());
      expect(left.length / sampleRate).to.be.closeTo(PREVIEW_SECONDS, 0.1);
      const levelAt = (second: number): number =>
        rmsOf(left.subarray(second * sampleRate, (second + 0.2) * sampleRate));
      for (const second of [3, 10, 20, 26]) expect(levelAt(second), `second ${second}`).to.be.above(0.3);
      expect(levelAt(0)).to.be.below(0.1);
      expect(levelAt(PREVIEW_SECONDS - 0.25)).to.be.below(0.1);
    });

    it("uses the whole of a short track as its preview", async () => {
      const preview = (await analyser.analyse(await mp3File(aChord(4, () => 0.5)), { preview: true }))?.preview;
      expect(preview?.durationSeconds).to.be.closeTo(4, 0.1);
      expect(preview?.contentType).to.equal("audio/mpeg");
    });

    it("refuses a broken file, and analyses the next", async () => {
      const whole = wavFile(aChord(1, () => 0.5));
      const noise = Buffer.concat([Buffer.from("ID3\x04\0\0\0\0\0\0", "latin1"), Buffer.alloc(50_000, 0x5a)]);
      for (const broken of [whole.subarray(0, 30), noise]) {
        expect(await failureOf(analyser.analyse(broken, { preview: true }))).to.be.instanceOf(AudioUnreadableError);
      }
      expect((await analyser.analyse(whole, { preview: false }))?.durationSeconds).to.equal(1);
    });

    it("rethrows an error of the source", async () => {
      async function* failing(): AsyncGenerator<Uint8Array> {
        yield wavFile(aChord(1, () => 0.5));
        throw new Error("the source failed");
      }
      expect(await failureOf(analyser.analyse(failing(), { preview: false }))).to.have.property(
        "message",
        "the source failed",
      );
    });

    it("stops when its signal aborts, before and during the analysis", async () => {
      const reason = new Error("the caller is gone");
      const abort = new AbortController();
      async function* endless(): AsyncGenerator<Uint8Array> {
        yield wavFile(
          aChord(1, () => 0.5),
          { dataBytes: 0xffffffff },
        );
        for (let left = 5; ; left--) {
          if (left === 0) abort.abort(reason);
          yield new Uint8Array(50_000);
        }
      }
      expect(await failureOf(analyser.analyse(endless(), { preview: false, signal: abort.signal }))).to.equal(reason);
      expect(await failureOf(analyser.analyse(wavFile(SWELL), { preview: false, signal: abort.signal }))).to.equal(
        reason,
      );
    });

    it("analyses several files at once", async () => {
      const lengths = [1, 2, 3, 4];
      const analyses = await Promise.all(
        lengths.map((seconds) => analyser.analyse(wavFile(aChord(seconds, () => 0.5)), { preview: false })),
      );
      expect(analyses.map((analysis) => analysis?.durationSeconds)).to.deep.equal(lengths);
    });

    it("rejects running and later analyses after it is closed", async () => {
      const closed = open();
      const running = [1, 2].map(() => failureOf(closed.analyse(wavFile(SWELL), { preview: true })));
      await closed.close();
      expect(await Promise.all(running)).to.satisfy((errors: unknown[]) =>
        errors.every((error) => error instanceof Error),
      );
      expect(await failureOf(closed.analyse(wavFile(SWELL), { preview: true }))).to.be.instanceOf(Error);
    });
  });
}

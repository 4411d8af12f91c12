import { expect } from "chai";
import fc from "fast-check";
import { ProcessAudioAnalyser } from "../../../adapters/audio/analyser/audio-analyser.js";
import { DEFAULT_LIMITS } from "../../../adapters/sandbox/limits.js";
import { type AudioAnalysis, AudioUnreadableError } from "../../../core/ports/audio-analyser.js";
import { flacBomb, opusBomb } from "../../support/audio-bombs.js";
import { aChord, mp3File, vorbisFile, wavFile } from "../../support/audio-files.js";
import { fuzzed } from "../../support/fuzz/fuzz.js";
import { byteChanges, changedBytes } from "../../support/fuzz/bytes.js";

const MIB = 1024 * 1024;
/** This process only hands the bytes on. */
const GROWTH_MAX_BYTES = 128 * MIB;
/** A file of this size that takes longer hangs. */
const TIMEOUT_MS = 30_000;

describe("Audio files with changed bytes", function () {
  this.timeout(1_200_000);
  let files: readonly Uint8Array[];
  let analyser: ProcessAudioAnalyser;
  let peak = 0;
  before(async () => {
    const sound = aChord(0.3, (second) => second, { sampleRate: 44_100 });
    const mono = aChord(0.2, () => 0.5, { sampleRate: 8_000, channelCount: 1 });
    files = [
      wavFile(sound),
      wavFile(mono, { kind: "float32", extensible: true }),
      wavFile(mono, { kind: "pcm24" }),
      await mp3File(sound),
      await vorbisFile(sound),
      flacBomb(2),
      opusBomb(20),
    ];
    analyser = new ProcessAudioAnalyser({
      timeoutMs: TIMEOUT_MS,
      onUsage: ({ residentBytes }) => (peak = Math.max(peak, residentBytes)),
    });
  });
  after(() => analyser.close());

  fuzzed(
    "are analysed, refused or of no known format, in bounded time and memory",
    { short: 30, long: 5_000 },
    () => fc.record({ file: fc.nat(6), changes: byteChanges, preview: fc.boolean() }),
    async ({ file, changes, preview }) => {
      const before = process.memoryUsage.rss();
      const bytes = changedBytes(files[file] as Uint8Array, changes);
      const outcome = await analyser.analyse(bytes, { preview }).catch((error: unknown) => error);
      expect(process.memoryUsage.rss() - before).to.be.below(GROWTH_MAX_BYTES);
      expect(peak).to.be.below(DEFAULT_LIMITS.memoryBytes);
      if (outcome === null) return;
      if (outcome instanceof Error) {
        expect(outcome).to.be.instanceOf(AudioUnreadableError);
        // A decoder may name an error of its own; it gives no stack and does not hang.
        expect(outcome.message).to.not.match(/longer than \d+ ms|\n\s+at /);
        return;
      }
      const { durationSeconds, waveform, preview: excerpt } = outcome as AudioAnalysis;
      expect(durationSeconds).to.be.within(0, 7_200);
      for (const level of waveform) expect(level).to.be.within(0, 255);
      expect(excerpt === null).to.equal(!preview);
    },
  );

  it("leave an analyser that works", async () => {
    const sound = wavFile(aChord(1, () => 0.5));
    expect((await analyser.analyse(sound, { preview: false }))?.durationSeconds).to.equal(1);
  });
});

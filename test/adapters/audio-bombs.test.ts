import { expect } from "chai";
import { ProcessAudioAnalyser } from "../../adapters/audio/analyser/audio-analyser.js";
import { DEFAULT_LIMITS } from "../../adapters/sandbox/limits.js";
import { AudioUnreadableError } from "../../core/ports/audio-analyser.js";
import { flacBomb, mp3Bomb, opusBomb, vorbisBomb, wavOfEmptyChunks } from "../support/audio-bombs.js";
import { aChord, wavFile } from "../support/audio-files.js";

const MIB = 1024 * 1024;
/** More than this process grows by for the sake of a file of some MB. */
const GROWTH_MAX_BYTES = 64 * MIB;

/** Each is refused for what it declares; none gets as far as the limits of its process. */
const BOMBS: Readonly<Record<string, () => Promise<Uint8Array> | Uint8Array>> = {
  "FLAC of constant blocks (7 kB, 409 MB of samples)": () => flacBomb(195),
  "FLAC of constant blocks (70 kB)": () => flacBomb(2_000),
  "FLAC that declares a day": () => flacBomb(1, { declaredSamples: 86_400 * 44_100 }),
  "Ogg Opus of empty frames (13 kB, 188 MB of samples)": () => opusBomb(4_080),
  "Ogg Opus of empty frames in eight channels": () => opusBomb(2_040, { channels: 8 }),
  "Ogg Opus of 255 channels": () => opusBomb(510, { channels: 255 }),
  "Ogg Vorbis of silent blocks (80 kB)": () => vorbisBomb(40_000),
  "WAV of empty chunks (16 MB)": () => wavOfEmptyChunks(2_000_000),
};

describe("Files that unpack to far more than they are", function () {
  this.timeout(120_000);
  let peak = 0;
  const analyser = new ProcessAudioAnalyser({ onUsage: ({ residentBytes }) => (peak = Math.max(peak, residentBytes)) });
  beforeEach(() => {
    peak = 0;
  });
  after(() => analyser.close());

  async function refusalOf(bomb: Uint8Array): Promise<AudioUnreadableError> {
    const before = process.memoryUsage.rss();
    const error: unknown = await analyser.analyse(bomb, { preview: true }).then(
      () => null,
      (thrown: unknown) => thrown,
    );
    expect(error).to.be.instanceOf(AudioUnreadableError);
    expect(process.memoryUsage.rss() - before).to.be.below(GROWTH_MAX_BYTES);
    expect(peak).to.be.within(MIB, DEFAULT_LIMITS.memoryBytes - 1);
    return error as AudioUnreadableError;
  }

  for (const [title, make] of Object.entries(BOMBS)) {
    it(`are refused before they are unpacked: ${title}`, async () => {
      const { message } = await refusalOf(await make());
      expect(message).to.match(/unpack|longer than|header does not end|could not be decoded/);
      expect((await analyser.analyse(wavFile(aChord(1, () => 0.5)), { preview: false }))?.durationSeconds).to.equal(1);
    });
  }

  it("are read where they are no more than long: MP3 of the smallest frames", async () => {
    expect((await analyser.analyse(mp3Bomb(2_500), { preview: true }))?.durationSeconds).to.be.closeTo(60, 0.2);
    expect(peak).to.be.below(DEFAULT_LIMITS.memoryBytes);
    const strict = new ProcessAudioAnalyser({ maxSeconds: 30 });
    const error = await strict.analyse(mp3Bomb(2_500), { preview: true }).catch((thrown: unknown) => thrown);
    expect(error)
      .to.be.instanceOf(AudioUnreadableError)
      .with.property("message", "The audio cannot be read: it is longer than 30 seconds.");
    await strict.close();
  });
});

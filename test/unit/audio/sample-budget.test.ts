import { expect } from "chai";
import { SampleBudget } from "../../../adapters/audio/analyser/sample-budget.js";
import { BrokenAudioError } from "../../../adapters/audio/analyser/sound.js";

const STEREO = { sampleRate: 48_000, channels: 2 };

describe("SampleBudget", () => {
  it("grants two hours of stereo at 96 kHz, and no more", () => {
    const budget = new SampleBudget(7_200, 7_200 * 96_000 * 2);
    const studio = { sampleRate: 96_000, channels: 2 };
    budget.checkLength(7_200 * 96_000, studio);
    expect(() => budget.checkLength(7_200 * 96_000 + 1, studio)).to.throw(BrokenAudioError, "longer than 7200 seconds");
    expect(() => budget.checkLength(7_000 * 96_000, { ...studio, channels: 6 })).to.throw(
      BrokenAudioError,
      "more than 1382400000 samples",
    );
  });

  it("grants five minutes of silence for nothing, and speech at 6 kbit/s for as long as its bytes last", () => {
    const budget = new SampleBudget(7_200, 1e10);
    for (let second = 0; second < 300; second += 1) budget.checkStep(48_000, STEREO);
    expect(() => budget.checkStep(48_000, STEREO)).to.throw(BrokenAudioError, "unpack to");
    const speech = new SampleBudget(7_200, 1e10);
    for (let second = 0; second < 7_200; second += 1) {
      speech.feed(750);
      speech.checkStep(48_000, STEREO);
    }
  });

  it("refuses a step that is larger than any frame or page", () => {
    const budget = new SampleBudget(7_200, 1e10);
    budget.checkStep(65_535, { sampleRate: 44_100, channels: 8 });
    budget.checkStep(255 * 5_760, STEREO);
    expect(() => budget.checkStep(3_000_001, STEREO)).to.throw(BrokenAudioError, "at once");
  });

  it("refuses what no listener could hear", () => {
    const budget = new SampleBudget(7_200, 1e10);
    for (const shape of [
      { sampleRate: 0 },
      { sampleRate: 3_999 },
      { sampleRate: 384_001 },
      { channels: 0 },
      { channels: 17 },
      { sampleRate: NaN },
    ]) {
      expect(() => budget.checkLength(0, { ...STEREO, ...shape })).to.throw(BrokenAudioError, "channels at");
    }
  });
});

import { expect } from "chai";
import { compose, EDITION } from "../../plugins/synth/composer/compose.js";
import type { StemName } from "../../plugins/synth/sound/events.js";
import { mixDown } from "../../plugins/synth/sound/mixdown.js";
import { loudnessOf } from "../../plugins/synth/sound/loudness.js";
import type { Sound } from "../support/audio-analysis.js";
import {
  bandShare,
  beatStrength,
  decodeMp3,
  longestSilence,
  monoOf,
  onsetDensity,
  peakOf,
  readWav,
  rmsOf,
  spectralCentroid,
  toDecibels,
  truePeakOf,
} from "../support/audio-analysis.js";
import { encodeMp3 } from "../../plugins/synth/output/mp3.js";

const SAMPLE_RATE = 44_100;
const SECONDS = 8;

interface Heard {
  readonly bpm: number;
  readonly stereo: Sound;
  readonly mono: Float32Array;
  readonly stem: (name: StemName) => Float32Array;
}

function hear(
  prompt: string,
  options: { readonly sung?: boolean; readonly lyrics?: string; readonly seconds?: number } = {},
): Heard {
  const chunk = compose({
    prompt,
    lyrics: options.lyrics ?? null,
    seconds: options.seconds ?? SECONDS,
    sung: options.sung ?? false,
    edition: EDITION,
  });
  const { master, stems } = mixDown(chunk, true);
  const stereo = readWav(master.bytes);
  return {
    bpm: chunk.brief.bpm,
    stereo,
    mono: monoOf(stereo),
    stem: (name) => {
      const wav = stems.get(name);
      return wav === undefined ? new Float32Array(0) : monoOf(readWav(wav.bytes));
    },
  };
}

const STYLES = [
  "slow sad piano",
  "fast techno",
  "heavy metal",
  "ambient drone for sleep",
  "lofi study beats",
  "jazz trio",
  "epic orchestral battle",
  "8-bit chiptune",
  "acoustic folk",
  "夜の雨 👾",
];

describe("synth: sound of every style", function () {
  this.timeout(60_000);
  for (const prompt of STYLES) {
    it(`is clean, even and continuous: ${prompt}`, () => {
      const { stereo, mono } = hear(prompt);
      for (const channel of [stereo.left, stereo.right]) {
        expect(toDecibels(truePeakOf(channel)), "true peak").to.be.below(-1);
        expect(Math.abs(channel[0] ?? 1), "first sample").to.be.below(0.001);
        expect(peakOf(channel.subarray(-1_300)), "end").to.be.below(0.001);
        expect(peakOf(channel.subarray(0, 44)), "first millisecond").to.be.below(0.05);
      }
      expect(loudnessOf(stereo.left, stereo.right), "loudness").to.be.within(-17.5, -15);
      expect(
        longestSilence(mono.subarray(0, -2 * SAMPLE_RATE), SAMPLE_RATE),
        "longest silence before the ending",
      ).to.be.below(0.7);
      expect(Math.abs(toDecibels(rmsOf(stereo.left) / rmsOf(stereo.right))), "balance of left and right").to.be.below(
        3,
      );
    });
  }
});

describe("synth: music that follows the words", function () {
  this.timeout(60_000);

  for (const prompt of ["techno at 130 bpm", "rock, 120 bpm", "house music 124bpm", "hip hop beat 90 bpm"]) {
    it(`beats at the tempo that is asked for: ${prompt}`, () => {
      const { bpm, mono } = hear(prompt);
      expect(bpm).to.equal(Number(/\d+/u.exec(prompt)?.[0]));
      expect(beatStrength(mono, bpm)).to.be.above(0.3);
      for (const wrong of [bpm * 1.13, bpm * 0.88])
        expect(beatStrength(mono, bpm)).to.be.above(beatStrength(mono, wrong) + 0.15);
    });
  }

  it("distinguishes slow sad piano from fast techno in tempo, density and brightness", () => {
    const piano = hear("slow sad piano");
    const techno = hear("fast techno");
    expect(techno.bpm).to.be.above(1.7 * piano.bpm);
    expect(onsetDensity(techno.mono, SAMPLE_RATE)).to.be.above(2 * onsetDensity(piano.mono, SAMPLE_RATE));
    expect(spectralCentroid(techno.mono, SAMPLE_RATE)).to.be.above(2 * spectralCentroid(piano.mono, SAMPLE_RATE));
    expect(rmsOf(piano.stem("drums"))).to.equal(0);
  });

  it("leaves drums out where the prompt does not want them", () => {
    expect(rmsOf(hear("rock without drums").stem("drums"))).to.equal(0);
    expect(rmsOf(hear("rock").stem("drums"))).to.be.above(0.01);
  });

  it("keeps the bass stem low and the bass drum below the rest of the drums", () => {
    const { stem } = hear("house");
    expect(bandShare(stem("bass"), SAMPLE_RATE, 20, 400)).to.be.above(0.7);
    expect(bandShare(stem("drums"), SAMPLE_RATE, 20, 200)).to.be.above(0.3);
  });

  it("hears melody and chords next to drums and bass", () => {
    for (const prompt of ["techno", "trap", "cinematic", "pop", "jazz"]) {
      const { mono, stem } = hear(prompt);
      expect(toDecibels(rmsOf(stem("other")) / rmsOf(mono)), prompt).to.be.above(-12);
    }
  });
});

describe("synth: rain", function () {
  this.timeout(60_000);

  it("falls evenly under the music, where the prompt says so", () => {
    for (const prompt of ["slow sad piano, rain", "rainy lofi beats", "Regen in der Nacht, Jazz"]) {
      const { mono, stem } = hear(prompt, { seconds: 12 });
      const rain = stem("rain");
      expect(toDecibels(rmsOf(rain) / rmsOf(mono)), prompt).to.be.within(-22, -8);
      expect(bandShare(rain, SAMPLE_RATE, 300, 6_000), prompt).to.be.above(0.85);
      const levels = Array.from({ length: 10 }, (_, second) =>
        toDecibels(rmsOf(rain.subarray((second + 0.5) * SAMPLE_RATE, (second + 1.5) * SAMPLE_RATE))),
      );
      expect(Math.max(...levels) - Math.min(...levels), prompt).to.be.below(4);
    }
  });

  it("is left out where the prompt has none, or wants none", () => {
    for (const prompt of ["slow sad piano", "the train to Spain", "piano without rain", "jazz, no rain"])
      expect(hear(prompt, { seconds: 5 }).stem("rain"), prompt).to.have.lengthOf(0);
  });
});

describe("synth: the sung voice", function () {
  this.timeout(60_000);

  it("has its energy where vowels are, and stands out from the band", () => {
    const { mono, stem } = hear("pop song", { sung: true, lyrics: "Shine a light on me tonight\nI am coming home" });
    const voice = stem("vocals");
    expect(toDecibels(rmsOf(voice) / rmsOf(mono))).to.be.within(-9, 0);
    expect(bandShare(voice, SAMPLE_RATE, 200, 3_500)).to.be.above(0.85);
    expect(bandShare(voice, SAMPLE_RATE, 1_000, 3_500)).to.be.above(0.02);
  });

  it("sounds different vowels differently", () => {
    const open = hear("ballad", { sung: true, lyrics: "ah ah ah ah\nah ah ah ah" }).stem("vocals");
    const closed = hear("ballad", { sung: true, lyrics: "ee ee ee ee\nee ee ee ee" }).stem("vocals");
    expect(bandShare(open, SAMPLE_RATE, 700, 1_500)).to.be.above(2 * bandShare(closed, SAMPLE_RATE, 700, 1_500));
    expect(bandShare(closed, SAMPLE_RATE, 2_000, 3_500)).to.be.above(2 * bandShare(open, SAMPLE_RATE, 2_000, 3_500));
  });

  it("sings the words of the prompt where there are no lyrics", () => {
    expect(rmsOf(hear("funk about a lazy cat", { sung: true }).stem("vocals"))).to.be.above(0.01);
  });
});

describe("synth: MP3 files", () => {
  it("decode without clipping", async function () {
    this.timeout(60_000);
    const { stereo } = hear("heavy metal", { seconds: 8 });
    const decoded = await decodeMp3(await encodeMp3([stereo.left, stereo.right], SAMPLE_RATE, 192));
    expect(peakOf(decoded.left)).to.be.below(1);
    expect(peakOf(decoded.right)).to.be.below(1);
  });
});

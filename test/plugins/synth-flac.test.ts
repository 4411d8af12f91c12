import { createHash } from "node:crypto";
import { expect } from "chai";
import { encodeFlac } from "../../plugins/synth/output/flac.js";
import { createWav, type WavFile } from "../../plugins/synth/output/wav.js";
import { SAMPLE_RATE } from "../../plugins/synth/sound/dsp.js";
import { decodeFlac, readWav } from "../support/audio-analysis.js";

/** More than one chunk of the encoder, and no whole number of its blocks. */
const FRAMES = 3 * 65_536 + 777;

function aFile(sample: (index: number) => number, frames = FRAMES): WavFile {
  const file = createWav(frames, SAMPLE_RATE);
  for (let index = 0; index < file.samples.length; index += 1) file.samples[index] = sample(index);
  return file;
}

const md5Of = ({ samples }: WavFile): string =>
  createHash("md5")
    .update(new Uint8Array(samples.buffer, samples.byteOffset, samples.byteLength))
    .digest("hex");

const SOUNDS: Readonly<Record<string, WavFile>> = {
  "a tone": aFile((index) => Math.round(9_000 * Math.sin(index / 40))),
  noise: aFile((index) => Math.imul(index ^ 0x5bd1e995, 0x2c1b3c6d) >> 18),
  "the loudest and the quietest": aFile((index) => [32_767, -32_768, 1, -1, 0][index % 5] ?? 0),
  "a single sample": aFile(() => -5, 1),
};

describe("synth: FLAC files", () => {
  for (const [name, wav] of Object.entries(SOUNDS)) {
    it(`decode to the very samples, and hold their digest and number: ${name}`, async () => {
      const flac = await encodeFlac(wav, SAMPLE_RATE);
      expect(await decodeFlac(flac)).to.deep.equal(readWav(wav.bytes));
      const info = Buffer.from(flac);
      expect(info.toString("hex", 26, 42)).to.equal(md5Of(wav));
      expect(info.readUIntBE(22, 4)).to.equal(wav.samples.length / 2);
    });
  }

  it("are equal for equal samples, also where several are encoded at once", async () => {
    const wav = SOUNDS["noise"] as WavFile;
    const [first, ...others] = await Promise.all([1, 2, 3].map(() => encodeFlac(wav, SAMPLE_RATE)));
    for (const other of others) expect(Buffer.compare(other, first as Uint8Array)).to.equal(0);
  });

  it("leave the functions of WebAssembly as they were", async () => {
    await encodeFlac(SOUNDS["a single sample"] as WavFile, SAMPLE_RATE);
    expect(globalThis).to.have.nested.property("WebAssembly.instantiateStreaming").that.is.a("function");
  });
});

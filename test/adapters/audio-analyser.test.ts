import { type ChildProcess, spawn } from "node:child_process";
import { readFile } from "node:fs/promises";
import { expect } from "chai";
import { ProcessAudioAnalyser } from "../../adapters/audio/analyser/audio-analyser.js";
import { NoAudioAnalyser } from "../../adapters/audio/analyser/no-analyser.js";
import { startProcess } from "../../adapters/sandbox/start-process.js";
import { ServiceUnavailableError } from "../../core/errors.js";
import { AudioUnreadableError } from "../../core/ports/audio-analyser.js";
import { audioAnalyserContract } from "../contract/audio-analyser.contract.js";
import { decodeMp3 } from "../support/audio-analysis.js";
import { aChord, mp3File, type TestSound, vorbisFile, wavFile } from "../support/audio-files.js";
import { flacFile } from "../support/flac-file.js";
import { repositoryPath } from "../support/repository.js";

audioAnalyserContract("ProcessAudioAnalyser", () => new ProcessAudioAnalyser());
audioAnalyserContract("NoAudioAnalyser", () => new NoAudioAnalyser(), { decodes: false });

/** Two seconds: the first quiet, the second loud. */
const aRise = (options: { sampleRate?: number; channelCount?: number } = {}): TestSound =>
  aChord(2, (second) => (second < 1 ? 0.05 : 0.9), options);

const FILES: Readonly<Record<string, () => Promise<Uint8Array> | Uint8Array>> = {
  MP3: () => mp3File(aRise()),
  "MP3 in mono": () => mp3File(aRise({ channelCount: 1 })),
  "MP3 behind a tag": async () =>
    Buffer.concat([Buffer.from("ID3\x04\0\0\0\0\x1f\x76", "latin1"), Buffer.alloc(0xff6), await mp3File(aRise())]),
  FLAC: () => flacFile(aRise()),
  "Ogg Vorbis": () => vorbisFile(aRise()),
  // The same two seconds at 48 kHz, by opusenc of opus-tools, at 32 kbit/s.
  "Ogg Opus": () => readFile(repositoryPath("test/fixtures/two-seconds.opus")),
  "WAV of 8 bits": () => wavFile(aRise(), { kind: "pcm8" }),
  "WAV of 16 bits": () => wavFile(aRise(), { kind: "pcm16" }),
  "WAV of 24 bits": () => wavFile(aRise(), { kind: "pcm24" }),
  "WAV of 32 bits": () => wavFile(aRise(), { kind: "pcm32" }),
  "WAV of floating point numbers": () => wavFile(aRise(), { kind: "float32" }),
  "WAV of long floating point numbers": () => wavFile(aRise(), { kind: "float64" }),
  "WAV with an extensible format": () => wavFile(aRise(), { kind: "pcm24", extensible: true }),
  "WAV whose length was never filled in": () => wavFile(aRise(), { dataBytes: 0 }),
  "WAV of 96 kHz": () => wavFile(aRise({ sampleRate: 96_000 })),
  "WAV of six channels": () => wavFile(aRise({ channelCount: 6 })),
};

const failureOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => null,
    (error: unknown) => error,
  );

/** A process that runs this instead, and is not limited by the kernel. */
const startCode = (code: string) => (): ChildProcess =>
  spawn(process.execPath, ["--eval", code], {
    stdio: ["ignore", "ignore", "ignore", "ipc"],
    serialization: "advanced",
  });

describe("ProcessAudioAnalyser", () => {
  const analyser = new ProcessAudioAnalyser();
  after(() => analyser.close());

  for (const [title, make] of Object.entries(FILES)) {
    it(`reads ${title}`, async () => {
      const analysis = await analyser.analyse(await make(), { preview: true });
      // A codec without a note of its padding adds up to two of its frames.
      expect(analysis?.durationSeconds).to.be.closeTo(2, 0.06);
      const waveform = analysis?.waveform ?? [];
      expect(waveform[Math.floor(waveform.length * 0.25)]).to.be.within(20, 70);
      expect(waveform[Math.floor(waveform.length * 0.75)]).to.be.above(240);
      const preview = await decodeMp3(analysis?.preview?.bytes ?? new Uint8Array());
      expect(preview.left.length / preview.sampleRate).to.be.closeTo(2, 0.15);
      expect(preview.left.some((value) => Math.abs(value) > 0.3)).to.equal(true);
    });
  }

  const REFUSED: Readonly<Record<string, Uint8Array>> = {
    "without samples": wavFile({ channels: [new Float32Array(0)], sampleRate: 44_100 }),
    "without channels": wavFile({ channels: [], sampleRate: 44_100 }),
    "of a rate beyond hearing": wavFile(aChord(0.1, () => 1, { sampleRate: 1_000 })),
    "of compressed samples": Buffer.from(wavFile(aRise())).fill(0x55, 20, 22),
    "with samples before the format": Buffer.concat([
      Buffer.from("RIFF\0\0\0\0WAVEdata\x10\0\0\0", "latin1"),
      Buffer.alloc(16),
    ]),
  };
  for (const [title, file] of Object.entries(REFUSED)) {
    it(`refuses a WAV ${title}`, async () => {
      expect(await failureOf(analyser.analyse(file, { preview: true }))).to.be.instanceOf(AudioUnreadableError);
    });
  }

  it("plays numbers that are none as silence", async () => {
    const file = wavFile(
      { channels: [new Float32Array(44_100).fill(NaN).fill(Infinity, 0, 100)], sampleRate: 44_100 },
      { kind: "float32" },
    );
    const analysis = await analyser.analyse(file, { preview: true });
    expect(analysis?.durationSeconds).to.equal(1);
    expect(analysis?.waveform.every((point) => point >= 0 && point <= 255)).to.equal(true);
  });

  it("makes the best of damage in the middle of a file", async () => {
    for (const make of [mp3File, vorbisFile, flacFile]) {
      const file = Buffer.from(await make(aChord(6, () => 0.5)));
      file.fill(0xa5, file.length / 2, file.length / 2 + 2_000);
      expect((await analyser.analyse(file, { preview: false }))?.durationSeconds, make.name).to.be.within(2.9, 6.5);
    }
  });

  it("ends with each cut-off file, whatever it makes of it", async () => {
    for (const make of [mp3File, vorbisFile, flacFile]) {
      const file = await make(aChord(0.5, () => 0.5));
      for (const bytes of [5, 60, 500, 5_000]) {
        const error = await failureOf(analyser.analyse(file.subarray(0, bytes), { preview: true }));
        expect(
          error === null || error instanceof AudioUnreadableError,
          `${make.name}, ${bytes} bytes: ${String(error)}`,
        ).to.equal(true);
      }
    }
  });

  it("refuses a track above the maximum length", async () => {
    const strict = new ProcessAudioAnalyser({ maxSeconds: 1 });
    expect(await failureOf(strict.analyse(wavFile(aRise()), { preview: false }))).to.be.instanceOf(
      AudioUnreadableError,
    );
    await strict.close();
  });

  const replying = (reply: string): string => `process.on("message", ({ kind }) => process.send(${reply})); ${READY}`;
  const READY = 'process.send("ready");';
  const ENDLESS = "{ durationSeconds: Infinity, waveform: [], preview: null }";
  const DEATHS: Readonly<
    Record<string, { readonly code: string; readonly timeoutMs?: number; readonly isOurs?: true }>
  > = {
    "ends before it is ready": { code: "process.exit(3)", isOurs: true },
    "ends with a file": { code: `process.on("message", () => process.exit(3)); ${READY}`, isOurs: true },
    "takes too much memory": {
      code: `const all = []; process.on("message", () => { for (;;) all.push(Buffer.alloc(1e7, 1)); }); ${READY}`,
    },
    "takes too much time": { code: `process.on("message", () => { for (;;); }); ${READY}`, timeoutMs: 2_000 },
    "replies with no analysis": {
      code: replying('{ kind: kind === "end" ? "done" : "next", analysis: {} }'),
    },
    "replies with an endless length": {
      code: replying(`{ kind: kind === "end" ? "done" : "next", analysis: ${ENDLESS} }`),
    },
  };
  for (const [title, { code, timeoutMs = 60_000, isOurs }] of Object.entries(DEATHS)) {
    it(`${isOurs ? "does not blame" : "refuses"} the file when its process ${title}, then starts another`, async () => {
      let started = 0;
      const start = (): ChildProcess => {
        started++;
        return startCode(code)();
      };
      const fragile = new ProcessAudioAnalyser({ start, timeoutMs, limits: { memoryBytes: 200e6 } });
      for (const call of [1, 2]) {
        expect(await failureOf(fragile.analyse(wavFile(aRise()), { preview: false }))).to.be.instanceOf(
          isOurs ? ServiceUnavailableError : AudioUnreadableError,
        );
        expect(started).to.equal(call);
      }
      await fragile.close();
    }).timeout(60_000);
  }

  it("reads the next file in the same process, unless the last one was broken", async () => {
    let started = 0;
    const start: typeof startProcess = (...args) => {
      started++;
      return startProcess(...args);
    };
    const thrifty = new ProcessAudioAnalyser({ start });
    const file = wavFile(aRise());
    const whole = await thrifty.analyse(file, { preview: true });
    expect(await thrifty.analyse(file, { preview: true })).to.deep.equal(whole);
    expect((await thrifty.analyse(await vorbisFile(aRise()), { preview: false }))?.durationSeconds).to.be.closeTo(
      2,
      0.06,
    );
    expect(started).to.equal(1);
    expect(await failureOf(thrifty.analyse(file.subarray(0, 30), { preview: false }))).to.be.instanceOf(
      AudioUnreadableError,
    );
    expect(await thrifty.analyse(file, { preview: true })).to.deep.equal(whole);
    expect(started).to.equal(2);
    await thrifty.close();
  });

  it("reads no more of a source than its process has asked for", async () => {
    let read = 0;
    async function* counted(): AsyncGenerator<Uint8Array> {
      const file = wavFile(aChord(20, () => 0.5));
      for (let start = 0; start < file.length; start += 65_536, read++) yield file.subarray(start, start + 65_536);
    }
    const start = startCode(replying('kind === "order" ? { kind: "next" } : process.exit()'));
    const lazy = new ProcessAudioAnalyser({ start });
    expect(await failureOf(lazy.analyse(counted(), { preview: false }))).to.be.instanceOf(ServiceUnavailableError);
    expect(read).to.be.at.most(2);
    await lazy.close();
  });

  it("starts no process for a format that it does not know", async () => {
    let started = 0;
    const start: typeof startProcess = (...args) => {
      started++;
      return startProcess(...args);
    };
    const thrifty = new ProcessAudioAnalyser({ start });
    expect(await thrifty.analyse(Buffer.from("%PDF-1.7 no music"), { preview: true })).to.equal(null);
    expect(started).to.equal(0);
    await thrifty.close();
  });

  it("goes by the container, not by bytes in it that look like frames of MP3", async () => {
    const m4a = await readFile(repositoryPath("test/fixtures/aac.m4a"));
    expect(await analyser.analyse(m4a, { preview: true })).to.equal(null);
    const webm = Buffer.concat([Buffer.from("\x1aE\xdf\xa3", "latin1"), await mp3File(aRise())]);
    expect(await analyser.analyse(webm, { preview: true })).to.equal(null);
  });

  it("takes a file for MP3 when a second frame follows where the first ends", async () => {
    const mp3 = await mp3File(aRise());
    const junk = Buffer.alloc(8_192, "text ");
    mp3.slice(0, 4).forEach((byte, index) => (junk[index + 100] = byte));
    expect(await analyser.analyse(junk, { preview: true })).to.equal(null);
    const behindText = Buffer.concat([Buffer.from("some text"), mp3]);
    expect((await analyser.analyse(behindText, { preview: false }))?.durationSeconds).to.be.closeTo(2, 0.06);
  });

  it("is not held up by a source that hangs", async () => {
    const abort = new AbortController();
    const patient = new ProcessAudioAnalyser({ processes: 1 });
    async function* hanging(): AsyncGenerator<Uint8Array> {
      yield wavFile(aRise(), { dataBytes: 0 });
      abort.abort(new Error("no longer wanted"));
      await new Promise(() => undefined);
    }
    const failure = await failureOf(patient.analyse(hanging(), { preview: false, signal: abort.signal }));
    expect(failure).to.have.property("message", "no longer wanted");
    expect((await patient.analyse(wavFile(aRise()), { preview: false }))?.durationSeconds).to.equal(2);
    await patient.close();
  });
});

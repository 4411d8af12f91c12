import type { CodecFrame, OggPage } from "codec-parser";
import type { AudioFormat } from "./format.js";
import type { SampleBudget } from "./sample-budget.js";
import type { Decoder, Sound } from "./sound.js";
import { WavDecoder } from "./wav-decoder.js";

/** What the decoders of eshaz/wasm-audio-decoders return. */
interface Decoded {
  readonly channelData: readonly Float32Array[];
  readonly samplesDecoded: number;
  readonly sampleRate: number;
}

interface StreamDecoder {
  readonly ready: Promise<void>;
  decode(bytes: Uint8Array): Decoded | Promise<Decoded>;
  flush?(): Promise<Decoded>;
  free(): void;
}

/** Each is loaded when a file needs it. They continue behind what they cannot read. */
const OPENERS: Readonly<Record<AudioFormat, (budget: SampleBudget) => Promise<Decoder>>> = {
  wav: async (budget) => new WavDecoder(budget),
  mp3: async () => streaming(new (await import("mpg123-decoder")).MPEGDecoder()),
  flac: async (budget) => flacFrames(new (await import("@wasm-audio-decoders/flac")).FLACDecoder(), budget),
  "ogg-flac": async (budget) => oggPages(new (await import("@wasm-audio-decoders/flac")).FLACDecoder(), budget),
  vorbis: async (budget) => oggPages(new (await import("@wasm-audio-decoders/ogg-vorbis")).OggVorbisDecoder(), budget),
  opus: async (budget) => oggPages(new (await import("ogg-opus-decoder")).OggOpusDecoder(), budget),
};

export function openDecoder(format: AudioFormat, budget: SampleBudget): Promise<Decoder> {
  return OPENERS[format](budget);
}

/** For formats whose frames are so large that the bytes of one request unpack to a few MB at most. */
async function streaming(decoder: StreamDecoder): Promise<Decoder> {
  await decoder.ready;
  return {
    async *decode(bytes) {
      yield toSound(await decoder.decode(bytes));
    },
    async *flush() {
      if (decoder.flush !== undefined) yield toSound(await decoder.flush());
    },
    close: () => decoder.free(),
  };
}

type FrameDecoder = StreamDecoder & { decodeFrames(frames: Uint8Array[]): Promise<Decoded> };

/** Frame by frame: forty bytes of FLAC may declare a block of 65,535 samples in eight channels. */
async function flacFrames(decoder: FrameDecoder, budget: SampleBudget): Promise<Decoder> {
  await decoder.ready;
  const { default: CodecParser } = await import("codec-parser");
  const parser = new CodecParser<CodecFrame>("audio/flac", { enableFrameCRC32: false });
  let isAtStart = true;
  async function* decoded(frames: Iterator<CodecFrame>): AsyncGenerator<Sound, void> {
    for (let next = frames.next(); next.done !== true; next = frames.next()) {
      const { data, header } = next.value;
      budget.checkStep(upperBoundOf(next.value), header);
      yield toSound(await decoder.decodeFrames([data]));
    }
  }
  return {
    decode(bytes) {
      if (isAtStart) checkStreamInfo(bytes, budget);
      isAtStart = false;
      return decoded(parser.parseChunk(bytes));
    },
    flush: () => decoded(parser.flush()),
    close: () => decoder.free(),
  };
}

/** The first block of a FLAC file declares its length, where that was known (RFC 9639, section 8.2). */
function checkStreamInfo(head: Uint8Array, budget: SampleBudget): void {
  if (head.length < 26) return;
  const view = new DataView(head.buffer, head.byteOffset, head.byteLength);
  const [first, second] = [view.getUint32(18), view.getUint32(22)];
  const samples = (first & 0xf) * 2 ** 32 + second;
  if (samples > 0) budget.checkLength(samples, { sampleRate: first >>> 12, channels: ((first >>> 9) & 7) + 1 });
}

/** Page by page: a packet of three bytes may declare 120 ms of Opus, and thousands of them fit into one request. */
async function oggPages(decoder: StreamDecoder, budget: SampleBudget): Promise<Decoder> {
  await decoder.ready;
  const { default: CodecParser } = await import("codec-parser");
  const parser = new CodecParser<OggPage>("audio/ogg", { enableFrameCRC32: false });
  async function* decoded(pages: Iterator<OggPage>): AsyncGenerator<Sound, void> {
    for (let next = pages.next(); next.done !== true; next = pages.next()) {
      const { codecFrames = [], rawData } = next.value;
      const [frame] = codecFrames;
      const samples = codecFrames.reduce((sum, each) => sum + upperBoundOf(each), 0);
      if (frame !== undefined) budget.checkStep(samples, frame.header);
      yield toSound(await decoder.decode(rawData));
    }
  }
  return {
    decode: (bytes) => decoded(parser.parseChunk(bytes)),
    async *flush() {
      yield* decoded(parser.flush());
      if (decoder.flush !== undefined) yield toSound(await decoder.flush());
    },
    close: () => decoder.free(),
  };
}

/**
 * By the frame's own header: what the parser says of samples is cut by the position that the last page of a stream
 * claims.
 */
function upperBoundOf({ header, samples }: CodecFrame): number {
  if ("blocksize1" in header) return header.blocksize1 / 2;
  if ("blockSize" in header) return header.blockSize;
  return "frameCount" in header ? (header.frameCount * header.frameSize * header.sampleRate) / 1_000 : samples;
}

function toSound({ channelData, samplesDecoded, sampleRate }: Decoded): Sound {
  return { channels: channelData, samples: channelData.length === 0 ? 0 : samplesDecoded, sampleRate };
}

import type { AudioFormat } from "./format.js";
import type { Decoder, Sound } from "./sound.js";
import { WavDecoder } from "./wav-decoder.js";

/** What the decoders of eshaz/wasm-audio-decoders answer. */
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

/** Each is loaded when a file needs it. They go on behind what they cannot read. */
const OPENERS: Readonly<Record<AudioFormat, () => Promise<Decoder>>> = {
  wav: async () => new WavDecoder(),
  mp3: async () => streaming(new (await import("mpg123-decoder")).MPEGDecoder()),
  flac: async () => streaming(new (await import("@wasm-audio-decoders/flac")).FLACDecoder()),
  vorbis: async () => streaming(new (await import("@wasm-audio-decoders/ogg-vorbis")).OggVorbisDecoder()),
  opus: async () => streaming(new (await import("ogg-opus-decoder")).OggOpusDecoder()),
};

export function openDecoder(format: AudioFormat): Promise<Decoder> {
  return OPENERS[format]();
}

async function streaming(decoder: StreamDecoder): Promise<Decoder> {
  await decoder.ready;
  const nothing: Sound = { channels: [], samples: 0, sampleRate: 0 };
  return {
    decode: async (bytes) => toSound(await decoder.decode(bytes)),
    flush: async () => (decoder.flush === undefined ? nothing : toSound(await decoder.flush())),
    close: () => decoder.free(),
  };
}

function toSound({ channelData, samplesDecoded, sampleRate }: Decoded): Sound {
  return { channels: channelData, samples: channelData.length === 0 ? 0 : samplesDecoded, sampleRate };
}

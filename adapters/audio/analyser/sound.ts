/** A stretch of decoded sound. */
export interface Sound {
  /** One array per channel, values from -1 to 1; as many in each as {@link samples} says. */
  readonly channels: readonly Float32Array[];
  readonly samples: number;
  readonly sampleRate: number;
}

/** Turns a file into sound, a bounded stretch at a time however much the bytes unpack to. */
export interface Decoder {
  decode(bytes: Uint8Array): AsyncIterable<Sound> | Iterable<Sound>;
  /** What was still to come when the file ended. */
  flush(): AsyncIterable<Sound> | Iterable<Sound>;
  /** Frees its memory; it decodes nothing more. */
  close(): void;
}

/** A format is known, this file cannot be read. */
export class BrokenAudioError extends Error {}

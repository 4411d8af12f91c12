/** A stretch of decoded sound. */
export interface Sound {
  /** One array per channel, values from -1 to 1; as many in each as {@link samples} says. */
  readonly channels: readonly Float32Array[];
  readonly samples: number;
  readonly sampleRate: number;
}

/** Turns a file into sound piece by piece. */
export interface Decoder {
  decode(bytes: Uint8Array): Promise<Sound>;
  /** What was still to come when the file ended. */
  flush(): Promise<Sound>;
  /** Gives its memory back; it decodes nothing more. */
  close(): void;
}

/** A format is fine, this file is not. */
export class BrokenAudioError extends Error {}

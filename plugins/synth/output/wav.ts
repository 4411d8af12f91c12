const HEADER_BYTES = 44;
const CHANNELS = 2;
const BYTES_PER_FRAME = CHANNELS * 2;

/** A 16-bit stereo WAV file whose samples can be written in place. */
export interface WavFile {
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Left and right in turn. */
  readonly samples: Int16Array<ArrayBuffer>;
}

/** False for a file of silence. */
export function isAudible({ samples }: WavFile): boolean {
  return samples.some((sample) => sample !== 0);
}

/** A silent file of so many sample frames, header included. */
export function createWav(frames: number, sampleRate: number): WavFile {
  const dataBytes = frames * BYTES_PER_FRAME;
  const buffer = new ArrayBuffer(HEADER_BYTES + dataBytes);
  const header = new DataView(buffer);
  const text = (offset: number, value: string): void => {
    for (let index = 0; index < value.length; index += 1) header.setUint8(offset + index, value.charCodeAt(index));
  };
  text(0, "RIFF");
  header.setUint32(4, HEADER_BYTES - 8 + dataBytes, true);
  text(8, "WAVEfmt ");
  header.setUint32(16, 16, true);
  header.setUint16(20, 1, true);
  header.setUint16(22, CHANNELS, true);
  header.setUint32(24, sampleRate, true);
  header.setUint32(28, sampleRate * BYTES_PER_FRAME, true);
  header.setUint16(32, BYTES_PER_FRAME, true);
  header.setUint16(34, 16, true);
  text(36, "data");
  header.setUint32(40, dataBytes, true);
  return { bytes: new Uint8Array(buffer), samples: new Int16Array(buffer, HEADER_BYTES) };
}

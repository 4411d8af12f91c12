/** How far the first frame is searched for. */
const SEARCH_BYTES = 4_096;

/** Bit rates in kbit/s by the header's index, from 1 (ISO 11172-3, 2.4.2.3; ISO 13818-3 for the lower sample rates). */
const BIT_RATES = {
  layer1: [32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352, 384, 416, 448],
  layer2: [32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384],
  layer3: [32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320],
  lowLayer1: [32, 48, 56, 64, 80, 96, 112, 128, 144, 160, 176, 192, 224, 256],
  low: [8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
};
const SAMPLE_RATES = [44_100, 48_000, 32_000];

interface MpegFrame {
  readonly version: number;
  readonly layer: number;
  readonly sampleRate: number;
  readonly sizeBytes: number;
}

/**
 * Whether there are two frames in a row that agree, the second exactly where the first ends: three bytes that look like
 * a header are in any file.
 */
export function hasMpegFrames(bytes: Uint8Array): boolean {
  for (let offset = 0; offset < Math.min(SEARCH_BYTES, bytes.length); offset++) {
    const first = frameAt(bytes, offset);
    const second = first && frameAt(bytes, offset + first.sizeBytes);
    if (!first || !second) continue;
    const { version, layer, sampleRate } = second;
    if (version === first.version && layer === first.layer && sampleRate === first.sampleRate) return true;
  }
  return false;
}

/** Reads a header (ISO 11172-3, 2.4.1.3); null where there is none, or one with a reserved value. */
function frameAt(bytes: Uint8Array, offset: number): MpegFrame | null {
  const [first = 0, second = 0, third = 0] = bytes.subarray(offset, offset + 3);
  const [version, layer] = [(second >> 3) & 3, 4 - ((second >> 1) & 3)];
  const hasSync = first === 0xff && (second & 0xe0) === 0xe0 && version !== 1 && layer !== 4;
  const kbits = ratesOf(version, layer)[(third >> 4) - 1];
  const fullRate = SAMPLE_RATES[(third >> 2) & 3];
  if (!hasSync || kbits === undefined || fullRate === undefined) return null;
  const isLow = version !== 3;
  const sampleRate = version === 0 ? fullRate / 4 : isLow ? fullRate / 2 : fullRate;
  const padding = (third >> 1) & 1;
  const slots = (factor: number): number => Math.floor((factor * kbits * 1_000) / sampleRate) + padding;
  const sizeBytes = layer === 1 ? slots(12) * 4 : slots(layer === 3 && isLow ? 72 : 144);
  return { version, layer, sampleRate, sizeBytes };
}

function ratesOf(version: number, layer: number): readonly number[] {
  if (version !== 3) return layer === 1 ? BIT_RATES.lowLayer1 : BIT_RATES.low;
  return layer === 1 ? BIT_RATES.layer1 : layer === 2 ? BIT_RATES.layer2 : BIT_RATES.layer3;
}

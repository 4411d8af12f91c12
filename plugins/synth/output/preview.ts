/** Longest preview, in seconds. */
export const PREVIEW_SECONDS = 30;
const FADE_SECONDS = 1.5;

/** The part of a piece to preview, in mono: from where it is in full swing, faded at both ends. */
export function cutPreview(
  left: Float32Array,
  right: Float32Array,
  sampleRate: number,
  bestStartSeconds: number,
): Float32Array {
  const length = Math.min(left.length, PREVIEW_SECONDS * sampleRate);
  const start = Math.max(0, Math.min(left.length - length, Math.round(bestStartSeconds * sampleRate)));
  const fade = Math.min(length / 4, FADE_SECONDS * sampleRate);
  const preview = new Float32Array(length);
  for (let index = 0; index < length; index += 1) {
    const gain = Math.min(1, index / fade, (length - 1 - index) / fade);
    preview[index] = 0.5 * gain * ((left[start + index] as number) + (right[start + index] as number));
  }
  return preview;
}

/** Stretches the range of loudness: most music is loud most of the time. */
const CONTRAST = 1.8;

/** The mean of the points under each bar, from 0 to 1. @param points 0 to 255 */
export function barsOf(points: readonly number[], count: number): number[] {
  return Array.from({ length: count }, (_, bar) => {
    const start = Math.floor((bar * points.length) / count);
    const under = points.slice(start, Math.max(start + 1, Math.floor(((bar + 1) * points.length) / count)));
    return under.length === 0 ? 0 : (under.reduce((sum, point) => sum + point, 0) / under.length / 255) ** CONTRAST;
  });
}

/** Loudness along samples as points from 0 to 255, the loudest of all being 255. */
export function pointsOf(samples: Float32Array, count: number): number[] {
  const size = Math.max(1, Math.floor(samples.length / count));
  const levels = Array.from({ length: count }, (_, point) => {
    let sum = 0;
    for (let at = point * size; at < (point + 1) * size; at += 1) sum += (samples[at] ?? 0) ** 2;
    return Math.sqrt(sum / size);
  });
  const loudest = Math.max(...levels);
  return loudest === 0 ? levels : levels.map((level) => Math.round((255 * level) / loudest));
}

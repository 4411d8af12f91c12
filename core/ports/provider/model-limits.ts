/** Bounds of every model, a plugin's own or one that the operator names. Lengths are in code points. */
export const MODEL_LIMITS = {
  idLength: 100,
  nameLength: 200,
  promptLength: 3_000,
  lyricsLength: 10_000,
  durationSeconds: 86_400,
  /** A week, as `jobs.renderDeadlineMinutes`. */
  renderDeadlineMinutes: 10_080,
  usualRenderSeconds: 86_400,
  costUnitLength: 20,
} as const;

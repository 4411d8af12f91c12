import type { ProviderSandboxLimits } from "../../sdk/index.js";

/** Largest file that is split. */
export const SPLIT_MAX_BYTES = 100_000_000;
/** Longest audio that is split. */
export const SPLIT_MAX_SECONDS = 900;

/**
 * Limits of one child process. The longest split holds four stems of 173 MB and a file of 100 MB, and takes some two
 * minutes of processor time on an ordinary core.
 */
export const SPLIT_LIMITS: Omit<ProviderSandboxLimits, "processes"> = {
  memoryBytes: 1_280 * 1024 * 1024,
  cpuMs: 15 * 60_000,
  replyMs: 25 * 60_000,
};

/** Randomness. Replaced through the override `random` of `compose`. */
export interface Random {
  /** Unpredictable bytes, fit for secrets. */
  bytes(count: number): Uint8Array;
  /** A number from 0 (included) to 1 (excluded), for jitter only. */
  fraction(): number;
}

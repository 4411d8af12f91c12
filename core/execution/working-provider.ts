import type { MusicProvider, ProviderCapabilities } from "../ports/music-provider.js";

/** A started provider, ready for work. */
export interface WorkingProvider {
  readonly id: string;
  readonly label: string;
  /** Submissions at once in this process. */
  readonly concurrency: number;
  /** Jobs at the provider at once, in all processes together; null: as many as there are. */
  readonly maxInFlight: number | null;
  readonly capabilities: ProviderCapabilities;
  /**
   * The hard limit of one call of the plugin, in milliseconds: after it the slot is free, even if the plugin has not
   * returned.
   */
  readonly callLimitMs: number;
  /** The same of a call that sends no source audio; `callLimitMs` when left out. */
  readonly plainCallLimitMs?: number;
  readonly provider: MusicProvider;
  /** Masks the secrets of its settings in a text; left out where it has none. */
  readonly masked?: (text: string) => string;
  /** Polls accepted work; null where that cannot be done. */
  readonly poll: NonNullable<MusicProvider["poll"]> | null;
}

/** How long a call may take that sends no source audio, in milliseconds. */
export function plainCallLimit({ callLimitMs, plainCallLimitMs = callLimitMs }: WorkingProvider): number {
  return plainCallLimitMs;
}

import type { MusicProvider, ProviderCapabilities, ProviderCost } from "../ports/music-provider.js";

/** A started provider, ready for work. */
export interface WorkingProvider {
  readonly id: string;
  readonly label: string;
  /** Submissions at once in this process. */
  readonly concurrency: number;
  /** Jobs at the provider at once, in all processes together; null: as many as there are. */
  readonly maxInFlight: number | null;
  readonly capabilities: ProviderCapabilities;
  /** What a piece of work is expected to cost there; null when nobody said. */
  expectedCost(work: { readonly kind: string; readonly servedModelId: string | null }): ProviderCost | null;
  readonly provider: MusicProvider;
  /** Asks after accepted work; null where that cannot be done. */
  readonly poll: NonNullable<MusicProvider["poll"]> | null;
}

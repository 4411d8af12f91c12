/** One value of a gauge that has labels. */
export interface GaugeSample {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

export interface GaugeDescription {
  /** Without the prefix `fermata_`; lower case, unit last (`queue_oldest_seconds`). */
  readonly name: string;
  readonly help: string;
  readonly labels?: readonly string[];
}

export type GaugeReading = number | readonly GaugeSample[];

/** What became of an attempt at a provider: it was bought when the provider had accepted it. */
export type CountedAttempt =
  | { readonly became: "bought" | "delivered"; readonly provider: string }
  | { readonly became: "wasted"; readonly provider: string; readonly reason: string };

/**
 * Figures for operators. Selected by `metrics.enabled`; the override `metrics` of `compose` replaces it, and null
 * counts nothing. `GET /metrics` serves Fermata's own figures only, and nothing of an override.
 */
export interface Metrics {
  /**
   * @param request `route` is the path's template, so that ids do not multiply the series; `status` is the HTTP status
   */
  countRequest(
    request: { readonly method: string; readonly route: string; readonly status: number },
    seconds: number,
  ): void;
  countJobEnded(job: { readonly status: string; readonly operation: string; readonly provider: string }): void;
  countAttempt(attempt: CountedAttempt): void;
  /** @param outcome `delivered`, or why the attempt failed */
  countDeliveryAttempt(outcome: string, seconds: number): void;
  /** A webhook endpoint has been failing for so long that its operator is warned. */
  countEndpointWarning(failingHours: number): void;
  /** @param by `gone` or `failing` */
  countEndpointDisabled(by: string): void;
  /** Rows of the request log that were given up. */
  countDroppedLogRows(count: number): void;
  /** Shows what `read` returns whenever the figures are asked for. When it fails, the gauge has no value. */
  gauge(description: GaugeDescription, read: () => GaugeReading | Promise<GaugeReading>): void;
}

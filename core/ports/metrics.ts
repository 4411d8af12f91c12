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

/** A job that ended. */
export interface CountedJob {
  /** `completed` or `failed`. */
  readonly status: string;
  readonly operation: string;
  readonly provider: string;
  /** The model that served it; for a split its operation. */
  readonly model: string;
  /** From its creation to its end. */
  readonly seconds: number;
  /** From its creation to its first attempt at a provider; null without one. */
  readonly queueSeconds: number | null;
  /** From the call of the provider to its result; null for a job that failed. */
  readonly renderSeconds: number | null;
}

/** A call of a provider's plugin that has ended. */
export interface CountedCall {
  readonly provider: string;
  /** The method of the plugin: `submit`, `poll`, `cancel`, … */
  readonly call: string;
  /**
   * null when it returned; else the kind of its failure, `aborted` (by a stop of this process or a lost lease), `hung`
   * (past its limit), `invalid_result` (none of the port's) or `crashed` (an error that is no failure of the port).
   */
  readonly error: string | null;
}

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
  countJobEnded(job: CountedJob): void;
  countAttempt(attempt: CountedAttempt): void;
  countProviderCall(call: CountedCall, seconds: number): void;
  /**
   * A group that a lane runs in one transaction.
   *
   * @param lane `accept` or `report`
   * @param waitsSeconds how long each of its commands waited for it
   */
  countGroup(lane: string, waitsSeconds: readonly number[]): void;
  /** @param outcome `delivered`, or why the attempt failed */
  countDeliveryAttempt(outcome: string, seconds: number): void;
  /** A delivery of a webhook will not be tried again. @param outcome `delivered` or `exhausted` */
  countDeliveryEnded(outcome: string): void;
  /** A webhook endpoint has been failing for so long that its operator is warned. */
  countEndpointWarning(failingHours: number): void;
  /** @param by `gone` or `failing` */
  countEndpointDisabled(by: string): void;
  /** Rows of the request log that were given up. */
  countDroppedLogRows(count: number): void;
  /** Shows what `read` returns whenever the figures are asked for. When it fails, the gauge has no value. */
  gauge(description: GaugeDescription, read: () => GaugeReading | Promise<GaugeReading>): void;
}

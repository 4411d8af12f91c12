import type { CountedAttempt, CountedCall, Metrics } from "../../../core/ports/metrics.js";

/**
 * In place of the metrics: it stores what it counts, in order; reads no gauge.
 *
 * @example
 * const metrics = new RecordingMetrics();
 * metrics.countDeliveryAttempt("timeout");
 * assert.deepEqual(metrics.counted, [["try", "timeout"]]);
 */
export class RecordingMetrics implements Metrics {
  readonly counted: (readonly [what: string, value: string | number])[] = [];

  countRequest({ route }: { readonly route: string }): void {
    this.counted.push(["request", route]);
  }

  countJobEnded({ status }: { readonly status: string }): void {
    this.counted.push(["job", status]);
  }

  countAttempt({ became }: CountedAttempt): void {
    this.counted.push(["attempt", became]);
  }

  countProviderCall({ call }: CountedCall): void {
    this.counted.push(["call", call]);
  }

  countGroup(lane: string): void {
    this.counted.push(["group", lane]);
  }

  countDeliveryEnded(outcome: string): void {
    this.counted.push(["delivery", outcome]);
  }

  countDeliveryAttempt(outcome: string): void {
    this.counted.push(["try", outcome]);
  }

  countEndpointWarning(failingHours: number): void {
    this.counted.push(["warning", failingHours]);
  }

  countEndpointDisabled(by: string): void {
    this.counted.push(["disabled", by]);
  }

  countDroppedLogRows(count: number): void {
    this.counted.push(["dropped log rows", count]);
  }

  gauge(): void {
    // No test reads the page.
  }
}

import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from "prom-client";
import { ATTEMPT_LOSSES } from "../../core/attempts/purchases.js";
import type { Logger } from "../../core/ports/logger.js";
import type { CountedAttempt, GaugeDescription, GaugeReading, Metrics } from "../../core/ports/metrics.js";

/** Up to a minute: `Prefer: wait` lets a request take that long. */
const SECONDS_BUCKETS = [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

/** Keeps the figures for Prometheus, in a registry of its own: two apps in one process do not mix theirs. */
export class PrometheusMetrics implements Metrics {
  readonly contentType: string;
  private readonly registry = new Registry();
  private readonly requests: Histogram<"method" | "route" | "status">;
  private readonly jobs: Counter<"status" | "operation" | "provider">;
  private readonly bought: Counter<"provider">;
  private readonly delivered: Counter<"provider">;
  private readonly wasted: Counter<"provider" | "reason">;
  private readonly webhookTries: Histogram<"outcome">;
  private readonly endpointWarnings: Counter<"failing_hours">;
  private readonly endpointsDisabled: Counter<"by">;
  private readonly droppedLogRows: Counter;

  /** @param options `processMetrics` adds memory, CPU, event loop and garbage collection of this process */
  constructor(
    private readonly logger: Logger,
    options: { readonly processMetrics: boolean },
  ) {
    this.contentType = this.registry.contentType;
    const registers = [this.registry];
    if (options.processMetrics) collectDefaultMetrics({ register: this.registry });
    this.requests = new Histogram({
      name: "fermata_http_request_seconds",
      help: "Time from the request's arrival to the end of its response",
      labelNames: ["method", "route", "status"],
      buckets: SECONDS_BUCKETS,
      registers,
    });
    this.jobs = new Counter({
      name: "fermata_jobs_ended_total",
      help: "Jobs that completed or failed",
      labelNames: ["status", "operation", "provider"],
      registers,
    });
    this.bought = new Counter({
      name: "fermata_attempts_bought_total",
      help: "Attempts that a provider accepted",
      labelNames: ["provider"],
      registers,
    });
    this.delivered = new Counter({
      name: "fermata_attempts_delivered_total",
      help: "Attempts that their job completed with",
      labelNames: ["provider"],
      registers,
    });
    this.wasted = new Counter({
      name: "fermata_attempts_wasted_total",
      help: "Attempts that a provider accepted and that delivered nothing, by the reason",
      labelNames: ["provider", "reason"],
      registers,
    });
    this.webhookTries = new Histogram({
      name: "fermata_webhook_try_seconds",
      help: "Time of one try of a webhook delivery, by its outcome",
      labelNames: ["outcome"],
      buckets: SECONDS_BUCKETS,
      registers,
    });
    this.endpointWarnings = new Counter({
      name: "fermata_webhook_endpoint_warnings_total",
      help: "Warnings about webhook endpoints that have been failing for so many hours",
      labelNames: ["failing_hours"],
      registers,
    });
    this.endpointsDisabled = new Counter({
      name: "fermata_webhook_endpoints_disabled_total",
      help: "Webhook endpoints disabled by a 410 of the receiver, or for failing for days",
      labelNames: ["by"],
      registers,
    });
    this.droppedLogRows = new Counter({
      name: "fermata_request_log_dropped_total",
      help: "Rows of the request log that were given up: the storage took none for too long, or refused them",
      registers,
    });
  }

  countRequest(
    request: { readonly method: string; readonly route: string; readonly status: number },
    seconds: number,
  ): void {
    this.requests.observe({ ...request }, seconds);
  }

  countJobEnded(job: { readonly status: string; readonly operation: string; readonly provider: string }): void {
    this.jobs.inc({ ...job });
  }

  countAttempt(attempt: CountedAttempt): void {
    const { provider } = attempt;
    switch (attempt.became) {
      case "bought":
        this.bought.inc({ provider });
        // Series that exist from the first purchase on: a rate over one that begins at 1 misses its first count.
        this.delivered.inc({ provider }, 0);
        for (const reason of ATTEMPT_LOSSES) this.wasted.inc({ provider, reason }, 0);
        return;
      case "delivered":
        return this.delivered.inc({ provider });
      case "wasted":
        return this.wasted.inc({ provider, reason: attempt.reason });
    }
  }

  countDeliveryAttempt(outcome: string, seconds: number): void {
    this.webhookTries.observe({ outcome }, seconds);
  }

  countEndpointWarning(failingHours: number): void {
    this.endpointWarnings.inc({ failing_hours: failingHours });
  }

  countEndpointDisabled(by: string): void {
    this.endpointsDisabled.inc({ by });
  }

  countDroppedLogRows(count: number): void {
    this.droppedLogRows.inc(count);
  }

  gauge({ name, help, labels = [] }: GaugeDescription, read: () => GaugeReading | Promise<GaugeReading>): void {
    const { logger } = this;
    new Gauge({
      name: `fermata_${name}`,
      help,
      labelNames: [...labels],
      registers: [this.registry],
      async collect() {
        this.reset();
        try {
          const found = await read();
          if (typeof found === "number") this.set(found);
          else for (const sample of found) this.set({ ...sample.labels }, sample.value);
        } catch (error) {
          this.remove();
          logger.warn("A gauge could not be read", { gauge: name, error });
        }
      },
    });
  }

  /** Everything counted so far, in the text format of Prometheus. */
  text(): Promise<string> {
    return this.registry.metrics();
  }
}

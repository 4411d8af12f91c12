import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from "prom-client";
import { ATTEMPT_LOSSES } from "../../core/attempts/purchases.js";
import type { Logger } from "../../core/ports/logger.js";
import type {
  CountedAttempt,
  CountedCall,
  CountedJob,
  GaugeDescription,
  GaugeReading,
  Metrics,
} from "../../core/ports/metrics.js";

/** Up to a minute: `Prefer: wait` lets a request take that long. */
const SECONDS_BUCKETS = [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];
/** Up to an hour: what a render, and the wait for it, may take. */
const JOB_BUCKETS = [0.1, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1_200, 3_600];
/** A group is at most as large as `LANE_DEFAULTS.groupMax`. */
const GROUP_BUCKETS = [1, 2, 4, 8, 16, 32, 64, 128, 256];

/** Keeps the figures for Prometheus, in a registry of its own: two apps in one process do not mix theirs. */
export class PrometheusMetrics implements Metrics {
  readonly contentType: string;
  private readonly registry = new Registry();
  private readonly requests = this.histogram(
    "http_request_seconds",
    "Time from the request's arrival to the end of its response",
    ["method", "route", "status"],
  );
  private readonly jobs = this.counter("jobs_ended_total", "Jobs that completed or failed", [
    "status",
    "operation",
    "provider",
  ]);
  private readonly jobSeconds = this.histogram(
    "job_seconds",
    "Time from a job's creation to its end",
    ["provider", "model", "status"],
    JOB_BUCKETS,
  );
  private readonly queueSeconds = this.histogram(
    "job_queue_seconds",
    "Time from a job's creation to its first attempt at a provider",
    ["provider"],
    JOB_BUCKETS,
  );
  private readonly renderSeconds = this.histogram(
    "render_seconds",
    "Time from the call of the provider to the result that a job completed with",
    ["provider", "model"],
    JOB_BUCKETS,
  );
  private readonly bought = this.counter("attempts_bought_total", "Attempts that a provider accepted", ["provider"]);
  private readonly delivered = this.counter("attempts_delivered_total", "Attempts that their job completed with", [
    "provider",
  ]);
  private readonly wasted = this.counter(
    "attempts_wasted_total",
    "Attempts that a provider accepted and that delivered nothing, by the reason",
    ["provider", "reason"],
  );
  private readonly calls = this.histogram("provider_call_seconds", "Time of a call of a provider's plugin", [
    "provider",
    "call",
  ]);
  private readonly callErrors = this.counter(
    "provider_errors_total",
    "Calls of a provider's plugin that failed, by the kind of failure",
    ["provider", "call", "kind"],
  );
  private readonly groupSizes = this.histogram(
    "lane_group_size",
    "Commands that a lane wrote in one transaction",
    ["lane"],
    GROUP_BUCKETS,
  );
  private readonly laneWaits = this.histogram("lane_wait_seconds", "Time that a command waited for its group", [
    "lane",
  ]);
  private readonly webhookTries = this.histogram(
    "webhook_try_seconds",
    "Time of one delivery attempt of a webhook, by its outcome",
    ["outcome"],
  );
  private readonly deliveries = this.counter(
    "webhook_deliveries_ended_total",
    "Webhook deliveries that will not be tried again, by their outcome",
    ["outcome"],
  );
  private readonly endpointWarnings = this.counter(
    "webhook_endpoint_warnings_total",
    "Warnings about webhook endpoints that have been failing for so many hours",
    ["failing_hours"],
  );
  private readonly endpointsDisabled = this.counter(
    "webhook_endpoints_disabled_total",
    "Webhook endpoints disabled by a 410 of the receiver, or for failing for days",
    ["by"],
  );
  private readonly droppedLogRows = this.counter(
    "request_log_dropped_total",
    "Rows of the request log that were given up: the storage took none for too long, or refused them",
    [],
  );

  /** @param options `processMetrics` adds memory, CPU, event loop and garbage collection of this process */
  constructor(
    private readonly logger: Logger,
    options: { readonly processMetrics: boolean },
  ) {
    this.contentType = this.registry.contentType;
    if (options.processMetrics) collectDefaultMetrics({ register: this.registry });
  }

  countRequest(
    request: { readonly method: string; readonly route: string; readonly status: number },
    seconds: number,
  ): void {
    this.requests.observe({ ...request }, seconds);
  }

  countJobEnded({ status, operation, provider, model, ...took }: CountedJob): void {
    this.jobs.inc({ status, operation, provider });
    this.jobSeconds.observe({ provider, model, status }, took.seconds);
    if (took.queueSeconds !== null) this.queueSeconds.observe({ provider }, took.queueSeconds);
    if (took.renderSeconds !== null) this.renderSeconds.observe({ provider, model }, took.renderSeconds);
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

  countProviderCall({ provider, call, error }: CountedCall, seconds: number): void {
    this.calls.observe({ provider, call }, seconds);
    if (error !== null) this.callErrors.inc({ provider, call, kind: error });
  }

  countGroup(lane: string, waitsSeconds: readonly number[]): void {
    this.groupSizes.observe({ lane }, waitsSeconds.length);
    for (const seconds of waitsSeconds) this.laneWaits.observe({ lane }, seconds);
  }

  countDeliveryAttempt(outcome: string, seconds: number): void {
    this.webhookTries.observe({ outcome }, seconds);
  }

  countDeliveryEnded(outcome: string): void {
    this.deliveries.inc({ outcome });
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
        // Without labels it is 0 after its reset.
        if (labels.length === 0) this.remove();
        try {
          const found = await read();
          if (typeof found === "number") this.set(found);
          else for (const sample of found) this.set({ ...sample.labels }, sample.value);
        } catch (error) {
          logger.warn("A gauge could not be read", { gauge: name, error });
        }
      },
    });
  }

  /** Everything counted so far, in the text format of Prometheus. */
  text(): Promise<string> {
    return this.registry.metrics();
  }

  private counter<Label extends string>(name: string, help: string, labelNames: readonly Label[]): Counter<Label> {
    return new Counter({ name: `fermata_${name}`, help, labelNames, registers: [this.registry] });
  }

  private histogram<Label extends string>(
    name: string,
    help: string,
    labelNames: readonly Label[],
    buckets: readonly number[] = SECONDS_BUCKETS,
  ): Histogram<Label> {
    return new Histogram({
      name: `fermata_${name}`,
      help,
      labelNames,
      buckets: [...buckets],
      registers: [this.registry],
    });
  }
}

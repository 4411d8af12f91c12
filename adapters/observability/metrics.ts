import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from "prom-client";
import type { Logger } from "../../core/ports/logger.js";
import type { GaugeDescription, GaugeReading, Metrics } from "../../core/ports/metrics.js";

/** Up to a minute: `Prefer: wait` lets a request take that long. */
const SECONDS_BUCKETS = [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

/** Keeps the figures for Prometheus, in a registry of its own: two apps in one process do not mix theirs. */
export class PrometheusMetrics implements Metrics {
  readonly contentType: string;
  private readonly registry = new Registry();
  private readonly requests: Histogram<"method" | "route" | "status">;
  private readonly jobs: Counter<"status" | "operation" | "provider">;

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
      help: "Time from the request's arrival to the end of its answer",
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
  }

  countRequest(request: { readonly method: string; readonly route: string; readonly status: number }, seconds: number): void {
    this.requests.observe({ ...request }, seconds);
  }

  countJobEnded(job: { readonly status: string; readonly operation: string; readonly provider: string }): void {
    this.jobs.inc({ ...job });
  }

  gauge(
    { name, help, labels = [] }: GaugeDescription,
    read: () => GaugeReading | Promise<GaugeReading>,
  ): void {
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

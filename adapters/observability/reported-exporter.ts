import type { ReadableSpan, SpanExporter } from "@opentelemetry/sdk-trace";
import type { Logger } from "../../core/ports/logger.js";

export interface ReportedExporterDeps {
  readonly logger: Logger;
  /** Without what may be secret. */
  readonly endpoint: string;
}

/** While the collector is away, the log says so this often. */
const REPORT_EVERY_MS = 60_000;

/** Writes to the log, now and then, how many spans another exporter has lost. */
export class ReportedExporter implements SpanExporter {
  private lost = 0;
  private reportedAt = -Infinity;

  constructor(
    private readonly exporter: SpanExporter,
    private readonly deps: ReportedExporterDeps,
  ) {}

  export(spans: ReadableSpan[], done: Parameters<SpanExporter["export"]>[1]): void {
    this.exporter.export(spans, (result) => {
      if (result.error !== undefined) this.report(spans.length, result.error);
      done(result);
    });
  }

  shutdown(): Promise<void> {
    return this.exporter.shutdown();
  }

  private report(spans: number, error: Error): void {
    this.lost += spans;
    if (performance.now() - this.reportedAt < REPORT_EVERY_MS) return;
    const { logger, endpoint } = this.deps;
    logger.warn("Traces could not be exported", { endpoint, spans: this.lost, reason: error.message });
    this.reportedAt = performance.now();
    this.lost = 0;
  }
}

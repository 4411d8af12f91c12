import type { TracerProvider as Provider } from "@opentelemetry/api";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { detectResources, envDetector, resourceFromAttributes } from "@opentelemetry/resources";
import {
  BatchSpanProcessor,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from "@opentelemetry/sdk-trace";
import type { Logger } from "../../core/ports/logger.js";
import { ReportedExporter } from "./reported-exporter.js";

export interface OtlpOptions {
  /** Where spans are posted to; one without a path gets that of the protocol, `/v1/traces`. */
  readonly endpoint: string;
  readonly headers: Readonly<Record<string, string>>;
  /** null: `OTEL_SERVICE_NAME`, else `fermata`. */
  readonly serviceName: string | null;
  /** Of Fermata. */
  readonly version: string;
  /** Which part of the traces that begin here is recorded, from 0 to 1; others are as their parent is. */
  readonly sampleRatio: number;
  readonly logger: Logger;
}

export interface OtlpProvider {
  readonly provider: Provider;
  /** Sends what has ended, for at most this time; what could not be sent is lost. Never rejects. */
  close(withinMs: number): Promise<void>;
}

const DEFAULT_NAME = "fermata";
const DEFAULT_PATH = "/v1/traces";
/** Of one batch with all its repetitions. */
const EXPORT_TIMEOUT_MS = 10_000;

/** Spans that ended wait here, 2,048 at most; more are dropped. They are sent every 5 s, and 512 at once. */
export function openOtlpProvider(options: OtlpOptions): OtlpProvider {
  const { sampleRatio, logger } = options;
  const url = new URL(options.endpoint);
  if (url.pathname === "/") url.pathname = DEFAULT_PATH;
  const exporter = new OTLPTraceExporter({
    url: url.href,
    headers: options.headers,
    timeoutMillis: EXPORT_TIMEOUT_MS,
  });
  const provider = new TracerProvider({
    resource: resourceOf(options),
    sampler: new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(sampleRatio) }),
    spanProcessors: [
      new BatchSpanProcessor({
        exporter: new ReportedExporter(exporter, { logger, endpoint: `${url.origin}${url.pathname}` }),
        exportTimeoutMillis: EXPORT_TIMEOUT_MS,
      }),
    ],
  });
  return { provider, close: (withinMs) => closeWithin(provider, withinMs) };
}

/** What the environment says of this process comes with each span: `OTEL_RESOURCE_ATTRIBUTES`, `OTEL_SERVICE_NAME`. */
function resourceOf({ serviceName, version }: OtlpOptions): ReturnType<typeof resourceFromAttributes> {
  const own = resourceFromAttributes({ "service.name": DEFAULT_NAME, "service.version": version });
  const ofEnvironment = own.merge(detectResources({ detectors: [envDetector] }));
  if (serviceName === null) return ofEnvironment;
  return ofEnvironment.merge(resourceFromAttributes({ "service.name": serviceName }));
}

async function closeWithin(provider: TracerProvider, withinMs: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise<void>((resolve) => (timer = setTimeout(resolve, withinMs)));
  // What could not be exported is in the log.
  await Promise.race([provider.shutdown().catch(() => undefined), over]);
  clearTimeout(timer);
}

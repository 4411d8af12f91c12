import type { TracerProvider } from "@opentelemetry/api";
import type { Logger } from "../core/ports/logger.js";
import type { Tracer } from "../core/ports/tracer.js";
import type { PortOverrides } from "./bindings/ports.js";
import type { Settings } from "./settings.js";
import { parseHeaders } from "./settings/tracing.js";
import { packageVersion } from "./version.js";

/** How long a stop waits for traces that are not sent yet. */
const FLUSH_MS = 2_000;

export interface OpenedTracer {
  /** null: nothing is traced. */
  readonly tracer: Tracer | null;
  /** Sends what has ended. */
  close(): Promise<void>;
}

export interface TracerHost {
  readonly logger: Logger;
  now(): number;
}

/** As the settings have it, or the app gives it. The libraries are loaded where something is traced. */
export async function openTracer(
  { tracing }: Settings,
  { tracer: given }: PortOverrides,
  { logger, now }: TracerHost,
): Promise<OpenedTracer> {
  // Who opened it closes it.
  if (given !== undefined) return { tracer: given, close: () => Promise.resolve() };
  if (tracing.useGlobal) {
    const { trace } = await import("@opentelemetry/api");
    return { tracer: await tracerOf(trace.getTracerProvider(), now), close: () => Promise.resolve() };
  }
  const { endpoint, serviceName, sampleRatio, headers } = tracing;
  if (endpoint === null) return { tracer: null, close: () => Promise.resolve() };
  const { openOtlpProvider } = await import("../adapters/observability/otlp-provider.js");
  const { provider, close } = openOtlpProvider({
    endpoint,
    headers: headers === null ? {} : (parseHeaders(headers) ?? {}),
    serviceName,
    sampleRatio,
    version: packageVersion(),
    logger,
  });
  return { tracer: await tracerOf(provider, now), close: () => close(FLUSH_MS) };
}

async function tracerOf(provider: TracerProvider, now: () => number): Promise<Tracer> {
  const { OpenTelemetryTracer } = await import("../adapters/observability/opentelemetry-tracer.js");
  return new OpenTelemetryTracer({ provider, version: packageVersion(), now });
}

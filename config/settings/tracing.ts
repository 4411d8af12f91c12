import { z } from "zod";
import { type Group, Leaf } from "./definition.js";
import * as kind from "./kinds.js";

const HEADER = /^\s*([!#$%&'*+.^_`|~0-9A-Za-z-]+)\s*=\s*([!-+\--~]*)\s*$/;

/** `authorization=Bearer%20x,x-tenant=a` as `OTEL_EXPORTER_OTLP_HEADERS` writes it; null when it is no such list. */
export function parseHeaders(text: string): Readonly<Record<string, string>> | null {
  const headers: Record<string, string> = {};
  for (const part of text.split(",")) {
    const [, name, encoded] = HEADER.exec(part) ?? [];
    const value = encoded === undefined ? null : decoded(encoded);
    if (name === undefined || value === null) return null;
    headers[name] = value;
  }
  return headers;
}

/** @returns null for what no header may hold */
function decoded(text: string): string | null {
  try {
    const value = decodeURIComponent(text);
    return /^[ -~]*$/.test(value) ? value : null;
  } catch {
    return null;
  }
}

const headers = new Leaf<string | null>({
  type: "text",
  allowed: "name=value, several separated by commas, values percent-encoded; or null for none",
  schema: z
    .string()
    .refine((text) => parseHeaders(text) !== null)
    .nullable(),
  fromText: (text) => (text === "" ? null : text),
  default: { of: () => null, text: "none" },
  description: "Headers for the collector, such as `authorization=Bearer%20…`",
  secret: true,
});

export const tracing = {
  endpoint: kind.optional(
    kind.webAddress({
      description:
        "Where traces go, by OTLP over HTTP: `http://127.0.0.1:4318`. Without a path it gets `/v1/traces`; none " +
        "traces nothing",
    }),
  ),
  headers,
  serviceName: kind.optional(
    kind.text({ description: "`service.name` of the traces" }),
    "`OTEL_SERVICE_NAME`, else `fermata`",
  ),
  sampleRatio: kind.number({
    default: 1,
    min: 0,
    max: 1,
    description: "Which part of the traces that begin here is recorded; those of callers are as `traceparent` says",
  }),
  useGlobal: kind.flag({
    default: false,
    description: "Whether traces go to the OpenTelemetry provider that the process has registered, instead",
  }),
  toProviders: kind.flag({
    default: false,
    description: "Whether calls of plugins carry `traceparent`, so that a provider of yours goes on with the trace",
  }),
} as const satisfies Group;

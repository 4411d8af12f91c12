import { SCOPES } from "../../core/ports/scopes.js";
import type { DefaultContext, Group } from "./definition.js";
import * as kind from "./kinds.js";

const MIB = 1024 * 1024;
const PORT_MAX = 65_535;

/** Connections, and what a request may hold of them. */
const limits = {
  maxConnections: kind.integer({
    default: 4_096,
    min: 1,
    unit: "connections",
    description: "Most connections open at once; further ones are closed unread",
  }),
  maxConnectionsPerNetwork: kind.integer({
    default: 512,
    min: 1,
    unit: "connections",
    description:
      "Most of them from one IPv4 address or IPv6 /64; further ones get a 429. " +
      "Proxies of `http.trustProxy` are not counted",
  }),
  maxPipelined: kind.integer({
    default: 16,
    min: 1,
    max: 1_000,
    unit: "requests",
    description: "Most requests of one connection without a complete response; with one more the connection closes",
  }),
  requestTimeoutSeconds: kind.duration({
    default: 20,
    max: 300,
    unit: "seconds",
    description: "How long a request may take to arrive; its headers at most 10 of them",
  }),
  maxWaitSeconds: kind.integer({
    // Proxies give a response up after 60 s, as nginx does by default.
    default: 55,
    min: 1,
    max: 600,
    unit: "seconds",
    description: "Longest wait of a request with `Prefer: wait`; one that asks for more waits this long",
  }),
  maxWaitsPerAccount: kind.integer({
    default: 100,
    min: 0,
    max: 10_000,
    unit: "requests",
    description:
      "Most requests with `Prefer: wait` that wait for their job at once for one account, in a process; others are " +
      "answered at once",
  }),
  maxJobStreamsPerAccount: kind.integer({
    default: 20,
    min: 1,
    max: 10_000,
    unit: "streams",
    description:
      "Most streams of `GET /api/v1/jobs/{id}/events`, and most calls of `/mcp`, open at once for one account, " +
      "in a process",
  }),
  stalledResponseSeconds: kind.duration({
    default: 60,
    max: 3_600,
    unit: "seconds",
    description: "How long a client may read nothing of a response before its connection is closed",
  }),
} as const satisfies Group;

export const http = {
  host: kind.text({ default: "127.0.0.1", allowed: "an address or host name", description: "Address to listen on" }),
  port: kind.integer({ default: 8_080, min: 0, max: PORT_MAX, description: "Port to listen on; 0 takes a free one" }),
  processes: kind.processes({
    default: 1,
    description: "How many processes serve the API at this port; `cores`: as many as the machine has cores",
  }),
  publicUrl: kind.optional(kind.webAddress({ description: "What URLs in responses begin with" }), "the listen address"),
  trustProxy: kind.trustProxy({
    default: false,
    description: "Whose `X-Forwarded-For` is believed: none, a number of hops, or these networks",
  }),
  webhookScope: kind.optional(kind.choice(SCOPES, { description: "Scope that a key needs for webhook endpoints" })),
  bodyLimitBytes: kind.integer({
    default: 256 * 1024,
    min: 1_024,
    max: 16 * MIB,
    unit: "bytes",
    description: "Largest request body",
  }),
  ...limits,
} as const satisfies Group;

/** How far from the port of the API that of the metrics is: two processes of one machine never want the same. */
const METRICS_PORT_DISTANCE = 1_000;

function metricsPort({ at }: DefaultContext): number {
  const port = at("http.port") as number;
  if (port === 0) return 0;
  return port + METRICS_PORT_DISTANCE <= PORT_MAX ? port + METRICS_PORT_DISTANCE : port - METRICS_PORT_DISTANCE;
}

export const metrics = {
  enabled: kind.flag({ default: true, description: "Whether `GET /metrics` is served" }),
  host: kind.text({
    default: "127.0.0.1",
    allowed: "an address or host name",
    description: "Address to listen on for `GET /metrics`",
  }),
  port: kind.optional(
    kind.integer({
      min: 0,
      max: PORT_MAX,
      description: "First port to try for `GET /metrics`; 0 takes any free one, none serves it at the port of the API",
    }),
    "`http.port` + 1000; 0 with `http.port` 0",
    metricsPort,
  ),
} as const satisfies Group;

export const studio = {
  enabled: kind.flag({
    default: kind.workedOut("as `demo.enabled`", ({ at }) => at("demo.enabled") as boolean),
    description: "Whether the studio is served at `/`: a page to make music with, for those who have a key",
  }),
} as const satisfies Group;

export const mcp = {
  enabled: kind.flag({
    default: true,
    description: "Whether `/mcp` serves the API to MCP clients, with the same keys and limits",
  }),
  confirmAbove: kind.integer({
    default: 100,
    min: 0,
    unit: "credits",
    description: "A call of an MCP client that costs more asks the user first",
  }),
} as const satisfies Group;

export const admin = {
  token: kind.secret({
    lengthMin: 32,
    description: "A token of an owner for the admin API, which is then served at `/admin/v1`",
  }),
  console: kind.flag({
    default: true,
    description: "Whether the console is served at `/console`, next to the admin API",
  }),
  host: kind.text({
    default: "127.0.0.1",
    allowed: "an address or host name",
    description: "Address to listen on for the admin API, where `admin.port` is set",
  }),
  port: kind.optional(
    kind.integer({
      min: 0,
      max: PORT_MAX,
      description: "Port of its own for the admin API; 0 takes a free one. Tokens: `fermata admin-tokens issue`",
    }),
  ),
} as const satisfies Group;

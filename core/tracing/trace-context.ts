import type { TraceContext } from "../ports/tracer.js";

const TRACEPARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const NO_TRACE = "0".repeat(32);
const NO_SPAN = "0".repeat(16);
const INVALID_VERSION = "ff";
const SAMPLED = 1;

const STATE_MAX_LENGTH = 512;
const STATE_MEMBERS_MAX = 32;
const STATE_KEY = "(?:[a-z][a-z0-9_\\-*/]{0,255}|[a-z0-9][a-z0-9_\\-*/]{0,240}@[a-z][a-z0-9_\\-*/]{0,13})";
const STATE_MEMBER = new RegExp(`^${STATE_KEY}=[ -+\\--<>-~]{0,255}[!-+\\--<>-~]$`);

/**
 * The context that a caller's headers name; null when there is none, or it is malformed. A malformed `tracestate` is
 * left out.
 *
 * @see W3C Trace Context, 3.2 and 3.3
 */
export function parseTraceContext(traceparent: unknown, tracestate: unknown): TraceContext | null {
  const parts = typeof traceparent === "string" ? TRACEPARENT.exec(traceparent.trim()) : null;
  if (parts === null) return null;
  const [, version = "", traceId = "", spanId = "", flags = "", rest] = parts;
  // What later versions add is behind what this one knows.
  if (version === INVALID_VERSION || (version === "00" && rest !== undefined)) return null;
  if (traceId === NO_TRACE || spanId === NO_SPAN) return null;
  return {
    traceparent: formatTraceparent(traceId, spanId, Number.parseInt(flags, 16)),
    tracestate: stateOf(tracestate),
  };
}

/** Of the flags only the one that says whether the trace is recorded is sent on. */
export function formatTraceparent(traceId: string, spanId: string, flags: number): string {
  return `00-${traceId}-${spanId}-${(flags & SAMPLED) === 0 ? "00" : "01"}`;
}

/** The trace of a context, as log lines show it. */
export function traceIdOf({ traceparent }: TraceContext): string {
  return traceparent.slice(3, 35);
}

/** The span of a context, as log lines show it. */
export function spanIdOf({ traceparent }: TraceContext): string {
  return traceparent.slice(36, 52);
}

function stateOf(tracestate: unknown): string | null {
  if (typeof tracestate !== "string") return null;
  const members = tracestate.split(",").flatMap((member) => (member.trim() === "" ? [] : [member.trim()]));
  const state = members.join(",");
  if (members.length === 0 || members.length > STATE_MEMBERS_MAX || state.length > STATE_MAX_LENGTH) return null;
  return members.every((member) => STATE_MEMBER.test(member)) ? state : null;
}

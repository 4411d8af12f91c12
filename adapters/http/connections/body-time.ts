import type { IncomingMessage } from "node:http";

const LIMIT = Symbol("fermata.bodyTime");

interface Limit {
  timeoutMs: number;
  readonly onLate: OnLateBody;
  /** null while the body is not known to take longer than a turn of the event loop. */
  timer: NodeJS.Timeout | null;
}

interface Limited extends IncomingMessage {
  [LIMIT]?: Limit;
}

export type OnLateBody = (request: IncomingMessage) => void;

let begun: Limited[] = [];

/**
 * Calls back when a request's body has not arrived within this time. Node's own limit is one for all requests of a
 * server: that of the slowest kind.
 */
export function limitBodyTime(request: IncomingMessage, timeoutMs: number, onLate: OnLateBody): void {
  const { headers } = request;
  const hasBody = headers["transfer-encoding"] !== undefined || (headers["content-length"] ?? "0") !== "0";
  if (!hasBody) return;
  (request as Limited)[LIMIT] = { timeoutMs, onLate, timer: null };
  // Nearly every body comes in the packet of its headers, and is complete by then: it needs no timer.
  if (begun.push(request) === 1) setImmediate(watchBegun);
}

/** Gives a body another limit, from now on. Does nothing where no limit was set, as on the server of another app. */
export function resetBodyTime(request: IncomingMessage, timeoutMs: number): void {
  const limit = (request as Limited)[LIMIT];
  if (limit === undefined) return;
  limit.timeoutMs = timeoutMs;
  if (limit.timer === null) return;
  clearTimeout(limit.timer);
  watch(request);
}

function watchBegun(): void {
  const requests = begun;
  begun = [];
  for (const request of requests) {
    watch(request);
    // It closes as soon as its body has been read or dropped.
    if (request[LIMIT]?.timer) request.once("close", stopWatching);
  }
}

function watch(request: Limited): void {
  const limit = request[LIMIT];
  if (limit === undefined || request.complete || request.destroyed) return;
  limit.timer = setTimeout(limit.onLate, limit.timeoutMs, request);
}

function stopWatching(this: Limited): void {
  clearTimeout(this[LIMIT]?.timer ?? undefined);
}

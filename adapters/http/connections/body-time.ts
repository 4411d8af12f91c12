import type { IncomingMessage } from "node:http";

const TIMER = Symbol("fermata.bodyTimer");

interface WithTimer extends IncomingMessage {
  [TIMER]?: { readonly onLate: () => void; timer: NodeJS.Timeout };
}

/**
 * Calls back when a request's body has not arrived within this time. Node's own limit is one for all requests of a
 * server: that of the slowest kind.
 */
export function limitBodyTime(request: IncomingMessage, timeoutMs: number, onLate: () => void): void {
  const { headers } = request;
  const hasBody = headers["transfer-encoding"] !== undefined || (headers["content-length"] ?? "0") !== "0";
  if (!hasBody) return;
  (request as WithTimer)[TIMER] = { onLate, timer: setTimeout(onLate, timeoutMs) };
  const clear = (): void => clearTimeout((request as WithTimer)[TIMER]?.timer);
  request.once("end", clear);
  request.once("close", clear);
}

/** Gives a body another limit, from now on. Does nothing where no limit was set, as on the server of another app. */
export function resetBodyTime(request: IncomingMessage, timeoutMs: number): void {
  const set = (request as WithTimer)[TIMER];
  if (set === undefined) return;
  clearTimeout(set.timer);
  if (!request.complete && !request.destroyed) set.timer = setTimeout(set.onLate, timeoutMs);
}

import type { Request } from "express";
import type { RequestId } from "../../core/ids.js";
import type { Span, Tracer } from "../../core/ports/tracer.js";
import { parseTraceContext } from "../../core/tracing/trace-context.js";

/** Asked all the time by machines that watch the process; not traced. */
const PROBES: ReadonlySet<string> = new Set(["/healthz", "/readyz", "/metrics"]);

/** Others have one name, so that nothing a caller makes up is in a trace. */
const METHODS: ReadonlySet<string> = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);
const OTHER_METHOD = "_OTHER";

const SERVER_ERROR = 500;

/**
 * The span of a request, a part of the trace that its `traceparent` names; null for one that is not traced. Neither its
 * address nor a header is in it: paths and queries hold signatures, and whatever callers take for an id.
 *
 * @see OpenTelemetry, semantic conventions for HTTP server spans
 */
export function startRequestSpan(tracer: Tracer, request: Request, requestId: RequestId): Span | null {
  if (PROBES.has(request.url)) return null;
  const { traceparent, tracestate } = request.headers;
  const method = methodOf(request);
  return tracer.start({
    name: method,
    kind: "server",
    // In the app that it is mounted in, the request may be traced already.
    parent: tracer.current() ?? parseTraceContext(traceparent, tracestate),
    attributes: {
      "http.request.method": method,
      "url.scheme": request.protocol,
      "network.protocol.version": request.httpVersion,
      "fermata.request.id": requestId,
    },
  });
}

/** What came of a request. */
export interface RequestEnd {
  readonly route: string;
  readonly status: number;
  readonly errorCode: string | null;
  readonly accountId: string | null;
  readonly jobId: string | null;
}

/** Ends the span of a request. An error of the caller is none of the service. */
export function endRequestSpan(span: Span, request: Request, end: RequestEnd): void {
  const { route, status, errorCode, accountId, jobId } = end;
  if (route !== "unmatched") {
    span.rename(`${methodOf(request)} ${route}`);
    span.set({ "http.route": route });
  }
  span.set({
    "http.response.status_code": status,
    "fermata.error.code": errorCode,
    "fermata.account.id": accountId,
    "fermata.job.id": jobId,
  });
  if (status >= SERVER_ERROR) span.fail(errorCode ?? String(status));
  span.end();
}

function methodOf({ method }: Request): string {
  return METHODS.has(method) ? method : OTHER_METHOD;
}

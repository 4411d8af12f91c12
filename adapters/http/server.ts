import http from "node:http";
import express, { type Express } from "express";
import { InvalidRequestError } from "../../core/errors.js";
import { sendClientError } from "./client-error.js";
import { refuseConnection } from "./connections/close.js";
import { limitBodyTime } from "./connections/body-time.js";
import { Connections, type RefusedConnection } from "./connections/connections.js";
import type { Lifecycle } from "./lifecycle.js";
import { begin } from "./middleware/begin.js";
import { handleError } from "./middleware/handle-error.js";
import type { HttpDeps } from "./deps.js";

/** Of the time that a request has to arrive as a whole; waits for a job come after that and do not count. */
const HEADERS_TIMEOUT_MAX_MS = 10_000;
/** How often Node looks for requests that are late: its own 30 s would let them stay twice as long. */
const TIMEOUT_CHECK_MAX_MS = 2_000;
/** Longer than the idle time of the usual proxies, so that it is they who close a connection. */
const KEEP_ALIVE_TIMEOUT_MS = 65_000;

/** A server that serves `router` alone. */
export function createServer(router: express.Router, deps: HttpDeps, lifecycle: Lifecycle): http.Server {
  const app = express();
  app.disable("x-powered-by");
  app.set("trust proxy", deps.settings.trustProxy);
  const beginRequest = begin(deps, lifecycle);
  const connections = connectionsOf(app, deps, lifecycle);
  const { connections: limits, uploads } = deps.settings;
  const { requestTimeoutMs } = limits;

  const onLateBody = ({ socket }: http.IncomingMessage): void => void server.emit("clientError", lateRequest(), socket);
  const server = http.createServer(
    {
      ...expressClasses(app),
      requestTimeout: Math.max(requestTimeoutMs, uploads.timeoutMs),
      headersTimeout: Math.min(HEADERS_TIMEOUT_MAX_MS, requestTimeoutMs),
      connectionsCheckingInterval: Math.min(TIMEOUT_CHECK_MAX_MS, requestTimeoutMs),
      keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
      requireHostHeader: false, // refused below, in our own words
    },
    (incoming, outgoing) => {
      if (!connections.admits(incoming)) return;
      limitBodyTime(incoming, requestTimeoutMs, onLateBody);
      const [request, response] = [incoming as express.Request, outgoing as express.Response];
      const refuse = (error: Error): void =>
        void beginRequest(request, response, () => void handleError(error, request, response, () => undefined));
      const issue = framingIssue(request);
      if (issue !== null) {
        // What follows on this connection may be part of a request that a proxy read otherwise.
        response.setHeader("Connection", "close");
        refuse(new InvalidRequestError([issue]));
      } else {
        // As Express does before its router, which this one need not be found by.
        request.res = response;
        // The router gives up only on an address that it cannot read.
        router(request, response, () =>
          refuse(new InvalidRequestError([{ path: "path", message: "must be a valid address" }])),
        );
      }
    },
  );
  connections.attach(server);
  server.on("clientError", (error: NodeJS.ErrnoException, socket) =>
    sendClientError(error, socket, deps.ids.next("req")),
  );
  // Without a listener Node closes the connection without a response.
  server.on("connect", (_request, socket) => {
    const error = { code: "invalid_request", message: "This server is no proxy: CONNECT is not served." } as const;
    // Node has let go of the socket: a reset would end the process.
    socket.on("error", () => socket.destroy());
    refuseConnection(socket, "400 Bad Request", error, deps.ids.next("req"));
  });
  // RFC 9110, section 10.1.1: an expectation other than 100-continue may be passed over.
  server.on("checkExpectation", (request, response) => server.emit("request", request, response));
  return server;
}

/** As Node itself reports a request that is late. */
function lateRequest(): NodeJS.ErrnoException {
  return Object.assign(new Error("The request did not arrive in time."), { code: "ERR_HTTP_REQUEST_TIMEOUT" });
}

/** RFC 3986, section 3.2.2, without the comma, which joins several hosts into one header. */
const HOST = /^(?:\[[\da-f:.]+\]|(?:[\w.~!$&'()*+;=-]|%[\da-f]{2})*)(?::\d*)?$/i;

/**
 * RFC 9112, section 3.2: a request has one Host, or it is refused. Node keeps the first of several, and a proxy in
 * front may have gone by another.
 */
function issueWithHost({ headers, httpVersion, rawHeaders }: http.IncomingMessage): string | null {
  if (headers.host === undefined) return httpVersion === "1.1" ? "is required" : null;
  let hosts = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] as string;
    if (name.length === 4 && name.toLowerCase() === "host") hosts++;
  }
  if (hosts > 1) return "must be given once";
  return HOST.test(headers.host) ? null : "must be a host, with a port or without";
}

/** RFC 9112, section 6.1: the chunks of an HTTP/1.0 message are faulty framing, which a proxy may read otherwise. */
function framingIssue(request: http.IncomingMessage): { readonly path: string; readonly message: string } | null {
  const message = issueWithHost(request);
  if (message !== null) return { path: "header.Host", message };
  return request.httpVersion === "1.0" && request.headers["transfer-encoding"] !== undefined
    ? { path: "header.Transfer-Encoding", message: "needs HTTP/1.1" }
    : null;
}

const REFUSALS_LOGGED_EVERY_MS = 60_000;

/** What refused a connection, and which setting changes it. */
const REFUSAL_REASONS: Readonly<Record<RefusedConnection, string>> = {
  too_many_connections: "http.maxConnections are open",
  too_many_connections_of_network: "http.maxConnectionsPerNetwork of one network are open",
  too_many_pipelined: "http.maxPipelined requests of one connection have no complete response",
};

function connectionsOf(app: Express, { settings, ids, clock, logger }: HttpDeps, lifecycle: Lifecycle): Connections {
  const trusts = app.get("trust proxy fn") as (address: string, hop: number) => boolean;
  const loggedAt = new Map<RefusedConnection, number>();
  return new Connections({
    limits: settings.connections,
    lifecycle,
    isTrustedProxy: (address) => trusts(address, 0),
    nextRequestId: () => ids.next("req"),
    onRefused: (reason, network) => {
      // A line for each would let an attacker who floods the server flood its log too.
      const now = clock.now();
      if (now - (loggedAt.get(reason) ?? -Infinity) < REFUSALS_LOGGED_EVERY_MS) return;
      loggedAt.set(reason, now);
      logger.warn(`Connections are closed: ${REFUSAL_REASONS[reason]}`, { network });
    },
  });
}

/**
 * Request and response classes that already have the prototypes of `app`. Express sets them on every request otherwise,
 * which takes most of its time on Node 20.
 */
function expressClasses(app: Express): Pick<http.ServerOptions, "IncomingMessage" | "ServerResponse"> {
  class Request extends http.IncomingMessage {}
  class Response extends http.ServerResponse {}
  Object.setPrototypeOf(Request.prototype, app.request);
  Object.setPrototypeOf(Response.prototype, app.response);
  app.request = Request.prototype as Express["request"];
  app.response = Response.prototype as unknown as Express["response"];
  return { IncomingMessage: Request, ServerResponse: Response } as Pick<
    http.ServerOptions,
    "IncomingMessage" | "ServerResponse"
  >;
}

import http from "node:http";
import type { AddressInfo } from "node:net";
import express, { type Express } from "express";
import { InvalidRequestError } from "../../core/errors.js";
import { answerClientError } from "./client-error.js";
import type { Lifecycle } from "./lifecycle.js";
import { begin } from "./middleware/begin.js";
import { handleError } from "./middleware/handle-error.js";
import type { HttpParts } from "./parts.js";

/** A request has this long to arrive as a whole; waits for a job come after that and do not count. */
const REQUEST_TIMEOUT_MS = 30_000;
const HEADERS_TIMEOUT_MS = 15_000;
/** Longer than the idle time of the usual proxies, so that it is they who close a connection. */
const KEEP_ALIVE_TIMEOUT_MS = 65_000;

/** A server that serves `router` alone. */
export function createServer(router: express.Router, parts: HttpParts, lifecycle: Lifecycle): http.Server {
  const app = express();
  app.disable("x-powered-by");
  app.set("trust proxy", parts.settings.trustProxy);
  app.use(router);
  const beginRequest = begin(parts, lifecycle);

  const server = http.createServer(
    {
      ...expressClasses(app),
      requestTimeout: REQUEST_TIMEOUT_MS,
      headersTimeout: HEADERS_TIMEOUT_MS,
      keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
      requireHostHeader: false, // refused below, in our own words
    },
    (incoming, outgoing) => {
      const [request, response] = [incoming as express.Request, outgoing as express.Response];
      const refuse = (error: Error): void =>
        void beginRequest(request, response, () => void handleError(error, request, response, () => undefined));
      const lacksHost = request.headers.host === undefined && request.httpVersion === "1.1";
      if (lacksHost) refuse(new InvalidRequestError([{ path: "header.Host", message: "is required" }]));
      // The router gives up only on an address that it cannot read.
      else app(request, response, () => refuse(new InvalidRequestError([{ path: "path", message: "must be a valid address" }])));
    },
  );
  server.on("clientError", (error: NodeJS.ErrnoException, socket) => answerClientError(error, socket, parts.ids.next("req")));
  // RFC 9110, section 10.1.1: an expectation other than 100-continue may be passed over.
  server.on("checkExpectation", (request, response) => server.emit("request", request, response));
  return server;
}

/**
 * Request and response classes that already have the prototypes of `app`. Express sets them on every request otherwise, which takes most of
 * its time on Node 20.
 */
function expressClasses(app: Express): Pick<http.ServerOptions, "IncomingMessage" | "ServerResponse"> {
  class Request extends http.IncomingMessage {}
  class Response extends http.ServerResponse {}
  Object.setPrototypeOf(Request.prototype, app.request);
  Object.setPrototypeOf(Response.prototype, app.response);
  app.request = Request.prototype as Express["request"];
  app.response = Response.prototype as unknown as Express["response"];
  return { IncomingMessage: Request, ServerResponse: Response } as Pick<http.ServerOptions, "IncomingMessage" | "ServerResponse">;
}

/** @throws {Error} naming the address and why it cannot be had */
export function listen(server: http.Server, host: string, port: number): Promise<{ readonly url: string }> {
  return new Promise((resolve, reject) => {
    const fail = (cause: NodeJS.ErrnoException): void => reject(new Error(listenMessage(host, port, cause), { cause }));
    server.once("error", fail);
    server.listen(port, host, () => {
      server.off("error", fail);
      resolve({ url: urlOf(host, (server.address() as AddressInfo).port) });
    });
  });
}

const LISTEN_FAILURES: Readonly<Record<string, string>> = {
  EADDRINUSE: "the port is in use",
  EADDRNOTAVAIL: "this machine does not have the address",
  EACCES: "the port needs more rights",
  ENOTFOUND: "the name is not known",
};

function listenMessage(host: string, port: number, { code = "", message }: NodeJS.ErrnoException): string {
  return `Cannot listen on ${host}:${port} (http.host, http.port): ${LISTEN_FAILURES[code] ?? message}.`;
}

/** An address that a client on this machine can use: a server on all addresses is reached by the loopback one. */
function urlOf(host: string, port: number): string {
  const reachable = host === "0.0.0.0" ? "127.0.0.1" : host === "::" ? "::1" : host;
  return `http://${reachable.includes(":") ? `[${reachable}]` : reachable}:${port}`;
}

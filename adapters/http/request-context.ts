import type { IncomingMessage } from "node:http";
import type { Request, Response } from "express";
import type { Account } from "../../core/ports/account.js";
import { assert } from "../../core/assert.js";
import type { Caller } from "../../core/accounts/authenticate.js";
import type { ErrorCode } from "../../core/error-codes.js";
import { CLIENT_MAX_LENGTH } from "../../core/generations/request-rules.js";
import type { JobId, RequestId } from "../../core/ids.js";
import type { Span, Tracer } from "../../core/ports/tracer.js";
import type { Allowance } from "../../core/rate-limits/limits.js";
import { FermataError } from "../../core/errors.js";
import { STATUS_BY_CODE } from "./errors.js";
import type { Lifecycle } from "./lifecycle.js";
import type { HttpDeps } from "./deps.js";
import { endRequestSpan, startRequestSpan } from "./request-span.js";

const REQUEST_CONTEXT = Symbol("fermata.exchange");

interface WithRequestContext {
  [REQUEST_CONTEXT]?: RequestContext;
}

/** The status noted for a request whose client went away unanswered; it is never sent. */
const CLIENT_WENT_AWAY = 499;

/** Shorter than a second together with what a lookup may have kept: the app is not asked for every event. */
const AUTHORIZED_MS = 50;
const REFUSED: ReadonlySet<number> = new Set([401, 403]);

/** One request and its response, with what this adapter records of them. */
export class RequestContext {
  readonly requestId: RequestId;
  readonly startedAt: number;
  /** Who asks; null until authenticated. */
  caller: Caller | null = null;
  /** Throws what a request would be refused with now; none until authenticated. */
  authorizeAgain: (() => Promise<void>) | null = null;
  /** The allowance that the response's headers show; null until authenticated. */
  allowance: Allowance | null = null;
  path = "";
  errorCode: ErrorCode | null = null;
  jobId: JobId | null = null;
  client: string | null = null;
  /** Bytes of the body that were read; null when none was. */
  bytesRead: number | null = null;
  bytesSent = 0;
  private span: Span | null = null;
  private authorizedAt = -Infinity;

  constructor(
    readonly deps: HttpDeps,
    readonly lifecycle: Lifecycle,
    private readonly request: Request,
    private readonly response: Response,
  ) {
    this.requestId = deps.ids.next("req");
    this.startedAt = deps.clock.now();
    (request as WithRequestContext)[REQUEST_CONTEXT] = this;
  }

  /** The account that asks, behind authentication. */
  get account(): Account {
    assert(this.caller !== null, "a controller runs behind authentication");
    return this.caller.account;
  }

  get clientIsGone(): boolean {
    return this.response.destroyed;
  }

  /**
   * Whether the caller may still do what was asked: the key may be revoked, or the account suspended, meanwhile.
   * What is known of a key is less than a second old.
   *
   * @throws {ServiceUnavailableError} the storage cannot be read
   */
  async isStillAuthorized(): Promise<boolean> {
    const now = this.deps.clock.now();
    if (now >= this.authorizedAt && now < this.authorizedAt + AUTHORIZED_MS) return true;
    try {
      await this.authorizeAgain?.();
      this.authorizedAt = now;
      return true;
    } catch (error) {
      if (FermataError.is(error) && REFUSED.has(STATUS_BY_CODE[error.code])) return false;
      throw error;
    }
  }

  /** Aborts when the client is gone or the server stops. */
  noRequestWaits(): AbortSignal {
    const gone = new AbortController();
    this.response.once("close", () => gone.abort());
    if (this.clientIsGone) gone.abort();
    return AbortSignal.any([gone.signal, this.lifecycle.stopping]);
  }

  /** Runs what responds to the request in its span. */
  within(tracer: Tracer, work: () => void): void {
    this.span = startRequestSpan(tracer, this.request, this.requestId);
    if (this.span === null) work();
    else tracer.within(this.span, work);
  }

  /** Counts and reports the request; called once, when its response has ended. */
  end(): void {
    try {
      const { span, deps } = this;
      if (span === null || deps.tracer === undefined) this.report();
      else deps.tracer.within(span, () => this.report());
    } catch (error) {
      this.deps.logger.error("A request could not be reported", { request_id: this.requestId, error });
    }
  }

  private log(route: string, status: number, seconds: number): void {
    const { request, caller, errorCode, jobId } = this;
    this.deps.logger.debug("A request has ended", {
      request_id: this.requestId,
      method: request.method,
      path: shownPathOf(request),
      route,
      status,
      seconds,
      ...(errorCode === null ? {} : { code: errorCode }),
      ...(caller === null ? {} : { account_id: caller.account.id }),
      ...(jobId === null ? {} : { job_id: jobId }),
    });
  }

  private endSpan(route: string, status: number): void {
    const { span, request, errorCode, jobId, caller } = this;
    if (span === null) return;
    endRequestSpan(span, request, { route, status, errorCode, accountId: caller?.account.id ?? null, jobId });
  }

  private report(): void {
    const { deps, request, response } = this;
    const status = response.headersSent ? response.statusCode : CLIENT_WENT_AWAY;
    const route = routeOf(request);
    const seconds = (deps.clock.now() - this.startedAt) / 1000;
    deps.metrics?.countRequest({ method: request.method, route, status }, seconds);
    if (deps.logger.isDebugEnabled !== false) this.log(route, status, seconds);
    this.endSpan(route, status);
    if (this.caller === null || deps.onCompleted === undefined) return;
    deps.onCompleted({
      requestId: this.requestId,
      accountId: this.caller.account.id,
      method: request.method,
      path: this.path,
      route,
      status,
      errorCode: this.errorCode,
      requestBytes: this.bytesRead ?? declaredBytes(request),
      responseBytes: this.bytesSent,
      jobId: this.jobId,
      client: this.client,
      startedAt: this.startedAt,
    });
  }
}

/** The exchange that the router began with this request. */
export function contextOf(request: IncomingMessage): RequestContext {
  const context = (request as WithRequestContext)[REQUEST_CONTEXT];
  if (context === undefined) throw new Error("The request did not come through the router of createHttp.");
  return context;
}

/** A label as it is noted: cut to what the API allows, and none when it is empty. */
export function clientLabel(label: string): string | null {
  if (label === "") return null;
  return label.length <= CLIENT_MAX_LENGTH ? label : [...label].slice(0, CLIENT_MAX_LENGTH).join("");
}

/**
 * Without the query, which may hold a signature, and without the secrets that some paths end with: readers of the log
 * may not open a shared page or report for a provider. Express's own `request.path` throws on an address that is none,
 * and its `originalUrl` is missing for a request that was refused before the router.
 */
export function shownPathOf(request: Request): string {
  const url = (request.originalUrl as string | undefined) ?? request.url;
  const end = url.indexOf("?");
  const path = end === -1 ? url : url.slice(0, end);
  return path.replace(/(\/share\/).+$/, "$1***").replace(/(\/callbacks\/(?:.*\/)?)[^/]+\/?$/, "$1***");
}

const templates = new Map<string, string>();

/** The template of the route that took the request, as API descriptions write it; `unmatched` when none did. */
function routeOf(request: Request): string {
  const path = (request.route as { readonly path: string } | undefined)?.path;
  if (path === undefined) return "unmatched";
  let template = templates.get(path);
  if (template === undefined) templates.set(path, (template = path.replace(/[:*](\w+)/g, "{$1}")));
  return template;
}

function declaredBytes(request: Request): number | null {
  const length = request.headers["content-length"];
  return length === undefined ? null : Number(length);
}

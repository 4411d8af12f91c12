import type { Socket } from "node:net";
import type { Clock } from "../../../core/ports/clock.js";
import type { TraceContext } from "../../../core/ports/tracer.js";
import type {
  WebhookFailure,
  WebhookMessage,
  WebhookPhases,
  WebhookResult,
  WebhookSender,
} from "../../../core/ports/webhook-sender.js";
import { excerptOf, failureOf, refusalOf, retryAfterMs } from "./response.js";
import { Connection, KeptConnections } from "./connections.js";
import { type Deadline, Deadlines } from "./deadline.js";
import { type PostResult, post, type Request } from "./post.js";
import { postFailure, isGone } from "./post-failure.js";
import { signedHeaders } from "./signature.js";

type ConnectPhases = Pick<WebhookPhases, "dnsMs" | "connectMs" | "tlsMs">;

/** Opens connections to places that may be connected to, and to no others. */
export interface Connector {
  connect(target: {
    readonly hostname: string;
    readonly port: number;
    readonly secure: boolean;
    readonly timeoutMs: number;
    readonly signal: AbortSignal;
  }): Promise<
    | { readonly socket: Socket; readonly phases: ConnectPhases }
    | {
        readonly socket: null;
        readonly failure: "dns" | "blocked_address" | "connect" | "tls";
        readonly message: string;
        readonly phases: ConnectPhases;
      }
  >;
}

export interface WebhookSenderDeps {
  readonly connector: Connector;
  readonly clock: Clock;
  /** Of Fermata, for `User-Agent`. */
  readonly version: string;
  /** Timeout of one delivery attempt, from the DNS query to the end of the response. Default 15 s. */
  readonly timeoutMs?: number;
  /** The part of it that may pass until there is a connection. Default 5 s. */
  readonly connectTimeoutMs?: number;
  /** Whether URLs may be plain http. */
  readonly allowHttp?: boolean;
}

const NO_PHASES: ConnectPhases = { dnsMs: null, connectMs: null, tlsMs: null };

const DEFAULT_PORTS: Readonly<Record<string, number>> = { "https:": 443, "http:": 80 };

/** URLs whose parts are remembered: reading one takes a tenth of what a delivery takes. */
const TARGETS_MAX = 1_000;

/** The parts of a URL. */
interface Target {
  readonly protocol: string;
  readonly origin: string;
  readonly hostname: string;
  readonly host: string;
  readonly port: number;
  readonly path: string;
}

/**
 * Sends over HTTP/1.1 on connections that it keeps for a while; which addresses they go to is the connector's business.
 */
export class HttpsWebhookSender implements WebhookSender {
  private readonly connector: Connector;
  private readonly clock: Clock;
  private readonly userAgent: string;
  private readonly timeoutMs: number;
  private readonly connectTimeoutMs: number;
  private readonly allowHttp: boolean;
  private readonly kept = new KeptConnections();
  private readonly targets = new Map<string, Target>();
  private readonly deadlines = new Deadlines();
  private isClosed = false;

  constructor({
    connector,
    clock,
    version,
    timeoutMs = 15_000,
    connectTimeoutMs = 5_000,
    allowHttp = false,
  }: WebhookSenderDeps) {
    this.connector = connector;
    this.clock = clock;
    this.userAgent = `Fermata-Webhooks/${version}`;
    this.timeoutMs = timeoutMs;
    this.connectTimeoutMs = Math.min(connectTimeoutMs, timeoutMs);
    this.allowHttp = allowHttp;
  }

  async send(message: WebhookMessage, signal: AbortSignal): Promise<WebhookResult> {
    const deadline = this.deadlines.begin(this.timeoutMs, signal);
    try {
      if (this.isClosed) deadline.abort("the sender is closed");
      return await this.try(message, deadline);
    } catch (error) {
      // A message that cannot be sent fails alone, without the caller's other messages.
      return failed(
        "protocol",
        `The message could not be sent: ${error instanceof Error ? error.message : String(error)}.`,
        deadline,
        NO_PHASES,
      );
    } finally {
      this.deadlines.end(deadline);
    }
  }

  async close(): Promise<void> {
    this.isClosed = true;
    this.deadlines.abortAll("the sender is closed");
    this.kept.close();
  }

  private async try(message: WebhookMessage, deadline: Deadline): Promise<WebhookResult> {
    const target = this.targetOf(message.url);
    if (target === null) return failed("blocked_address", "The URL cannot be read.", deadline, NO_PHASES);
    const problem = this.problemOf(target, message);
    if (problem !== null) return failed("blocked_address", problem, deadline, NO_PHASES);
    const request: Request = {
      path: target.path,
      headers: {
        "content-type": "application/json",
        "user-agent": this.userAgent,
        ...signedHeaders(message),
        ...traceHeaders(message.trace),
      },
      body: message.body,
    };
    const kept = this.kept.take(target.origin);
    if (kept !== null) {
      const response = await this.postWebhook(kept, request, deadline);
      // The receiver may end a connection just when it is used again. The same message goes out on a new one, within
      // the same time.
      if (!isGone(response) || deadline.isOver) return this.resultOf(response, deadline, NO_PHASES);
    }
    const open = await Connection.opener();
    const begunMs = deadline.passedMs;
    const connected = await this.connector.connect({
      hostname: target.hostname,
      port: target.port,
      secure: target.protocol === "https:",
      timeoutMs: this.connectTimeoutMs,
      signal: deadline.signal(),
    });
    const phases = later(connected.phases, begunMs);
    if (deadline.isOver) {
      connected.socket?.destroy();
      return failed("timeout", `No connection to ${target.host}: ${deadline.reason}.`, deadline, phases);
    }
    if (connected.socket === null)
      return failed(connected.failure, `No connection: ${connected.message}.`, deadline, phases);
    return this.resultOf(
      await this.postWebhook(open(target.origin, connected.socket), request, deadline),
      deadline,
      phases,
    );
  }

  /** null: it is no URL */
  private targetOf(text: string): Target | null {
    const known = this.targets.get(text);
    if (known !== undefined) return known;
    if (!URL.canParse(text)) return null;
    const { protocol, origin, hostname, host, port, pathname, search } = new URL(text);
    const portNumber = port === "" ? (DEFAULT_PORTS[protocol] ?? 0) : Number(port);
    const target = { protocol, origin, hostname, host, port: portNumber, path: `${pathname}${search}` };
    if (this.targets.size >= TARGETS_MAX) this.targets.clear();
    this.targets.set(text, target);
    return target;
  }

  /** Why nothing is sent at all; null when it is. */
  private problemOf({ protocol }: Target, { secrets }: WebhookMessage): string | null {
    if (protocol === "http:" && !this.allowHttp) return "Plain http is not allowed (webhooks.allowHttp).";
    if (!(protocol in DEFAULT_PORTS)) return "The URL is neither https nor http.";
    if (secrets.length === 0) return "There is no secret to sign with.";
    return null;
  }

  private async postWebhook(connection: Connection, request: Request, deadline: Deadline): Promise<PostResult> {
    const response = await post(connection.client, request, deadline);
    if (response.end === "whole" && !this.isClosed) this.kept.keep(connection);
    else connection.end();
    return response;
  }

  private resultOf(response: PostResult, deadline: Deadline, connectPhases: ConnectPhases): WebhookResult {
    const { status, end } = response;
    const { dnsMs, connectMs, tlsMs } = connectPhases;
    const phases = {
      dnsMs,
      connectMs,
      tlsMs,
      firstByteMs: response.startedAt === null ? null : response.startedAt - deadline.startedAt,
      totalMs: deadline.passedMs,
    };
    const waitMs = retryAfterMs(response.retryAfter, this.clock.now());
    const notified = { status, retryAfterMs: waitMs, excerpt: excerptOf(response.body), phases };
    // What is no success is one whether or not the body arrives.
    const refusal = status === null ? null : failureOf(status);
    if (status !== null && refusal !== null)
      return { failure: refusal, message: refusalOf(status, response.location), ...notified };
    if (!(end instanceof Error)) return { failure: null, message: null, ...notified };
    const begun = status === null ? "No response" : `The response ${status} was incomplete`;
    if (deadline.isOver) return { failure: "timeout", message: `${begun}: ${deadline.reason}.`, ...notified };
    const { failure, words } = postFailure(end);
    return { failure, message: `${begun}: ${words}.`, ...notified };
  }
}

function failed(failure: WebhookFailure, message: string, deadline: Deadline, phases: ConnectPhases): WebhookResult {
  return {
    failure,
    status: null,
    retryAfterMs: null,
    message,
    excerpt: "",
    phases: { ...phases, firstByteMs: null, totalMs: deadline.passedMs },
  };
}

/** Phases that are counted from the start of the attempt. */
function later({ dnsMs, connectMs, tlsMs }: ConnectPhases, byMs: number): ConnectPhases {
  const add = (ms: number | null): number | null => (ms === null ? null : ms + byMs);
  return { dnsMs: add(dnsMs), connectMs: add(connectMs), tlsMs: add(tlsMs) };
}

/** @see W3C Trace Context, 3 */
function traceHeaders(trace: TraceContext | null): Record<string, string> {
  if (trace === null) return {};
  const { traceparent, tracestate } = trace;
  return { traceparent, ...(tracestate === null ? {} : { tracestate }) };
}

import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { gunzipSync } from "node:zlib";
import type { SpanKind } from "../../core/ports/tracer.js";
import type { EndedSpan } from "./doubles/recording-tracer.js";

/** A span as a collector receives it. */
export interface ReceivedSpan extends EndedSpan {
  /** Of the process that it comes from. */
  readonly resource: Readonly<Record<string, unknown>>;
}

interface OtlpAttribute {
  readonly key: string;
  readonly value: Readonly<Record<string, unknown>>;
}

interface OtlpSpan {
  readonly name: string;
  readonly kind: number;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly OtlpAttribute[];
  readonly status: { readonly code?: number };
  readonly links?: readonly { readonly spanId: string }[];
}

interface OtlpRequest {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly OtlpAttribute[] };
    readonly scopeSpans: readonly { readonly spans: readonly OtlpSpan[] }[];
  }[];
}

const KINDS: Readonly<Record<number, SpanKind>> = {
  1: "internal",
  2: "server",
  3: "client",
  4: "producer",
  5: "consumer",
};
const ERROR = 2;

/** A collector of traces: a server that takes OTLP over HTTP as JSON. */
export class OtlpReceiver {
  readonly spans: ReceivedSpan[] = [];
  /** Everything that was received, headers included. */
  received = "";
  readonly headers: Readonly<Record<string, unknown>>[] = [];
  readonly paths: string[] = [];
  /** What requests are answered with; null: with nothing, ever. */
  status: number | null = 200;
  private readonly server: Server;
  private waiting: (() => void)[] = [];

  private constructor() {
    this.server = createServer((request, response) => {
      void buffer(request).then((bytes) => {
        const text = (request.headers["content-encoding"] === "gzip" ? gunzipSync(bytes) : bytes).toString();
        this.received += `${request.url} ${JSON.stringify(request.headers)} ${text}\n`;
        this.headers.push(request.headers);
        this.paths.push(request.url ?? "");
        if (this.status === 200) this.spans.push(...spansOf(JSON.parse(text) as OtlpRequest));
        for (const wake of this.waiting.splice(0)) wake();
        if (this.status === null) return;
        response.statusCode = this.status;
        response.setHeader("Content-Type", "application/json").end("{}");
      });
    });
  }

  static async open(): Promise<OtlpReceiver> {
    const receiver = new OtlpReceiver();
    receiver.server.listen(0, "127.0.0.1");
    await once(receiver.server, "listening");
    return receiver;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** Resolves when a request has arrived that has not been waited for. */
  async nextRequest(): Promise<void> {
    await new Promise<void>((resolve) => this.waiting.push(resolve));
  }

  /** Resolves with the spans once `isComplete` says that those are all. */
  async until(isComplete: (spans: readonly ReceivedSpan[]) => boolean): Promise<readonly ReceivedSpan[]> {
    while (!isComplete(this.spans)) await this.nextRequest();
    return this.spans;
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, "close");
  }
}

function spansOf({ resourceSpans }: OtlpRequest): ReceivedSpan[] {
  return resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans.flatMap(({ spans }) => spans.map((span) => toSpan(span, attributesOf(resource.attributes)))),
  );
}

function toSpan(span: OtlpSpan, resource: ReceivedSpan["resource"]): ReceivedSpan {
  const { name, kind, traceId, spanId, parentSpanId = "", links = [] } = span;
  return {
    name,
    kind: KINDS[kind] ?? "internal",
    traceId,
    spanId,
    parentId: parentSpanId === "" ? null : parentSpanId,
    links: links.map((link) => link.spanId),
    attributes: attributesOf(span.attributes) as ReceivedSpan["attributes"],
    hasFailed: span.status.code === ERROR,
    startedAt: toMs(span.startTimeUnixNano),
    endedAt: toMs(span.endTimeUnixNano),
    resource,
  };
}

function attributesOf(list: readonly OtlpAttribute[]): Record<string, unknown> {
  return Object.fromEntries(list.map(({ key, value }) => [key, Object.values(value)[0]]));
}

function toMs(nanoseconds: string): number {
  return Number(BigInt(nanoseconds) / 1_000n) / 1_000;
}

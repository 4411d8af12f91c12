import type { Clock } from "../ports/clock.js";
import type { Metrics } from "../ports/metrics.js";
import type { SecretBox } from "../ports/secret-box.js";
import type { SpanDescription, TraceContext, Tracer } from "../ports/tracer.js";
import type { WebhookResult, WebhookSender } from "../ports/webhook-sender.js";
import type { WebhookEndpoint, WebhookEvent } from "../ports/webhook-records.js";
import { traced } from "../tracing/traced.js";
import { signingSecrets } from "./secrets.js";

/** Figures of the delivery attempts of one process. */
export type WebhookMetrics = Pick<
  Metrics,
  "countDeliveryAttempt" | "countDeliveryEnded" | "countEndpointWarning" | "countEndpointDisabled"
>;

export interface SendDeliveryDeps {
  readonly sender: WebhookSender;
  readonly secretBox: SecretBox;
  readonly clock: Clock;
  readonly metrics: WebhookMetrics | null;
  readonly tracer: Tracer | null;
}

/** Sends all events: for attempts of the schedule, resends and pings alike. */
export class SendDelivery {
  /** What sends several deliveries to an endpoint that was read once opens its secrets once. */
  private readonly opened = new WeakMap<WebhookEndpoint, Promise<readonly string[]>>();

  constructor(private readonly deps: SendDeliveryDeps) {}

  /** Makes one delivery attempt. @throws {Error} the endpoint's secret cannot be opened; nothing was sent */
  send(event: WebhookEvent, endpoint: WebhookEndpoint, signal: AbortSignal): Promise<WebhookResult> {
    const { tracer } = this.deps;
    const describe = (): SpanDescription => deliverWebhook(event, endpoint, tracer?.current() ?? null);
    return traced(tracer, describe, async (span) => {
      const result = await this.post(event, endpoint, span?.context ?? null, signal);
      span?.set({ "http.response.status_code": result.status });
      if (result.failure !== null) span?.fail(result.failure);
      return result;
    });
  }

  private async post(
    event: WebhookEvent,
    endpoint: WebhookEndpoint,
    trace: TraceContext | null,
    signal: AbortSignal,
  ): Promise<WebhookResult> {
    const sentAt = this.deps.clock.now();
    let secrets = this.opened.get(endpoint);
    if (secrets === undefined)
      this.opened.set(endpoint, (secrets = signingSecrets(endpoint, this.deps.secretBox, sentAt)));
    const result = await this.deps.sender.send(
      { url: endpoint.url, eventId: event.id, sentAt, body: event.body, secrets: await secrets, trace },
      signal,
    );
    this.deps.metrics?.countDeliveryAttempt(result.failure ?? "delivered", result.phases.totalMs / 1000);
    return result;
  }
}

/** An attempt of the schedule is a part of the job's trace; one that an operator asked for is a part of theirs. */
function deliverWebhook(event: WebhookEvent, endpoint: WebhookEndpoint, asked: TraceContext | null): SpanDescription {
  const { trace } = event;
  return {
    name: "deliver webhook",
    kind: "client",
    ...(asked === null && trace !== null ? { parent: trace } : {}),
    links: asked === null || trace === null ? [] : [trace],
    attributes: {
      "http.request.method": "POST",
      "server.address": new URL(endpoint.url).hostname,
      "fermata.event.id": event.id,
      "fermata.event.type": event.type,
      "fermata.endpoint.id": endpoint.id,
      "fermata.job.id": event.jobId,
    },
  };
}

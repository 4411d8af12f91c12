import type { Clock } from "../ports/clock.js";
import type { Metrics } from "../ports/metrics.js";
import type { SecretBox } from "../ports/secret-box.js";
import type { WebhookResult, WebhookSender } from "../ports/webhook-sender.js";
import type { WebhookEndpoint, WebhookEvent } from "../ports/webhook-records.js";
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
}

/** Sends all events: for attempts of the schedule, resends and pings alike. */
export class SendDelivery {
  constructor(private readonly deps: SendDeliveryDeps) {}

  /** Makes one delivery attempt. @throws {Error} the endpoint's secret cannot be opened; nothing was sent */
  async send(event: WebhookEvent, endpoint: WebhookEndpoint, signal: AbortSignal): Promise<WebhookResult> {
    const sentAt = this.deps.clock.now();
    const secrets = await signingSecrets(endpoint, this.deps.secretBox, sentAt);
    const result = await this.deps.sender.send(
      { url: endpoint.url, eventId: event.id, sentAt, body: event.body, secrets },
      signal,
    );
    this.deps.metrics?.countDeliveryAttempt(result.failure ?? "delivered", result.phases.totalMs / 1000);
    return result;
  }
}

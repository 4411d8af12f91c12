import { AddressPolicy, DnsAddressGuard, GuardedConnector } from "../../../adapters/network/index.js";
import { SystemClock } from "../../../adapters/system/clock.js";
import { HttpsWebhookSender } from "../../../adapters/webhooks/https/webhook-sender.js";
import type { Settings } from "../../../config/index.js";
import type { WebhookSender } from "../../../core/ports/webhook-sender.js";

/** The sender of the settings. */
export function openSender({ webhooks }: Settings): WebhookSender {
  return new HttpsWebhookSender({
    connector: new GuardedConnector({ guard: new DnsAddressGuard(new AddressPolicy(webhooks)) }),
    clock: new SystemClock(),
    version: "0.0.0",
    timeoutMs: webhooks.timeoutSeconds * 1000,
    allowHttp: webhooks.allowHttp,
  });
}

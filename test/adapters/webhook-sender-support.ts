import { AddressPolicy, DnsAddressGuard, GuardedConnector } from "../../adapters/network/index.js";
import { SystemClock } from "../../adapters/system/clock.js";
import { HttpsWebhookSender, type WebhookSenderDeps } from "../../adapters/webhooks/https/webhook-sender.js";
import type { FaultReceiver } from "../support/fault-receiver/receiver.js";

/** May reach loopback, and trusts the receiver's authority. */
export function connectorFor({ ca }: Pick<FaultReceiver, "ca">): GuardedConnector {
  return new GuardedConnector({
    guard: new DnsAddressGuard(new AddressPolicy({ allowNetworks: ["127.0.0.0/8"] })),
    ca: [ca],
  });
}

/** A sender that may reach loopback and trusts the receiver's authority. */
export function senderFor(
  receiver: Pick<FaultReceiver, "ca">,
  parts: Partial<WebhookSenderDeps> = {},
): HttpsWebhookSender {
  return new HttpsWebhookSender({
    connector: connectorFor(receiver),
    clock: new SystemClock(),
    version: "1.2.3",
    ...parts,
  });
}

/** The same for one task. */
export async function withSender<T>(
  receiver: Pick<FaultReceiver, "ca">,
  parts: Partial<WebhookSenderDeps>,
  work: (sender: HttpsWebhookSender) => Promise<T>,
): Promise<T> {
  const sender = senderFor(receiver, parts);
  try {
    return await work(sender);
  } finally {
    await sender.close();
  }
}

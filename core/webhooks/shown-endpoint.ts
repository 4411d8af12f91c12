import type { WebhookEndpoint } from "../ports/webhook-records.js";

/** An endpoint as its account, operators and embedding apps see it: without its secrets, sealed as they are. */
export type ShownEndpoint = Omit<WebhookEndpoint, "sealedSecret" | "retiredSecrets">;

/** Leaves out of an endpoint what {@link ShownEndpoint} has not. */
export function shownEndpoint(endpoint: WebhookEndpoint): ShownEndpoint {
  const { sealedSecret: _sealed, retiredSecrets: _retired, ...shown } = endpoint;
  return shown;
}

import type { WebhookEndpointId } from "../ids.js";
import type { AddressGuard } from "../ports/address-guard.js";
import type { WebhookStore } from "../ports/webhook-store.js";
import { type ShownEndpoint, shownEndpoint } from "./shown-endpoint.js";
import type { WebhookEndpoint } from "../ports/webhook-records.js";

const PAGE = 200;
const LOOKUP_MAX_MS = 5_000;

/** An endpoint whose deliveries would be refused now. */
export interface BlockedEndpoint {
  readonly endpoint: ShownEndpoint;
  readonly addresses: readonly string[];
}

/** The active endpoints of all accounts whose host is, or resolves to, a blocked address. */
export async function findBlockedEndpoints(
  webhooks: Pick<WebhookStore, "listAllEndpoints">,
  guard: Pick<AddressGuard, "resolve">,
): Promise<BlockedEndpoint[]> {
  const blocked: BlockedEndpoint[] = [];
  let after: WebhookEndpointId | null = null;
  for (;;) {
    const page: readonly WebhookEndpoint[] = await webhooks.listAllEndpoints(after, PAGE);
    const active = page.filter(({ status }) => status === "active");
    const found = await Promise.all(active.map(({ url }) => guard.resolve(new URL(url).hostname, LOOKUP_MAX_MS)));
    found.forEach((resolution, index) => {
      if (resolution.state === "blocked")
        blocked.push({ endpoint: shownEndpoint(active[index] as WebhookEndpoint), addresses: resolution.addresses });
    });
    const last = page.at(-1);
    if (last === undefined) return blocked;
    after = last.id;
  }
}

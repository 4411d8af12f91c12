import type { WebhookStore } from "../../core/ports/webhook-store.js";
import { WriteEvents } from "../../core/webhooks/write-events.js";
import { anId } from "./builders.js";

/** Writes the events of ended jobs; of a job their bodies hold its id only. */
export function eventsOf({ webhooks }: { readonly webhooks: WebhookStore }): WriteEvents {
  return new WriteEvents({ webhooks, ids: { next: anId }, presentJob: ({ job }) => ({ job_id: job.id }) });
}

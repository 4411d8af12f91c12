import type { WebhookStore } from "../../core/ports/webhook-store.js";
import { WriteEvents } from "../../core/webhooks/write-events.js";
import { anId } from "./builders.js";

/** Writes the events of ended jobs; their bodies have only the job's id. */
export function eventsOf({ webhooks }: { readonly webhooks: WebhookStore }): WriteEvents {
  return new WriteEvents({ webhooks, ids: { next: anId }, presentJob: ({ job }) => ({ job_id: job.id }) });
}

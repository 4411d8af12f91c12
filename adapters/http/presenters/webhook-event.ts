import type { WebhookEvent as StoredEvent } from "../../../core/ports/webhook-records.js";
import type { Job } from "./job.js";

/** A job as it ended, with what its request said of itself. */
export interface EndedJob extends Job {
  /** Label of the calling integration, as the request gave it. */
  client: string | null;
  /** As the request gave it. */
  metadata: { [name: string]: unknown } | null;
}

/** The body of a delivery. */
export interface WebhookBody {
  type:
    | "generation.completed"
    | "generation.failed"
    | "stem_split.completed"
    | "stem_split.failed"
    | "vocal_removal.completed"
    | "vocal_removal.failed";
  /**
   * When it happened.
   * @format date-time
   */
  timestamp: string;
  data: EndedJob;
}

/** Something that happened to the account's jobs. */
export interface WebhookEvent {
  /** That of all deliveries of this event: their header `webhook-id`. */
  id: string;
  /** As every delivery carries it. Its links are of that moment and expire: the job has new ones. */
  body: WebhookBody;
}

export function presentWebhookEvent({ id, body }: StoredEvent): WebhookEvent {
  return { id, body: JSON.parse(body) as WebhookBody };
}

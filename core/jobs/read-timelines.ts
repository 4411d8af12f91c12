import type { JobStore } from "../ports/job-store.js";
import type { LedgerStore } from "../ports/ledger-store.js";
import type { LibraryStore } from "../ports/library-store.js";
import type { WebhookStore } from "../ports/webhook-store.js";
import type { JobOutlook, Outlooks } from "../providers/outlook.js";
import type { Job } from "./job.js";
import { type JobHistory, timelineOf, type TimelineEvent } from "./timeline.js";

/** A job's story so far, and what is expected of it. */
export interface JobTimeline {
  readonly events: readonly TimelineEvent[];
  readonly outlook: JobOutlook;
}

export interface ReadTimelinesDeps {
  readonly jobs: Pick<JobStore, "listAttempts" | "outputsOf">;
  readonly ledger: Pick<LedgerStore, "entriesOfJob">;
  readonly library: Pick<LibraryStore, "tracksOfJobs">;
  readonly webhooks: Pick<WebhookStore, "deliveriesOfJob" | "listDeliveryAttempts">;
  readonly outlooks: Pick<Outlooks, "of">;
}

/** A job with all that is stored of it. */
export interface ReadJob extends Omit<JobHistory, "entries" | "deliveries"> {
  readonly timeline: JobTimeline;
}

/** The story of a job, from what is stored of it anyway: nothing is written for it. */
export class ReadTimelines {
  constructor(private readonly deps: ReadTimelinesDeps) {}

  async read(job: Job): Promise<ReadJob> {
    const { jobs, ledger, library, outlooks } = this.deps;
    const [attempts, entries, tracks, outputs, deliveries] = await Promise.all([
      jobs.listAttempts(job.id),
      ledger.entriesOfJob(job.id),
      library.tracksOfJobs([job.id]),
      jobs.outputsOf([job.id]),
      this.deliveries(job),
    ]);
    const stored = { job, attempts, tracks: tracks.get(job.id) ?? [], outputs: outputs.get(job.id) ?? [] };
    const events = timelineOf({ ...stored, entries, deliveries });
    return { ...stored, timeline: { events, outlook: await outlooks.of(job, attempts) } };
  }

  private async deliveries({ id, completedAt }: Job): Promise<JobHistory["deliveries"]> {
    const { webhooks } = this.deps;
    if (completedAt === null) return [];
    const deliveries = await webhooks.deliveriesOfJob(id, completedAt);
    if (deliveries.length === 0) return [];
    const tries = await webhooks.listDeliveryAttempts(deliveries.map((delivery) => delivery.id));
    return deliveries.map((delivery) => ({ delivery, tries: tries.get(delivery.id) ?? [] }));
  }
}

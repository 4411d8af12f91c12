import { ApplyReports } from "../../../core/attempts/apply-reports.js";
import { createJobs } from "../../../core/jobs/create-jobs.js";
import type { JobEnded } from "../../../core/jobs/ended-jobs.js";
import type { Job, JobAttempt } from "../../../core/jobs/job.js";
import type { CorePorts } from "../../../core/ports/core-ports.js";
import type { JobNotification } from "../../../core/ports/job-queue.js";
import { aJob, anAttempt, anId, aReservation } from "../../support/builders.js";
import { type MemoryCore, memoryCore } from "../../support/memory-core.js";
import { eventsOf } from "../../support/webhook-events.js";

/** Reports on a storage in memory, with what comes of them. */
export interface ReportsKit extends MemoryCore {
  /** Notifications of workers, in their order. */
  readonly notified: JobNotification[];
  /** What listeners of this process hear of. */
  readonly ended: JobEnded[];
  /** On these ports in place of the others. */
  reports(given?: Partial<CorePorts>): ApplyReports;
  /** Writes a claimed job of an account with 100 credits, and its attempts by number. */
  write(job?: Partial<Job>, ...attempts: readonly Partial<JobAttempt>[]): Promise<Job>;
  job(id: Job["id"]): Promise<Job>;
}

export async function reportsKit(): Promise<ReportsKit> {
  const memory = await memoryCore();
  const { storage, ports, clock } = memory;
  const notified: JobNotification[] = [];
  const ended: JobEnded[] = [];
  const queue = { ...ports.queue, notify: (given: readonly JobNotification[]) => void notified.push(...given) };
  return {
    ...memory,
    notified,
    ended,
    reports(given = {}) {
      const all = { ...ports, queue, ...given };
      const { settleJobs, endedJobs } = createJobs(all, eventsOf(all));
      endedJobs.onEnded((one) => ended.push(one));
      return new ApplyReports({ ...all, settleJobs });
    },
    async write(given = {}, ...attempts) {
      const { id: accountId } = await storage.addAccount({}, { monthly: 100 });
      const lease = { fence: 1, leaseOwner: anId("prc"), dueAt: clock.now() + 30_000 } as const;
      const job = aJob({ accountId, status: "processing", createdAt: clock.now(), ...lease, ...given });
      await storage.apply(aReservation(await storage.balanceOf(accountId), job));
      const rows = attempts.map((attempt, index) => anAttempt({ jobId: job.id, number: index + 1, ...attempt }));
      await storage.inTransaction(async (tx) => {
        await storage.jobs.insertJobs(tx, [job]);
        await storage.jobs.insertAttempts(tx, rows);
      });
      return job;
    },
    async job(id) {
      const job = (await storage.jobs.findJobs([id])).get(id);
      if (job === undefined) throw new Error(`There is no job ${id}.`);
      return job;
    },
  };
}

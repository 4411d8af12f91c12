import type { Container } from "inversify";
import { CollectAudio } from "../../core/maintenance/collect-audio.js";
import { Maintenance } from "../../core/maintenance/maintenance.js";
import { maintenanceTasks } from "../../core/maintenance/tasks.js";
import { resealTask } from "../../core/secrets/reseal-task.js";
import { eventsKeptMs } from "../../core/webhooks/delivery-schedule.js";
import { TOKENS as T } from "../tokens.js";

/** What runs on a schedule where jobs are worked on. */
export function bindMaintenance(container: Container): void {
  container
    .bind(T.collectAudio)
    .toResolvedValue(
      (audio, jobs, library, uploads, clock, logger) =>
        new CollectAudio({ audio, jobs, library, uploads, clock, logger }),
      [T.audio, T.jobs, T.library, T.uploads, T.clock, T.logger],
    );
  container.bind(T.maintenance).toResolvedValue(
    (
      jobs,
      callbacks,
      idempotency,
      requestLog,
      webhooks,
      library,
      uploads,
      endJobs,
      collectAudio,
      unitOfWork,
      clock,
      logger,
      settings,
      states,
      reseal,
    ) => {
      const tasks = maintenanceTasks({
        jobs,
        callbacks,
        idempotency,
        requestLog,
        webhooks,
        library,
        uploads,
        endJobs,
        collectAudio,
        unitOfWork,
        clock,
        logger,
        queueDeadlineMs: settings.jobs.queueDeadlineMinutes * 60_000,
        eventsKeptMs: eventsKeptMs(settings.webhooks.scheduleSeconds.map((seconds) => seconds * 1000)),
      });
      return new Maintenance([...tasks, resealTask({ states, reseal, clock, logger })], { clock, logger });
    },
    [
      T.jobs,
      T.callbacks,
      T.idempotency,
      T.requestLog,
      T.webhooks,
      T.library,
      T.uploads,
      T.endJobs,
      T.collectAudio,
      T.unitOfWork,
      T.clock,
      T.logger,
      T.settings,
      T.keyStates,
      T.resealSecrets,
    ],
  );
}

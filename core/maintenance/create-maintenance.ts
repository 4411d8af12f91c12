import type { RecordsActions } from "../audit/audit-trail.js";
import type { CorePorts } from "../ports/core-ports.js";
import { CollectAudio } from "./collect-audio.js";
import type { EndOverdueJob } from "./end-overdue-jobs.js";
import { Maintenance, type MaintenanceTask } from "./maintenance.js";
import { OperateAudio } from "./operate-audio.js";
import { ReportStorage } from "./report-storage.js";
import { type Retention, retentionRules } from "./retention.js";
import { maintenanceTasks } from "./tasks.js";
import { WATCH_EVERY_MS, WatchLedger } from "./watch-ledger.js";

const WATCH_TASK = "watch-ledger";

export interface CreateMaintenanceDeps {
  readonly ports: CorePorts;
  readonly audit: RecordsActions;
  readonly endJobs: EndOverdueJob;
  readonly queueDeadlineMs: number;
  readonly retention: Retention;
  /** The waits between the attempts of a delivery. */
  readonly scheduleMs: readonly number[];
  /** How often the watch of the ledger goes through all rows. */
  readonly ledgerFullCheckMs: number;
  /** The pause between two looks of a task for what is due. */
  readonly everyMs: number;
  /** Tasks of other features. */
  readonly others: readonly MaintenanceTask[];
}

export interface MaintenanceParts {
  /** How large the storage is, how fast it grows, and what is past its time. */
  readonly storage: ReportStorage;
  /** Finds and deletes audio files that lost workers left behind. */
  readonly audio: OperateAudio;
  readonly maintenance: Maintenance;
}

/** Assembles the scheduled maintenance of worker processes. */
export function createMaintenance({
  ports,
  audit,
  endJobs,
  queueDeadlineMs,
  retention,
  scheduleMs,
  ledgerFullCheckMs,
  everyMs,
  others,
}: CreateMaintenanceDeps): MaintenanceParts {
  const collectAudio = new CollectAudio({ ...ports, keptMs: retention.failedAudioMs });
  const rules = retentionRules(retention, scheduleMs);
  const tasks = maintenanceTasks({ ...ports, endJobs, collectAudio, queueDeadlineMs, rules, everyMs });
  const watchLedger = new WatchLedger({
    ...ports,
    logger: ports.logger.child({ task: WATCH_TASK }),
    fullEveryMs: ledgerFullCheckMs,
  });
  const watch: MaintenanceTask = {
    id: WATCH_TASK,
    description: "Checks the ledger, a few rows at a time: what is new, and now and then all of it.",
    everyMs: WATCH_EVERY_MS,
    run: (signal) => watchLedger.step(signal),
  };
  return {
    storage: new ReportStorage({ ...ports, rules }),
    audio: new OperateAudio({ collectAudio, audit }),
    maintenance: new Maintenance({ ...ports, tasks: [...tasks, watch, ...others] }),
  };
}

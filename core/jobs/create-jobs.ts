import type { CorePorts } from "../ports/core-ports.js";
import { AcceptJobs } from "./accept-jobs.js";
import { JobEvents } from "./job-events.js";
import { type EndedJobsWriter, SettleJobs } from "./settle-jobs.js";

export interface Jobs {
  readonly acceptJobs: AcceptJobs;
  readonly settleJobs: SettleJobs;
  readonly events: JobEvents;
}

/** How jobs begin and end. What happens between is `execution`. */
export function createJobs(ports: CorePorts, writeEvents: EndedJobsWriter): Jobs {
  const events = new JobEvents({ logger: ports.logger });
  return { acceptJobs: new AcceptJobs(ports), settleJobs: new SettleJobs({ ...ports, writeEvents, events }), events };
}

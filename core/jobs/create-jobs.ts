import type { CorePorts } from "../ports/core-ports.js";
import { AcceptJobs } from "./accept-jobs.js";
import { EndedJobs } from "./ended-jobs.js";
import { type EndedJobsWriter, SettleJobs } from "./settle-jobs.js";

export interface Jobs {
  readonly acceptJobs: AcceptJobs;
  readonly settleJobs: SettleJobs;
  readonly endedJobs: EndedJobs;
}

/** How jobs begin and end. What happens between is `execution`. */
export function createJobs(ports: CorePorts, writeEvents: EndedJobsWriter): Jobs {
  const endedJobs = new EndedJobs({ logger: ports.logger });
  const settleJobs = new SettleJobs({ ...ports, writeEvents, endedJobs });
  return { acceptJobs: new AcceptJobs(ports), settleJobs, endedJobs };
}

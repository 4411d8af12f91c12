import type { CorePorts } from "../ports/core-ports.js";
import { ReadUsage } from "./read-usage.js";
import { RecordRequests } from "./record-requests.js";

export interface Usage {
  readonly requests: RecordRequests;
  readonly read: ReadUsage;
}

/** The log of requests, and what is read of it. @param redact masks what has the form of a secret */
export function createUsage(ports: CorePorts, redact: (text: string) => string): Usage {
  const { requestLog: log, clock, digest } = ports;
  const requests = new RecordRequests({ ...ports, log, redact });
  return { requests, read: new ReadUsage({ log, recorder: requests, clock, digest }) };
}

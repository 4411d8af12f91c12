import type { Container } from "inversify";
import { redactText } from "../../adapters/observability/redact.js";
import { ReadUsage } from "../../core/usage/read-usage.js";
import { RecordRequests } from "../../core/usage/record-requests.js";
import { TOKENS as T } from "../tokens.js";

/** The log of requests, and what is read of it. */
export function bindUsage(container: Container): void {
  container
    .bind(T.recordRequests)
    .toResolvedValue(
      (log, unitOfWork, clock, logger, { current }) =>
        new RecordRequests({ log, unitOfWork, clock, logger, metrics: current, redact: redactText }),
      [T.requestLog, T.unitOfWork, T.clock, T.logger, T.metrics],
    );
  container
    .bind(T.readUsage)
    .toResolvedValue(
      (log, recorder, clock) => new ReadUsage(log, recorder, clock),
      [T.requestLog, T.recordRequests, T.clock],
    );
}

import type { Logger } from "../core/ports/logger.js";

/** The parts of a process that tell of errors which no caller gets. */
export interface ErringProcess {
  on(event: "unhandledRejection" | "uncaughtExceptionMonitor", listener: (error: unknown) => void): unknown;
  off(event: "unhandledRejection" | "uncaughtExceptionMonitor", listener: (error: unknown) => void): unknown;
}

/**
 * Logs errors that belong to no call. A promise that a plugin rejects and nothing waits for ends no more than itself:
 * Node would end the process, and again after each restart. After an exception that was thrown outside of any call
 * nothing is certain, and the process ends as Node has it; what was at work goes on elsewhere when its lease is over.
 *
 * @returns ends that
 */
export function logStrayErrors(process: ErringProcess, logger: Logger): () => void {
  const rejected = (error: unknown): void =>
    logger.error("A promise was rejected that nothing waits for; its stack says where", { error });
  const thrown = (error: unknown): void =>
    logger.error("The process ends: an exception was thrown outside of any call; its stack says where", { error });
  process.on("unhandledRejection", rejected);
  process.on("uncaughtExceptionMonitor", thrown);
  return () => {
    process.off("unhandledRejection", rejected);
    process.off("uncaughtExceptionMonitor", thrown);
  };
}

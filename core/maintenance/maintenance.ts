import { BackgroundLoop } from "../background-loop.js";
import type { Clock } from "../ports/clock.js";
import type { Logger } from "../ports/logger.js";

/** Work that no caller waits for. Several processes may do it at once. */
export interface MaintenanceTask {
  /** Names the task in log lines. */
  readonly id: string;
  /** One sentence for operators. */
  readonly description: string;
  /** The pause between two runs, in milliseconds. */
  readonly everyMs: number;
  /** Ends soon once `signal` aborts. */
  run(signal: AbortSignal): Promise<void>;
}

export interface MaintenanceDeps {
  readonly tasks: readonly MaintenanceTask[];
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Runs scheduled tasks. Each has a loop of its own: one that fails or takes long keeps no other from its schedule. */
export class Maintenance {
  private readonly loops: readonly BackgroundLoop[];

  constructor(private readonly deps: MaintenanceDeps) {
    this.loops = deps.tasks.map((task) => {
      const step = async (signal: AbortSignal): Promise<number> => {
        await task.run(signal);
        return task.everyMs;
      };
      return new BackgroundLoop({
        step,
        errorPauseMs: task.everyMs,
        clock: deps.clock,
        logger: this.loggerOf(task),
        errorMessage: ERROR_MESSAGE,
      });
    });
  }

  get tasks(): readonly MaintenanceTask[] {
    return this.deps.tasks;
  }

  start(): void {
    for (const loop of this.loops) loop.start();
  }

  /** Begins no task any more. Resolves when none runs. */
  async stop(): Promise<void> {
    await Promise.all(this.loops.map((loop) => loop.stop()));
  }

  /**
   * Runs every task once, one after another, regardless of the schedule; one that fails is logged, and the others go
   * on.
   */
  async runOnce(signal: AbortSignal = new AbortController().signal): Promise<void> {
    for (const task of this.tasks) {
      if (signal.aborted) return;
      try {
        await task.run(signal);
      } catch (error) {
        this.loggerOf(task).error(ERROR_MESSAGE, { error });
      }
    }
  }

  private loggerOf({ id }: MaintenanceTask): Logger {
    return this.deps.logger.child({ task: id });
  }
}

const ERROR_MESSAGE = "A maintenance task failed; it will be retried";

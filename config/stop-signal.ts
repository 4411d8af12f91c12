/** The parts of the process that receive signals and end it. */
export type SignalledProcess = Pick<NodeJS.Process, "on" | "off" | "exit">;

/** Everything that a stop does but draining takes no longer; what is still open then is left to the leases. */
const STOP_MAX_MS = 9_500;

/** A stop that the operator asked for twice takes no longer. */
const STOP_NOW_MAX_MS = 2_500;

/** A terminal's Ctrl-C reaches npm and its child, and npm passes it on: the child receives the same signal twice. */
export const ECHO_MS = 1_000;

/** The process was ended by force, or gave up what cannot be repeated. */
export const EXIT_UNFINISHED = 1;

/**
 * How long a stop takes at most that waits `drainMs` for calls that cannot be repeated. Every limit on a stop derives
 * from it.
 */
export function stopMaxMs(drainMs: number): number {
  return drainMs + STOP_MAX_MS;
}

/** The signals that stop the process, listened for from the first moment of a start. */
export interface StopSignal {
  /** The name of the first one. From then on the process has {@link stopMaxMs} of 0, unless {@link limit} is called. */
  readonly received: Promise<string>;
  /** Aborts with the second one. The process then has 2.5 s; a third is left to Node, which ends it at once. */
  readonly again: AbortSignal;
  /**
   * From now on the process has {@link stopMaxMs} of `leftMs`, but in all no more than that of the whole drain. After a
   * second signal it changes nothing.
   */
  limit(leftMs: number): void;
  forget(): void;
}

/**
 * @param drainMs how long the process may drain
 * @param onLate called before the process is ended by force
 */
export function nextStopSignal(process: SignalledProcess, drainMs: number, onLate: () => void): StopSignal {
  const names = ["SIGTERM", "SIGINT"] as const;
  const again = new AbortController();
  let echo: NodeJS.Timeout | undefined;
  let end: NodeJS.Timeout | undefined;
  let endsBy = Infinity;
  let listener = (_name: string): void => undefined;
  const ignoreSignals = (): void => names.forEach((name) => void process.off(name, listener));
  const endIn = (ms: number): void => {
    clearTimeout(end);
    end = setTimeout(() => {
      onLate();
      process.exit(EXIT_UNFINISHED);
    }, ms).unref();
  };
  const received = new Promise<string>((resolve) => {
    listener = (name) => {
      if (echo !== undefined) return;
      if (end === undefined) {
        resolve(name);
        endsBy = performance.now() + stopMaxMs(drainMs);
        endIn(stopMaxMs(0));
      } else {
        again.abort();
        endIn(STOP_NOW_MAX_MS);
      }
      echo = setTimeout(() => {
        echo = undefined;
        if (again.signal.aborted) ignoreSignals();
      }, ECHO_MS).unref();
    };
    names.forEach((name) => void process.on(name, listener));
  });
  return {
    received,
    again: again.signal,
    limit(leftMs) {
      if (!again.signal.aborted) endIn(Math.min(stopMaxMs(leftMs), endsBy - performance.now()));
    },
    forget() {
      ignoreSignals();
      clearTimeout(echo);
      clearTimeout(end);
    },
  };
}

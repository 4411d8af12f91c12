/** The parts of the process that hear signals and end it. */
export type SignalledProcess = Pick<NodeJS.Process, "on" | "off" | "exit">;

/** Longer than this no stop takes; what is still open then is left to the leases. */
const STOP_MAX_MS = 9_500;

/** A terminal's Ctrl-C reaches npm and its child, and npm passes it on to the child: the same wish, heard twice. */
const ECHO_MS = 1_000;

/** The wish to stop, listened for from the first moment of a start. */
export interface StopSignal {
  /** Its name. From then on the process has 10 s; a later signal is left to Node, which ends the process at once. */
  readonly received: Promise<string>;
  forget(): void;
}

/** @param onLate told before the process is ended by force, whatever still holds it open */
export function nextStopSignal(process: SignalledProcess, onLate: () => void): StopSignal {
  const timers: NodeJS.Timeout[] = [];
  const names = ["SIGTERM", "SIGINT"] as const;
  let listener = (_name: string): void => undefined;
  const deafen = (): void => names.forEach((name) => void process.off(name, listener));
  const received = new Promise<string>((resolve) => {
    listener = (name) => {
      resolve(name);
      if (timers.length > 0) return;
      const end = (): void => {
        onLate();
        process.exit(0);
      };
      timers.push(setTimeout(deafen, ECHO_MS).unref(), setTimeout(end, STOP_MAX_MS).unref());
    };
    names.forEach((name) => void process.on(name, listener));
  });
  return {
    received,
    forget() {
      deafen();
      timers.forEach(clearTimeout);
    },
  };
}

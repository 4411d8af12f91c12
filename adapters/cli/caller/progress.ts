import { printable } from "../../../core/printable.js";
import type { CallerProgress } from "./caller-api.js";

const WIDTH = 24;
const REDRAW_MS = 500;
/** Rewrites the line that the cursor is in (ECMA-48: carriage return, erase in line). */
const REWRITE = "\r\u001b[K";

const WORDS: Readonly<Record<CallerProgress["state"], string>> = {
  waiting: "waiting for its turn",
  retrying: "waiting for its next attempt",
  submitting: "calling the provider",
  rendering: "rendering",
  ended: "storing the files",
};

export interface ProgressView {
  show(progress: CallerProgress): void;
  /** Takes the bar away until the next `show`. */
  clear(): void;
  end(): void;
}

type Stream = NodeJS.WritableStream & { readonly isTTY?: boolean };

/** A bar on a terminal; elsewhere a line for each change, and with `isQuiet` nothing. */
export function progressOn(stream: Stream, isQuiet: boolean): ProgressView {
  if (stream.isTTY === true) return new Bar(stream);
  let last = "";
  return {
    show(progress) {
      const line = lineOf(progress);
      if (!isQuiet && line !== last) stream.write(`${printable(line)}\n`);
      last = line;
    },
    clear: () => undefined,
    end: () => undefined,
  };
}

class Bar implements ProgressView {
  private current: { readonly progress: CallerProgress; readonly since: number } | null = null;
  private readonly timer: NodeJS.Timeout;

  constructor(private readonly stream: Stream) {
    this.timer = setInterval(() => this.draw(), REDRAW_MS).unref();
  }

  show(progress: CallerProgress): void {
    // An estimate counts from the moment when the state began.
    const since = this.current?.progress.state === progress.state ? this.current.since : Date.now();
    this.current = { progress, since };
    this.draw();
  }

  clear(): void {
    if (this.current !== null) this.stream.write(REWRITE);
    this.current = null;
  }

  end(): void {
    this.clear();
    clearInterval(this.timer);
  }

  private draw(): void {
    if (this.current === null) return;
    const { progress, since } = this.current;
    this.stream.write(`${REWRITE}${printable(barOf(progress, since, Date.now()))}`);
  }
}

/** `████████░░░░░░░░  50 %  rendering  about 4 s left` */
export function barOf(progress: CallerProgress, since: number, now: number): string {
  const left = progress.ends_at === null ? null : Math.max(0, Date.parse(progress.ends_at) - now);
  const percent = progress.percent ?? (left === null ? null : (100 * (now - since)) / (now - since + left + 1));
  const shown = percent === null ? null : Math.max(0, Math.min(99, Math.floor(percent)));
  const filled = Math.round(((shown ?? 0) * WIDTH) / 100);
  return [
    "█".repeat(filled) + "░".repeat(WIDTH - filled),
    ...(shown === null ? [] : [`${String(shown).padStart(3)} %`]),
    stateOf(progress),
    ...(left === null || left === 0 ? [] : [`about ${timeOf(left)} left`]),
  ].join("  ");
}

function lineOf(progress: CallerProgress): string {
  // Tens, so that a log does not get a line for each percent.
  const percent = progress.percent === null ? "" : `  ${Math.floor(progress.percent / 10) * 10} %`;
  return `${stateOf(progress)}${percent}`;
}

function stateOf({ state, waiting_before: before }: CallerProgress): string {
  const queue = state === "waiting" && before !== null && before > 0 ? `, ${before} before it` : "";
  return `${WORDS[state]}${queue}`;
}

function timeOf(ms: number): string {
  const seconds = Math.ceil(ms / 1_000);
  return seconds < 100 ? `${seconds} s` : `${Math.ceil(seconds / 60)} min`;
}

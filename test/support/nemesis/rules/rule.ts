import type { FinalState } from "../final-state.js";
import { concerns, type Entry } from "../history.js";

export interface CheckedRun {
  /** Of all clients, in the order in which they were invoked. */
  readonly history: readonly Entry[];
  readonly final: FinalState;
}

export interface Violation {
  readonly message: string;
  /** The job that it is about, if it is about one. */
  readonly jobId?: string;
  /** The entries that show it. */
  readonly history: readonly Entry[];
}

export type Rule = (run: CheckedRun) => Violation[];

/** A violation that is about a job, with all that clients did with it. */
export function ofJob(run: CheckedRun, jobId: string, message: string): Violation {
  const key = run.final.jobs.find(({ id }) => id === jobId)?.key ?? null;
  return { message: `${jobId} ${message}`, jobId, history: run.history.filter((entry) => concerns(entry, jobId, key)) };
}

/** A list by one of its members, in the order of the list. */
export function grouped<T, Key>(list: readonly T[], keyOf: (one: T) => Key): Map<Key, T[]> {
  const groups = new Map<Key, T[]>();
  for (const one of list) {
    const group = groups.get(keyOf(one));
    if (group === undefined) groups.set(keyOf(one), [one]);
    else group.push(one);
  }
  return groups;
}

import { entriesOf, seenIn, type SeenJob } from "../history.js";
import { type CheckedRun, grouped, ofJob, type Violation } from "./rule.js";

const ENDS: readonly string[] = ["completed", "failed"];

interface Sight extends SeenJob {
  readonly invokedAt: number;
  readonly endedAt: number;
}

/** A job that was seen at its end is seen so ever after, and stored so. */
export function checkEnds(run: CheckedRun): Violation[] {
  const sights = run.history.flatMap((entry) =>
    seenIn(entry).map((seen): Sight => ({ ...seen, invokedAt: entry.invokedAt, endedAt: entry.endedAt })),
  );
  const final = new Map(run.final.jobs.map((job) => [job.id, job]));
  const changed = [...grouped(sights, ({ id }) => id)].flatMap(([id, own]) => {
    const last = final.get(id);
    const stored = last === undefined ? [] : [{ ...last, invokedAt: Infinity, endedAt: Infinity }];
    const change = changeIn([...own, ...stored]);
    return change === null ? [] : [ofJob(run, id, change)];
  });
  return [...changed, ...cancelledButPaid(run)];
}

/** @returns how an end was not final; null: it was */
function changeIn(sights: readonly Sight[]): string | null {
  const ends = sights.filter(({ status }) => ENDS.includes(status));
  const [first] = [...ends].sort((one, other) => one.endedAt - other.endedAt);
  if (first === undefined) return null;
  const words = ({ status, charged }: SeenJob): string => `${status}, charged ${charged}`;
  const other = ends.find((end) => words(end) !== words(first));
  if (other !== undefined) return `ended as ${words(first)}, and as ${words(other)}`;
  const back = sights.find(({ status, invokedAt }) => !ENDS.includes(status) && invokedAt >= first.endedAt);
  return back === undefined ? null : `had ended as ${words(first)}, and was ${back.status} later`;
}

function cancelledButPaid(run: CheckedRun): Violation[] {
  const cancelled = entriesOf(run.history, "cancel").filter(({ action: { result } }) => result === "cancelled");
  return [...new Set(cancelled.map(({ action: { jobId } }) => jobId))].flatMap((jobId) => {
    const job = run.final.jobs.find(({ id }) => id === jobId);
    const isHeld = job === undefined || (job.status === "failed" && job.charged === 0);
    return isHeld ? [] : [ofJob(run, jobId, `was cancelled, and is ${job.status}, charged ${job.charged}`)];
  });
}

/** All jobs and deliveries are over within the time that a run gives them after healing. */
export function checkLeft({ final: { left } }: CheckedRun): Violation[] {
  return left.map((message) => ({ message, history: [] }));
}

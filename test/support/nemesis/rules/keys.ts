import { type EntryOf, entriesOf } from "../history.js";
import { type CheckedRun, grouped, ofJob, type Violation } from "./rule.js";

/** Refusals that a client brings about: credits are used up. */
const EXPECTED_REFUSAL = 402;
/** Without a response, or one that says to try again. */
const EXPECTED_UNKNOWN: readonly (number | null)[] = [null, 503];

const byKey = ({ history }: CheckedRun): Map<string, EntryOf<"create">[]> =>
  grouped(entriesOf(history, "create"), ({ accountId, action: { key } }) => `${accountId} ${key}`);

/** A job that a response named is stored, under the account and the key that it was created with. */
export function checkAcknowledged(run: CheckedRun): Violation[] {
  const jobs = new Map(run.final.jobs.map((job) => [job.id, job]));
  return entriesOf(run.history, "create").flatMap(({ accountId, outcome, action: { jobId, key } }) => {
    if (outcome !== "ok" || jobId === null) return [];
    const job = jobs.get(jobId);
    if (job === undefined) return [ofJob(run, jobId, `was acknowledged for key ${key}, and is not stored`)];
    const isOwn = job.accountId === accountId && job.key === key;
    return isOwn ? [] : [ofJob(run, jobId, `was acknowledged for key ${key}, and has ${job.key} of ${job.accountId}`)];
  });
}

/** All responses to one key are the same, and no key has two jobs. */
export function checkKeys(run: CheckedRun): Violation[] {
  const jobs = grouped(run.final.jobs, ({ accountId, key }) => `${accountId} ${key}`);
  const doubled = [...jobs].flatMap(([key, own]) =>
    own.length > 1
      ? [{ message: `${key} has ${own.map(({ id }) => id).join()}`, history: byKey(run).get(key) ?? [] }]
      : [],
  );
  const changed = [...byKey(run)].flatMap(([key, asked]) => {
    const responses = new Set(asked.filter(({ outcome }) => outcome === "ok").map(({ action }) => action.response));
    const message = `${key} got ${responses.size} different responses: ${[...responses].join(" / ")}`;
    return responses.size > 1 ? [{ message, history: asked }] : [];
  });
  return [...doubled, ...changed];
}

/** A key whose every request was refused has no job. */
export function checkRefused(run: CheckedRun): Violation[] {
  return [...byKey(run)].flatMap(([key, asked]) => {
    if (!asked.every(({ outcome }) => outcome === "refused")) return [];
    const job = run.final.jobs.find((one) => `${one.accountId} ${one.key}` === key);
    return job === undefined ? [] : [ofJob(run, job.id, `exists, though ${key} was only refused`)];
  });
}

/** No job comes from nowhere. */
export function checkAskedFor(run: CheckedRun): Violation[] {
  const keys = byKey(run);
  return run.final.jobs.flatMap(({ id, accountId, key }) =>
    keys.has(`${accountId} ${key}`) ? [] : [ofJob(run, id, `has the key ${key}, which no client used`)],
  );
}

/** A list has the newest of the account's generations, those that were acknowledged before it was asked for. */
export function checkLists(run: CheckedRun): Violation[] {
  const jobs = new Map(run.final.jobs.map((job) => [job.id, job]));
  const created = grouped(entriesOf(run.history, "create"), ({ accountId }) => accountId);
  return entriesOf(run.history, "list").flatMap((entry) => {
    const { seen, limit } = entry.action;
    if (seen === null) return [];
    const ids = new Set(seen.map(({ id }) => id));
    const foreign = [...ids].filter((id) => jobs.get(id)?.accountId !== entry.accountId);
    // What is not newer than the last one of a full list may be on the next page.
    const oldest = ids.size < limit ? -Infinity : (jobs.get(seen.at(-1)?.id ?? "")?.createdAt ?? Infinity);
    const missing = (created.get(entry.accountId) ?? []).flatMap(({ outcome, endedAt, action: { jobId, isSplit } }) => {
      const isDue = outcome === "ok" && endedAt <= entry.invokedAt && !isSplit;
      const createdAt = jobs.get(jobId ?? "")?.createdAt ?? -Infinity;
      return isDue && jobId !== null && createdAt > oldest && !ids.has(jobId) ? [jobId] : [];
    });
    return [
      ...foreign.map((id) => ({ message: `a list of ${entry.accountId} has ${id}`, history: [entry] })),
      ...missing.map((id) => ofJob(run, id, "is missing in a list that was asked for after its acknowledgement")),
    ];
  });
}

/** Clients see no internal error, and no refusal that they did not bring about. */
export function checkResponses({ history }: CheckedRun): Violation[] {
  return history.flatMap((entry) => {
    const { outcome, status, action } = entry;
    const isExpected =
      outcome === "ok" ||
      (outcome === "unknown" && EXPECTED_UNKNOWN.includes(status)) ||
      (outcome === "refused" && action.kind === "create" && status === EXPECTED_REFUSAL);
    return isExpected ? [] : [{ message: `${action.kind} got ${status}`, history: [entry] }];
  });
}

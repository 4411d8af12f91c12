import { entriesOf } from "../history.js";
import { type CheckedRun, grouped, ofJob, type Violation } from "./rule.js";

/** A job reserves once, and is charged once when it completed, or else refunded once, with the same amount. */
export function checkCharges(run: CheckedRun): Violation[] {
  const entries = grouped(run.final.entries, ({ jobId }) => jobId);
  return run.final.jobs.flatMap(({ id, status, charged }) => {
    const own = entries.get(id) ?? [];
    const isCompleted = status === "completed";
    const kinds = own.map(({ kind }) => kind).join();
    if (kinds !== (isCompleted ? "reserve,charge" : "reserve,refund"))
      return [ofJob(run, id, `is ${status}, and its ledger has ${kinds}`)];
    const [reserve, close] = own as [(typeof own)[0], (typeof own)[0]];
    const cost = -reserve.available;
    const isRight = isCompleted
      ? close.spent === cost && close.available === 0 && charged === cost
      : close.spent === 0 && close.available === cost && charged === 0;
    return isRight ? [] : [ofJob(run, id, `reserved ${cost}, shows ${charged}, and closed ${JSON.stringify(close)}`)];
  });
}

/** No job is bought again unless the vendor lost what was bought; nothing is bought for no job. */
export function checkPurchases(run: CheckedRun): Violation[] {
  const jobs = new Set(run.final.jobs.map(({ id }) => id));
  return [...grouped(run.final.purchases, ({ jobId }) => jobId)].flatMap(([jobId, bought]) => {
    const ids = bought.map(({ id }) => id).join();
    if (jobId === null || !jobs.has(jobId)) return [{ message: `${ids} was bought for ${jobId}, no job`, history: [] }];
    const kept = bought.filter(({ state }) => state !== "lost");
    return kept.length > 1 ? [ofJob(run, jobId, `was bought ${kept.length} times: ${ids}`)] : [];
  });
}

/**
 * Finished work is what its completed job has; a completed job has finished work. What a customer cancelled and what
 * the vendor lost is no waste.
 */
export function checkWaste(run: CheckedRun): Violation[] {
  const bought = grouped(run.final.purchases, ({ jobId }) => jobId);
  const cancels = new Set(entriesOf(run.history, "cancel").map(({ action: { jobId } }) => jobId));
  return run.final.jobs.flatMap(({ id, status }) => {
    const own = bought.get(id) ?? [];
    const isCompleted = status === "completed";
    const wasted = own.filter(({ state, isDelivered }) => {
      if (state === "lost") return isDelivered;
      if (state === "cancelled") return isCompleted || !cancels.has(id);
      return state !== "finished" || !isDelivered || !isCompleted;
    });
    if (isCompleted && !own.some(({ isDelivered }) => isDelivered))
      return [ofJob(run, id, "is completed with other files than were bought for it")];
    return wasted.map((work) => ofJob(run, id, `is ${status}, and its ${work.id} is ${work.state}: waste`));
  });
}

import type { Stores } from "../../../adapters/storage/sql/index.js";
import { ServiceUnavailableError } from "../../../core/errors.js";
import type { Transaction } from "../../../core/ports/unit-of-work.js";
import { FaultyPort } from "./faulty-port.js";

/** Stores whose every call fails while the storage is unavailable. */
export function unavailableStores(real: Stores, isUnavailable: () => boolean): Stores {
  const error = (): Error => new ServiceUnavailableError("The storage is unavailable.");
  const faulty = Object.entries(real).map(([name, store]: [string, unknown]) => {
    const isStore = typeof store === "object" && store !== null && name !== "database";
    return [name, isStore ? new FaultyPort(store).failAll(error, isUnavailable) : store];
  });
  return Object.fromEntries(faulty) as Stores;
}

/**
 * A storage that commits the end of a job and loses the reply, `times` times. `rejects`: the call fails, and the caller
 * cannot know whether it was committed. `reruns`: the work runs again on another connection.
 */
export class LostReplies {
  /** How often a reply was lost. */
  lost = 0;
  readonly stores: Pick<Stores, "unitOfWork" | "jobs">;
  private readonly ending = new WeakSet<Transaction>();

  constructor(
    real: Pick<Stores, "unitOfWork" | "jobs">,
    private readonly how: "rejects" | "reruns",
    private readonly times = 1,
    private readonly onLost: () => void = () => undefined,
  ) {
    const { jobs, unitOfWork } = real;
    const watched = new FaultyPort(jobs).on("updateJobs", (update, tx, updates) => {
      if (updates.some(({ changes: { phase } }) => phase === "ended")) this.ending.add(tx);
      return update(tx, updates);
    });
    const lossy = new FaultyPort(unitOfWork).on("inTransaction", async (run, work) => {
      let endsJob = false;
      const result = await run(async (tx, given) => {
        const created = await work(tx, given);
        endsJob = this.ending.has(tx);
        return created;
      });
      if (!endsJob || this.lost >= this.times) return result;
      this.lost++;
      this.onLost();
      if (this.how === "reruns") return run((tx) => work(tx, { isRetry: true }));
      throw new ServiceUnavailableError("The reply to the commit was lost.");
    });
    this.stores = { jobs: watched, unitOfWork: lossy };
  }
}

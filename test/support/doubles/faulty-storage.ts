import type { Stores } from "../../../adapters/storage/sql/index.js";
import { ServiceUnavailableError } from "../../../core/errors.js";
import type { Transaction, UnitOfWork } from "../../../core/ports/unit-of-work.js";

/** What a worker uses of the storage while it is cut off from it: each call fails while `isAway()`. */
export function cutOffStores(real: Stores, isAway: () => boolean): Stores {
  const guarded = Object.entries(real).map(([name, store]: [string, unknown]) => {
    const isStore = typeof store === "object" && store !== null && name !== "database";
    return [name, isStore ? guardedStore(store, isAway) : store];
  });
  return Object.fromEntries(guarded) as Stores;
}

function guardedStore<Store extends object>(store: Store, isAway: () => boolean): Store {
  return new Proxy(store, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== "function") return member;
      return (...given: unknown[]): unknown =>
        isAway() ? Promise.reject(new ServiceUnavailableError("The storage is away.")) : member.apply(target, given);
    },
  });
}

/**
 * A storage that commits the end of a job and loses its reply, `times` times. `rejects`: the call fails, and the caller
 * cannot know whether it was written. `reruns`: the work runs again on another connection.
 */
export class LosesReplies {
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
    const watched: Stores["jobs"] = Object.assign(Object.create(jobs) as Stores["jobs"], {
      updateJobs: (...given: Parameters<typeof jobs.updateJobs>) => {
        if (given[1].some(({ changes: { phase } }) => phase === "ended")) this.ending.add(given[0]);
        return jobs.updateJobs(...given);
      },
    });
    const lossy: UnitOfWork = {
      concurrentWriters: unitOfWork.concurrentWriters,
      inTransaction: async (work) => {
        let endsJob = false;
        const result = await unitOfWork.inTransaction(async (tx, run) => {
          const created = await work(tx, run);
          endsJob = this.ending.has(tx);
          return created;
        });
        if (!endsJob || this.lost >= this.times) return result;
        this.lost++;
        this.onLost();
        if (this.how === "reruns") return unitOfWork.inTransaction((tx) => work(tx, { isRetry: true }));
        throw new ServiceUnavailableError("The reply to the commit was lost.");
      },
    };
    this.stores = { jobs: watched, unitOfWork: lossy };
  }
}

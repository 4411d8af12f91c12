import type { Stores } from "../../../core/ports/stores.js";
import { FaultyPort } from "../doubles/faulty-port.js";
import type { Sabotage } from "./cluster.js";

/** Parts that are broken on purpose, by what is wrong with them: a simulation that finds nothing is worth nothing. */
export const SABOTAGES: Readonly<Record<string, Sabotage>> = {
  "a charge that is written twice": {
    stores: (stores) => ({
      ...stores,
      ledger: new FaultyPort(stores.ledger).on("apply", (apply, tx, movements) => {
        const doubled = movements.map((movement) => {
          const charged = movement.entries.filter(({ kind }) => kind === "charge");
          const spent = charged.reduce((sum, entry) => sum + entry.spent, movement.after.spent);
          return { ...movement, after: { ...movement.after, spent } };
        });
        return apply(tx, doubled);
      }),
    }),
  },
  "a storage that loses a commit which it reported": {
    stores: (stores) => ({ ...stores, unitOfWork: losingUnitOfWork(stores) }),
  },
  "a lost notification without a sweep": { options: { sweepMs: 3_600_000 } },
  "a provider that says it knows a repeated call, and buys again": {
    capabilities: { look: { idempotentSubmit: true }, sign: { idempotentSubmit: true } },
  },
  "a webhook that counts as delivered, whatever its receiver says": {
    stores: (stores) => ({
      ...stores,
      webhooks: new FaultyPort(stores.webhooks).on("updateDeliveries", (update, tx, updates) =>
        update(
          tx,
          updates.map((one) => ({
            ...one,
            changes: { ...one.changes, state: "delivered", dueAt: null, leaseOwner: null, endedAt: 1 },
          })),
        ),
      ),
    }),
  },
  "a key that leads to a job of its own for each request": {
    stores: (stores) => ({
      ...stores,
      idempotency: new FaultyPort(stores.idempotency).on("findRecords", async () => []),
    }),
  },
  "fences of jobs that are not compared": {
    stores: (stores) => ({ ...stores, jobs: unfencedJobs(stores) }),
  },
  "fences of deliveries that are not compared": {
    stores: (stores) => ({
      ...stores,
      webhooks: new FaultyPort(stores.webhooks).on("updateDeliveries", (update, tx, updates) =>
        update(tx, updates.flatMap(underAnyFence)),
      ),
    }),
  },
  "a call without a reply that counts as refused": {
    stores: (stores) => ({ ...stores, jobs: carelessJobs(stores) }),
  },
  "a refund that is written twice": {
    stores: (stores) => ({
      ...stores,
      ledger: new FaultyPort(stores.ledger).on("apply", (apply, tx, movements) =>
        apply(
          tx,
          movements.map((movement) => {
            const refunded = movement.entries.filter(({ kind }) => kind === "refund");
            const pack = refunded.reduce((sum, entry) => sum + entry.pack, movement.after.pack);
            return { ...movement, after: { ...movement.after, pack } };
          }),
        ),
      ),
    }),
  },
  "a retried acceptance that is not known again": {
    stores: (stores) => ({
      ...stores,
      unitOfWork: new FaultyPort(stores.unitOfWork).on("inTransaction", (run, work) =>
        run((tx) => work(tx, { isRetry: false })),
      ),
    }),
  },
};

/** More than a job or a delivery of a simulation has. */
const FENCES_MAX = 60;
const SAME_FENCE = 1;

function underAnyFence<Update extends { readonly fence: number }>(update: Update): Update[] {
  return Array.from({ length: FENCES_MAX }, (_, fence) => ({ ...update, fence }));
}

/** All that a process sees and says of fences is one number: what an old worker reports counts as that of the new. */
function unfencedJobs(stores: Stores): Stores["jobs"] {
  const jobs = new FaultyPort(stores.jobs);
  const unfenced = <State extends { readonly fence: number }>(state: State): State => ({ ...state, fence: SAME_FENCE });
  jobs.on("claimJobs", async (claim, request) =>
    (await claim(request)).map((claimed) => ({ ...claimed, job: unfenced(claimed.job) })),
  );
  jobs.on("tryLockJobs", async (lock, tx, ids) => {
    const { locked, busy } = await lock(tx, ids);
    return { locked: new Map([...locked].map(([id, job]) => [id, unfenced(job)])), busy };
  });
  jobs.on(
    "renewLeases",
    async (renew, owner, ids, until) => new Map([...(await renew(owner, ids, until))].map(([id]) => [id, SAME_FENCE])),
  );
  return jobs.on("updateJobs", (update, tx, updates) =>
    update(
      tx,
      updates.flatMap(({ changes: { fence: _fence, ...changes }, ...one }) => underAnyFence({ ...one, changes })),
    ),
  );
}

/** What became of a call is not known, and is written as a refusal. */
function carelessJobs(stores: Stores): Stores["jobs"] {
  return new FaultyPort(stores.jobs).on("updateAttempts", (update, tx, updates) =>
    update(
      tx,
      updates.map((one) =>
        one.changes.state === "unknown" ? { ...one, changes: { ...one.changes, state: "refused" } } : one,
      ),
    ),
  );
}

/** Nothing of every so many transactions is written. */
const LOST_EVERY = 7;

class LostCommit extends Error {
  constructor(readonly value: never) {
    super("Nothing was written.");
  }
}

function losingUnitOfWork(stores: Stores): Stores["unitOfWork"] {
  let transactions = 0;
  return new FaultyPort(stores.unitOfWork).on("inTransaction", async (run, work) => {
    transactions += 1;
    const isLost = transactions % LOST_EVERY === 0;
    try {
      return await run(async (tx, given) => {
        const value = await work(tx, given);
        if (isLost) throw new LostCommit(value as never);
        return value;
      });
    } catch (error) {
      if (error instanceof LostCommit) return error.value;
      throw error;
    }
  });
}

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
};

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

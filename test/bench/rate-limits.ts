import { MemoryRateLimiter } from "../../adapters/rate-limits/memory/rate-limiter.js";
import { SharedRateLimiter } from "../../adapters/rate-limits/shared/rate-limiter.js";
import { SystemClock } from "../../adapters/system/clock.js";
import type { RateLimiter, WindowRule } from "../../core/ports/rate-limiter.js";
import type { UnitOfWork } from "../../core/ports/unit-of-work.js";
import { anId } from "../support/builders.js";
import { SILENT, sqliteStorage } from "../support/databases.js";
import type { StorageUnderTest } from "../support/storage-under-test.js";
import { mysqlStorage } from "../support/mysql.js";
import { type Bench, type Figure, median, perSecond } from "./figures.js";

const SECONDS = 0.7;
const ROUNDS = 5;
const ACCOUNTS = 200;
const CONCURRENT = 64;

/** So high that nothing is refused, and that a process may count locally. */
const WIDE: readonly WindowRule[] = [
  { limit: 1_000_000_000, windowSeconds: 60 },
  { limit: 1_000_000_000, windowSeconds: 86_400 },
];

/** One request of an account, sequential per caller; `CONCURRENT` callers at once. */
type Caller = (account: string) => Promise<unknown>;

/** Counting a request: in memory, with counts shared in batches, and with every request in the shared counts first. */
export const rateLimits: Bench = {
  name: "rate-limits",
  compares: "counting a request in memory with counting it together with other processes",
  async run() {
    const memory = new MemoryRateLimiter(new SystemClock());
    const figures = await against(
      "nothing",
      { "rate limits: memory": (account) => memory.consume(account, WIDE) },
      () => Promise.resolve(),
    );
    for (const { name, open } of [sqliteStorage, mysqlStorage]) {
      const storage = await open();
      figures.push(...(await shared(name, storage, memory)));
      await storage.close();
    }
    return figures;
  },
};

async function shared(name: string, storage: StorageUnderTest, memory: RateLimiter): Promise<Figure[]> {
  let transactions = 0;
  const unitOfWork: UnitOfWork = {
    concurrentWriters: storage.unitOfWork.concurrentWriters,
    inTransaction(work) {
      transactions += 1;
      return storage.unitOfWork.inTransaction(work);
    },
  };
  const limiter = new SharedRateLimiter({
    counts: storage.rateCounts,
    unitOfWork,
    clock: new SystemClock(),
    logger: SILENT,
  });
  let counted = 0;
  const batched: Caller = (account) => {
    counted += 1;
    return limiter.consume(account, WIDE);
  };
  const figures = await against("memory", { [`${name}: shared, in batches`]: batched }, (account) =>
    memory.consume(account, WIDE),
  );
  const perTransaction = counted / transactions;
  figures.push({
    name: `${name}: requests per transaction`,
    value: Math.round(perTransaction).toLocaleString("en"),
    baseline: "",
    ratio: null,
    target: null,
  });

  // Each account sends 12 requests, then the next one does: under so small a limit no process may count locally.
  const names = new Map<string, { asked: number; subject: string }>();
  const asked: Caller = (account) => {
    let current = names.get(account);
    if (current === undefined || current.asked === 12)
      names.set(account, (current = { asked: 0, subject: anId("acct") }));
    current.asked += 1;
    return limiter.consume(current.subject, [
      { limit: 12, windowSeconds: 60 },
      { limit: 500, windowSeconds: 86_400 },
    ]);
  };
  figures.push(
    ...(await against("a transaction for each", { [`${name}: shared, limit of 12`]: asked }, () =>
      storage.unitOfWork.inTransaction((tx) =>
        storage.rateCounts.insertCounts(tx, [
          { subject: anId("acct"), windowSeconds: 60, startedAt: Date.now(), count: 1 },
        ]),
      ),
    )),
  );
  await limiter.close();
  return figures;
}

/** Measures in turn, round after round. */
async function against(what: string, callers: Readonly<Record<string, Caller>>, baseline: Caller): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const [name, caller] of Object.entries(callers)) {
    const rounds: { readonly rate: number; readonly base: number }[] = [];
    for (let round = 0; round < ROUNDS; round++)
      rounds.push({ rate: await rateOf(caller), base: await rateOf(baseline) });
    figures.push({
      name,
      value: perSecond(median(rounds.map(({ rate }) => rate))),
      baseline: `${what}: ${perSecond(median(rounds.map(({ base }) => base)))}`,
      ratio: median(rounds.map(({ rate, base }) => rate / base)),
      target: null,
    });
  }
  return figures;
}

/** @returns requests per second */
async function rateOf(caller: Caller): Promise<number> {
  const begunAt = performance.now();
  const endsAt = begunAt + SECONDS * 1000;
  let done = 0;
  await Promise.all(
    Array.from({ length: CONCURRENT }, async (_, index) => {
      for (let next = index; performance.now() < endsAt; next += CONCURRENT) {
        await caller(`account ${next % ACCOUNTS}`);
        done += 1;
        // Yields to timers and the network, as between requests.
        if (done % 1_000 === 0) await new Promise((resolve) => setImmediate(resolve));
      }
    }),
  );
  return done / ((performance.now() - begunAt) / 1000);
}

import { once } from "node:events";
import { setImmediate as nextTurn, setTimeout as pause } from "node:timers/promises";
import { createStores, type KnexDatabase, openDatabase, type Stores } from "../../adapters/storage/sql/index.js";
import type { Session, TransactionSession } from "../../adapters/storage/sql/session.js";
import type { Clock } from "../../core/ports/clock.js";
import { SILENT, TEST_PORTS } from "./databases.js";
import { query } from "./mysql-server.js";

/** Closed at first. Waiters continue when it is opened, and it stays open. */
export class Gate {
  readonly opened: Promise<void>;
  readonly open: () => void;

  constructor() {
    let open = (): void => undefined;
    this.opened = new Promise((resolve) => (open = resolve));
    this.open = open;
  }
}

/** Where a transaction is held: after the statement that matches, or before its commit. */
export type Point = RegExp | "before commit";

/** A process on a shared database, with its own connections. */
export interface SteppedProcess {
  readonly stores: Stores;
  readonly database: KnexDatabase;
  /** Holds the first transaction at this point, until the test releases it. */
  holdAt(point: Point): { readonly reached: Promise<void>; goOn(): void };
  /** For use cases of this process: {@link blocked} takes one that sleeps for one that waits for another process. */
  clockOf(time: Pick<Clock, "now">): Clock;
  /** Resolves when one of its transactions waits for another process. */
  blocked(): Promise<void>;
  /** Lets a waiting transaction retry, where it is not in the engine's own queue. */
  retry(): void;
  close(): Promise<void>;
}

/** @param url of an open storage, whose schema is there */
export async function openSteppedProcess(url: string): Promise<SteppedProcess> {
  // On SQLite a wait blocks the thread, on which the lock's owner runs here too; so waiting means retrying there.
  const isSqlite = url.startsWith("sqlite:");
  const database = await openDatabase({ url, logger: SILENT, ...(isSqlite ? { lockWaitMs: 1 } : {}) });
  const [blocked, retry] = [new Gate(), new Gate()];
  const clockOf = (time: Pick<Clock, "now">): Clock => ({
    now: () => time.now(),
    async sleep(_ms, signal) {
      blocked.open();
      await Promise.race([retry.opened, signal === undefined ? retry.opened : aborted(signal)]);
      await nextTurn();
    },
  });
  const clock = clockOf(TEST_PORTS.clock);
  return {
    clockOf,
    stores: createStores(database, { ...TEST_PORTS, clock: isSqlite ? clock : TEST_PORTS.clock }),
    database,
    holdAt: (point) => holdAt(database, point),
    async blocked() {
      const stopLooking = new AbortController();
      await Promise.race([blocked.opened, ...(isSqlite ? [] : [lockWait(url, stopLooking.signal)])]);
      stopLooking.abort();
    },
    retry: retry.open,
    close: () => database.close(),
  };
}

async function aborted(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await once(signal, "abort");
}

/** Holds the first transaction of this handle at the point, until the test releases it. */
export function holdAt(database: KnexDatabase, point: Point): { readonly reached: Promise<void>; goOn(): void } {
  const [reached, goOn] = [new Gate(), new Gate()];
  const begin = database.transaction.bind<KnexDatabase["transaction"]>(database);
  const stop = async (): Promise<void> => {
    database.transaction = begin;
    reached.open();
    await goOn.opened;
  };
  database.transaction = (work) =>
    begin(async (session) => {
      if (point !== "before commit") return work(stoppedAfter(session, point, stop));
      const result = await work(session);
      // What returns nothing may not be on its way yet: it travels with this.
      await session.all("SELECT 1");
      await stop();
      return result;
    });
  return { reached: reached.opened, goOn: goOn.open };
}

function stoppedAfter(session: TransactionSession, point: RegExp, stop: () => Promise<void>): TransactionSession {
  const watched = Object.create(session) as { -readonly [name in keyof Session]: Session[name] } & TransactionSession;
  for (const name of ["all", "allEach", "run", "runEach"] as const) {
    watched[name] = async (sql: string, values: never) => {
      const result = (await session[name](sql, values)) as never;
      if (point.test(sql)) await stop();
      return result;
    };
  }
  return watched;
}

/** The engine's own report is never stale; `information_schema.innodb_trx` is when it is read often. */
const WAITING = /LOCK WAIT[^]*?(?:MySQL|MariaDB) thread id (\d+)/g;

const BOUND_MS = 15_000;

/**
 * Resolves when a transaction in the database of this URL waits for a lock.
 *
 * @returns the number of its connection; 0 when aborted
 */
export async function lockWait(url: string, signal?: AbortSignal): Promise<number> {
  for (const until = performance.now() + BOUND_MS; performance.now() < until; await pause(10)) {
    if (signal?.aborted) return 0;
    const [report] = await query<{ Status: string }>(url, "SHOW ENGINE INNODB STATUS");
    const waiting = Array.from((report?.Status ?? "").matchAll(WAITING), (match) => Number(match[1]));
    const ours = await query<{ id: number }>(
      url,
      "SELECT id AS id FROM information_schema.processlist WHERE db = DATABASE()",
    );
    const found = ours.find(({ id }) => waiting.includes(id));
    if (found !== undefined) return found.id;
  }
  throw new Error(`No transaction waited for a lock within ${BOUND_MS} ms.`);
}

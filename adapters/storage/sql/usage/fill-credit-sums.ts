import { LOG_KEPT_MS } from "../../../../core/ports/request-log.js";
import type { Transaction } from "../../../../core/ports/unit-of-work.js";
import type { Dialect } from "../dialect.js";
import { CREDITS_SUMMED_UP_TO, type CreditsSummedUpTo } from "../migrations/0054-credit-sums.js";
import { type Session, sessionOf } from "../session.js";
import { fromJson } from "../table.js";
import { SPAN_MS, startOf } from "./count-spans.js";
import { addingStatement, REFUNDED } from "./credit-sums.js";

/** Accounts that a step looks at for one with jobs. */
const ACCOUNTS = 100;
/** Older ones are in no usage. */
const SUMMED_MS = LOG_KEPT_MS + SPAN_MS.day;

const FIND_PLACE = "SELECT value FROM {installation} WHERE name = ?";
const WRITE_PLACE = "UPDATE {installation} SET value = ? WHERE name = ?";
const DELETE_PLACE = "DELETE FROM {installation} WHERE name = ?";
const NEXT_ACCOUNTS = "SELECT account_id FROM {balances} WHERE account_id > ? ORDER BY account_id LIMIT ?";
const LOCK_BALANCE = "SELECT account_id FROM {balances} WHERE account_id = ?";
const FROM = (index: string): string =>
  `FROM {jobs}${index} WHERE account_id = ? AND requested_at >= ? ORDER BY requested_at`;
const DELETE_HOURS = "DELETE FROM {credit_sums} WHERE account_id = ? AND starts_at >= ? AND starts_at < ?";
const ENDED = "j.account_id = ? AND j.requested_at >= ? AND j.requested_at < ? AND j.status IN ('completed', 'failed')";

/**
 * Sums up jobs that had ended before their credits were summed as they ended: account by account, so many jobs in a
 * step, in whole hours. The account's balance is locked meanwhile, so that none of its jobs ends: what is in the sums
 * of these hours is deleted, and written from the jobs.
 *
 * @returns whether there may be more now
 */
export async function fillCreditSums(tx: Transaction, dialect: Dialect, now: number, limit: number): Promise<boolean> {
  const session = sessionOf(tx);
  const [found] = await session.all<{ readonly value: string }>(FIND_PLACE + dialect.forUpdate, [CREDITS_SUMMED_UP_TO]);
  if (found === undefined) return false;
  const place = fromJson<CreditsSummedUpTo>(found.value);
  if (now < place.others) return false;
  const next = place.from === null ? await nextAccount(session, dialect, place, now) : place;
  if (next === null) {
    await session.run(DELETE_PLACE, [CREDITS_SUMMED_UP_TO]);
    return false;
  }
  const after = next.from === null ? next : await fillHours(session, dialect, { ...next, from: next.from }, limit);
  await session.run(WRITE_PLACE, [JSON.stringify(after), CREDITS_SUMMED_UP_TO]);
  return true;
}

/** The next account with jobs, or the last of some that have none; null: there is no other account. */
async function nextAccount(
  session: Session,
  dialect: Dialect,
  place: CreditsSummedUpTo,
  now: number,
): Promise<CreditsSummedUpTo | null> {
  const accounts = await session.all<{ account_id: string }>(NEXT_ACCOUNTS, [place.accountId, ACCOUNTS]);
  const last = accounts.at(-1);
  if (last === undefined) return null;
  const oldest = `SELECT account_id, requested_at ${FROM(dialect.useIndex("jobs_usage"))} LIMIT 1`;
  const lists = accounts.map(({ account_id: id }) => [id, now - SUMMED_MS]);
  const [first] = await session.allEach<{ account_id: string; requested_at: number }>(oldest, lists);
  if (first === undefined) return { ...place, accountId: last.account_id };
  return { ...place, accountId: first.account_id, from: startOf(first.requested_at, "hour") };
}

async function fillHours(
  session: Session,
  dialect: Dialect,
  place: CreditsSummedUpTo & { readonly from: number },
  limit: number,
): Promise<CreditsSummedUpTo> {
  const { accountId, from } = place;
  const index = dialect.useIndex("jobs_usage");
  await session.all(LOCK_BALANCE + dialect.forUpdate, [accountId]);
  const beyond = `SELECT requested_at ${FROM(index)} LIMIT 1 OFFSET ?`;
  const [row] = await session.all<{ requested_at: number }>(beyond, [accountId, from, limit]);
  const to = row === undefined ? null : Math.max(startOf(row.requested_at, "hour"), from + SPAN_MS.hour);
  const hours = [accountId, from, to ?? Number.MAX_SAFE_INTEGER];
  await session.run(DELETE_HOURS, hours);
  await session.run(addingStatement(dialect, { index, where: ENDED, refunded: REFUNDED }), hours);
  return { ...place, from: to };
}

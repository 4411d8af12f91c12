import { type Balance, type LedgerEntry, type Movement, post } from "./balance.js";

/**
 * Sets the monthly bucket to the tier's allowance: what is left of the old month expires, the new month is added. Reserved
 * credits stay reserved, and a later refund returns them on top.
 *
 * @see decisions, "Credits"
 */
export function renew(balance: Balance, allowance: number, now: number): Movement {
  const entries: LedgerEntry[] = [];
  let after = balance;
  const add = (kind: "expire" | "renew", monthly: number): void => {
    if (monthly === 0) return;
    const posted = post(after, { kind, monthly, createdAt: now });
    entries.push(posted.entry);
    after = posted.balance;
  };
  add("expire", -balance.monthly);
  add("renew", allowance);
  return { after, entries };
}

import { type Balance, type LedgerEntry, type Movement, post } from "./balance.js";

/**
 * Sets the monthly bucket to the tier's allowance: what is left of the old month expires, the new month is added.
 * Reserved credits stay reserved, and a later refund returns them on top. The `renew` entry is written also for an
 * allowance of 0: it records that the period was renewed.
 *
 * @param reference of the account and period, see {@link renewalReference}
 * @see decisions, "Credits"
 */
export function renew(balance: Balance, allowance: number, reference: string, now: number): Movement {
  const entries: LedgerEntry[] = [];
  let after = balance;
  const add = (draft: Pick<LedgerEntry, "kind" | "monthly" | "reference">): void => {
    const posted = post(after, { ...draft, createdAt: now });
    entries.push(posted.entry);
    after = posted.balance;
  };
  if (balance.monthly > 0) add({ kind: "expire", monthly: -balance.monthly, reference: null });
  add({ kind: "renew", monthly: allowance, reference });
  return { after, entries };
}

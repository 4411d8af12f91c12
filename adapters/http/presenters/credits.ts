import { available, type Balance } from "../../../core/credits/balance.js";

/** Whole credits. Reservations of running jobs are already taken out. */
export interface Credits {
  /**
   * What can be spent now: `monthly_credits` and `pack_credits` together.
   * @isInt
   */
  available: number;
  /**
   * What is left of the month's allowance; spent first.
   * @isInt
   */
  monthly_credits: number;
  /**
   * What is left of bought packs.
   * @isInt
   */
  pack_credits: number;
  /**
   * What completed jobs were charged, over the life of the account.
   * @isInt
   */
  total_spent: number;
}

export function presentCredits(balance: Balance): Credits {
  return {
    available: available(balance),
    monthly_credits: balance.monthly,
    pack_credits: balance.pack,
    total_spent: balance.spent,
  };
}

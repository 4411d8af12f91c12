import type { Account } from "../../../core/ports/account.js";

/** Who the API key speaks for. */
export interface Profile {
  id: string;
  email_verified: boolean;
  /** One of the tiers that this installation has. */
  account_tier: string;
  /** Whether the account may use the API. */
  api_available: boolean;
}

export function presentProfile(account: Account): Profile {
  return {
    id: account.id,
    email_verified: account.emailVerified,
    account_tier: account.tier,
    api_available: account.termsAcceptedAt !== null,
  };
}

import type { LedgerViolation } from "../../../../core/ports/ledger-store.js";

export type BrokenRow = Readonly<Record<string, string | number | null>> & { readonly subject: string };

/**
 * `reserved_monthly 5, live_jobs_monthly 0`: what a query selects in addition to the subject, under the names it gives.
 */
export function toViolation(invariant: string, { subject, ...found }: BrokenRow): LedgerViolation {
  const words = Object.entries(found).map(([name, value]) => `${name} ${value ?? "none"}`);
  return { invariant, subject, found: words.join(", ") };
}

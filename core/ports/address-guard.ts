/** The result of a host look-up. */
export type Resolution =
  /** Every address it has may be reached. */
  | { readonly state: "allowed"; readonly addresses: readonly string[] }
  /** At least one of its addresses, or its name, is not to be reached. */
  | { readonly state: "blocked"; readonly addresses: readonly string[] }
  /** The name has no address, or DNS did not respond in time. */
  | { readonly state: "unresolved"; readonly reason: string };

/**
 * Decides which hosts this installation may connect to for callers and providers: webhooks and downloads from
 * providers. Only global unicast addresses and the names and networks that config admits. One policy for registration,
 * delivery and download. Replaced through the override `addressGuard` of `compose`.
 *
 * @see decisions, "Webhooks"; webhooks, section 5
 */
export interface AddressGuard {
  /**
   * Checks a host as `URL.hostname` gives it (lower case, IPv6 in brackets), without looking it up. A literal address
   * is checked by the address policy, a name by the rules for names; a name that passes may still resolve to a blocked
   * address.
   */
  admitsHost(hostname: string): boolean;

  /** Resolves the host and checks every address; a literal address is checked as it is. Never rejects. */
  resolve(hostname: string, maxMs: number): Promise<Resolution>;
}

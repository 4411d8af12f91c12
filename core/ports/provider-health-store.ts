import type { ProviderHealth } from "../providers/circuit-breaker.js";
import type { Transaction } from "./unit-of-work.js";

/** Breaker state of the providers and of what they offer, by id, shared by all processes. */
export interface ProviderHealthStore {
  /** All providers that have a state; one that never failed may be among them. */
  listHealth(): Promise<ProviderHealth[]>;
  /** The provider's health, kept from changing until `tx` ends; null when it never failed. */
  lockHealth(tx: Transaction, providerId: string): Promise<ProviderHealth | null>;
  saveHealth(tx: Transaction, health: ProviderHealth): Promise<void>;
}

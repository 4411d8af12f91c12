import type { Transaction } from "./unit-of-work.js";

/** The state of the circuit breaker of a provider, or of what it offers. */
export interface ProviderHealth {
  /** Of the provider, or of what it offers (`healthIdOf`). */
  readonly providerId: string;
  /** Failures in a row. */
  readonly failures: number;
  /** Set while open or half-open. */
  readonly openedAt: number | null;
  /**
   * While half-open: until then one job is the trial. It expires by itself, because the worker of the trial may be
   * lost.
   */
  readonly trialUntil: number | null;
}

/** Breaker state of the providers and of what they offer, by id, shared by all processes. Selected by `storage.url`. */
export interface ProviderHealthStore {
  /** All providers that have a state; one that never failed may be among them. */
  listHealth(): Promise<ProviderHealth[]>;
  /** The provider's health, kept from changing until `tx` ends; null when it never failed. */
  lockHealth(tx: Transaction, providerId: string): Promise<ProviderHealth | null>;
  saveHealth(tx: Transaction, health: ProviderHealth): Promise<void>;
}

import { healthyProvider, type ProviderHealth } from "../../../core/jobs/circuit-breaker.js";
import type { ProviderHealthStore } from "../../../core/ports/provider-health-store.js";
import type { Transaction } from "../../../core/ports/unit-of-work.js";
import type { KnexDatabase } from "./database.js";
import { type HealthRow, PROVIDER_HEALTH, toHealth, toHealthRow } from "./rows.js";
import { columnsOf, sessionOf } from "./session.js";

const LIST = `SELECT ${columnsOf(PROVIDER_HEALTH)} FROM provider_health ORDER BY provider_id`;
const FIND = `SELECT ${columnsOf(PROVIDER_HEALTH)} FROM provider_health WHERE provider_id = ?`;

export class KnexProviderHealthStore implements ProviderHealthStore {
  constructor(private readonly database: KnexDatabase) {}

  async listHealth(): Promise<ProviderHealth[]> {
    const rows = await this.database.reading((session) => session.all<HealthRow>(LIST));
    return rows.map(toHealth);
  }

  async lockHealth(tx: Transaction, providerId: string): Promise<ProviderHealth | null> {
    const session = sessionOf(tx);
    const [row] = await session.all<HealthRow>(FIND + this.database.dialect.forUpdate, [providerId]);
    if (row !== undefined) return toHealth(row);
    // A row that is not there cannot be locked; of two that make it, one runs again and finds it.
    await session.insert(PROVIDER_HEALTH, [toHealthRow(healthyProvider(providerId))]);
    return null;
  }

  async saveHealth(tx: Transaction, health: ProviderHealth): Promise<void> {
    await sessionOf(tx).upsert(PROVIDER_HEALTH, [toHealthRow(health)]);
  }
}

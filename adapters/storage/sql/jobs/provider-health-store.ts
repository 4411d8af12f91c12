import { healthyProvider } from "../../../../core/providers/circuit-breaker.js";
import type { ProviderHealthStore, ProviderHealth } from "../../../../core/ports/provider-health-store.js";
import type { Transaction } from "../../../../core/ports/unit-of-work.js";
import type { KnexDatabase } from "../database.js";
import type { Dialect } from "../dialect.js";
import { columnsOf, type Session, sessionOf } from "../session.js";
import { plain, type RowOf, table } from "../table.js";

const PROVIDER_HEALTH = table(
  "provider_health",
  {
    providerId: plain<string>(),
    failures: plain<number>(),
    openedAt: plain<number | null>(),
    trialUntil: plain<number | null>(),
  },
  ["providerId"],
);
type HealthRow = RowOf<typeof PROVIDER_HEALTH>;

const LIST = `SELECT ${columnsOf(PROVIDER_HEALTH)} FROM {provider_health} ORDER BY provider_id`;
const FIND = `SELECT ${columnsOf(PROVIDER_HEALTH)} FROM {provider_health} WHERE provider_id = ?`;

/** Keeps every other transaction that wants this provider's row waiting. */
export async function lockProvider(
  session: Session,
  dialect: Dialect,
  providerId: string,
): Promise<ProviderHealth | null> {
  const [row] = await session.all<HealthRow>(FIND + dialect.forUpdate, [providerId]);
  if (row !== undefined) return PROVIDER_HEALTH.fromRow(row);
  // A row that is not there cannot be locked; of two that make it, one runs again and finds it.
  await session.insert(PROVIDER_HEALTH, [PROVIDER_HEALTH.toRow(healthyProvider(providerId))]);
  return null;
}

export class KnexProviderHealthStore implements ProviderHealthStore {
  constructor(private readonly database: KnexDatabase) {}

  async listHealth(): Promise<ProviderHealth[]> {
    const rows = await this.database.reading((session) => session.all<HealthRow>(LIST));
    return rows.map(PROVIDER_HEALTH.fromRow);
  }

  lockHealth(tx: Transaction, providerId: string): Promise<ProviderHealth | null> {
    return lockProvider(sessionOf(tx), this.database.dialect, providerId);
  }

  async saveHealth(tx: Transaction, health: ProviderHealth): Promise<void> {
    await sessionOf(tx).upsert(PROVIDER_HEALTH, [PROVIDER_HEALTH.toRow(health)]);
  }
}

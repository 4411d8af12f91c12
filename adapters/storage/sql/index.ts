import type { Clock } from "../../../core/ports/clock.js";
import type { Random } from "../../../core/ports/random.js";
import type { Stores } from "../../../core/ports/stores.js";
import { KnexActivityStore } from "./usage/activity-store.js";
import { KnexAccountStore } from "./accounts/account-store.js";
import { KnexAdminTokenStore } from "./accounts/admin-token-store.js";
import { KnexAuditLog } from "./accounts/audit-log.js";
import { KnexCallbackStore } from "./jobs/callback-store.js";
import type { KnexDatabase } from "./database.js";
import { KnexErasureStore } from "./erasure/erasure-store.js";
import { KnexGrowthStore } from "./growth-store.js";
import { KnexIdempotencyStore } from "./jobs/idempotency-store.js";
import { KnexInstallationStore } from "./installation-store.js";
import { KnexJobStore } from "./jobs/job-store.js";
import { KnexLedgerStore } from "./ledger/ledger-store.js";
import { KnexLibraryStore } from "./library/library-store.js";
import { KnexProviderHealthStore } from "./jobs/provider-health-store.js";
import { KnexRateCountStore } from "./usage/rate-count-store.js";
import { KnexRequestLogStore } from "./usage/request-log-store.js";
import type { Reads } from "./replica.js";
import { KnexUnitOfWork } from "./unit-of-work.js";
import { KnexUploadStore } from "./library/upload-store.js";
import { KnexWebhookStore } from "./webhooks/webhook-store.js";

export { ForeignTablesError, type KnexDatabase, type SchemaStatus } from "./database.js";
export { type DatabaseOptions, openDatabase, openHostDatabase, TABLE_PREFIX } from "./open-database.js";
export { Replica } from "./replica.js";
export type { Stores };
export { ThreadLeaseRenewal } from "./lease-renewal/lease-renewal-thread.js";
export type { StorageAddress } from "./lease-renewal/messages.js";

/**
 * @param ports for the waits between the attempts of a transaction
 * @param oldReads where what may be old is read: logs, usage, figures, searches of the library
 */
export function createStores(
  database: KnexDatabase,
  ports: { readonly clock: Clock; readonly random: Random },
  oldReads: Reads = database,
): Stores {
  const unitOfWork = new KnexUnitOfWork(database, ports.clock, ports.random);
  const library = new KnexLibraryStore(database, undefined, oldReads);
  return {
    unitOfWork,
    accounts: new KnexAccountStore(database),
    adminTokens: new KnexAdminTokenStore(database),
    auditLog: new KnexAuditLog(database),
    ledger: new KnexLedgerStore(database, unitOfWork),
    idempotency: new KnexIdempotencyStore(database),
    jobs: new KnexJobStore(database, unitOfWork),
    callbacks: new KnexCallbackStore(database),
    library,
    health: new KnexProviderHealthStore(database),
    rateCounts: new KnexRateCountStore(database),
    installation: new KnexInstallationStore(database, unitOfWork),
    requestLog: new KnexRequestLogStore(database, undefined, oldReads),
    uploads: new KnexUploadStore(database),
    webhooks: new KnexWebhookStore(database, unitOfWork),
    activity: new KnexActivityStore(database, oldReads),
    erasures: new KnexErasureStore(database, library),
    growth: new KnexGrowthStore(database),
  };
}

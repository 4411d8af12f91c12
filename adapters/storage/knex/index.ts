import type { AccountStore } from "../../../core/ports/account-store.js";
import type { AuditLog } from "../../../core/ports/audit-log.js";
import type { CallbackStore } from "../../../core/ports/callback-store.js";
import type { Clock } from "../../../core/ports/clock.js";
import type { IdempotencyStore } from "../../../core/ports/idempotency-store.js";
import type { InstallationStore } from "../../../core/ports/installation-store.js";
import type { JobStore } from "../../../core/ports/job-store.js";
import type { LedgerStore } from "../../../core/ports/ledger-store.js";
import type { LibraryStore } from "../../../core/ports/library-store.js";
import type { ProviderHealthStore } from "../../../core/ports/provider-health-store.js";
import type { RequestLogStore } from "../../../core/ports/request-log-store.js";
import type { Random } from "../../../core/ports/random.js";
import type { RateCountStore } from "../../../core/ports/rate-count-store.js";
import type { UnitOfWork } from "../../../core/ports/unit-of-work.js";
import type { UploadStore } from "../../../core/ports/upload-store.js";
import type { WebhookStore } from "../../../core/ports/webhook-store.js";
import { KnexAccountStore } from "./account-store.js";
import { KnexAuditLog } from "./audit-log.js";
import { KnexCallbackStore } from "./callback-store.js";
import type { KnexDatabase } from "./database.js";
import { KnexIdempotencyStore } from "./idempotency-store.js";
import { KnexInstallationStore } from "./installation-store.js";
import { KnexJobStore } from "./job-store.js";
import { KnexLedgerStore } from "./ledger-store.js";
import { KnexLibraryStore } from "./library-store.js";
import { KnexProviderHealthStore } from "./provider-health-store.js";
import { KnexRateCountStore } from "./rate-count-store.js";
import { KnexRequestLogStore } from "./request-log-store.js";
import { KnexUnitOfWork } from "./unit-of-work.js";
import { KnexUploadStore } from "./upload-store.js";
import { KnexWebhookStore } from "./webhook-store.js";

export { type DatabaseOptions, type KnexDatabase, openDatabase, type SchemaStatus } from "./database.js";
export { ThreadLeaseRenewal } from "./heartbeat/lease-renewal-thread.js";

/** Every store of one database. They hold nothing of their own: closing the database is all there is to close. */
export interface Stores {
  readonly unitOfWork: UnitOfWork;
  readonly accounts: AccountStore;
  readonly auditLog: AuditLog;
  readonly ledger: LedgerStore;
  readonly idempotency: IdempotencyStore;
  readonly jobs: JobStore;
  readonly callbacks: CallbackStore;
  readonly library: LibraryStore;
  readonly health: ProviderHealthStore;
  readonly rateCounts: RateCountStore;
  readonly installation: InstallationStore;
  readonly requestLog: RequestLogStore;
  readonly uploads: UploadStore;
  readonly webhooks: WebhookStore;
}

/** @param ports for the waits between the tries of a transaction */
export function createStores(
  database: KnexDatabase,
  ports: { readonly clock: Clock; readonly random: Random },
): Stores {
  const unitOfWork = new KnexUnitOfWork(database, ports.clock, ports.random);
  return {
    unitOfWork,
    accounts: new KnexAccountStore(database),
    auditLog: new KnexAuditLog(database),
    ledger: new KnexLedgerStore(database),
    idempotency: new KnexIdempotencyStore(),
    jobs: new KnexJobStore(database, unitOfWork),
    callbacks: new KnexCallbackStore(database),
    library: new KnexLibraryStore(database),
    health: new KnexProviderHealthStore(database),
    rateCounts: new KnexRateCountStore(database),
    installation: new KnexInstallationStore(database, unitOfWork),
    requestLog: new KnexRequestLogStore(database),
    uploads: new KnexUploadStore(database),
    webhooks: new KnexWebhookStore(database, unitOfWork),
  };
}

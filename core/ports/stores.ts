import type { AccountStore } from "./account-store.js";
import type { ActivityStore } from "./activity-store.js";
import type { AdminTokenStore } from "./admin-token-store.js";
import type { AuditLog } from "./audit-log.js";
import type { CallbackStore } from "./callback-store.js";
import type { ErasureStore } from "./erasure-store.js";
import type { GrowthStore } from "./growth-store.js";
import type { IdempotencyStore } from "./idempotency-store.js";
import type { InstallationStore } from "./installation-store.js";
import type { JobStore } from "./job-store.js";
import type { LedgerStore } from "./ledger-store.js";
import type { LibraryStore } from "./library-store.js";
import type { ProviderHealthStore } from "./provider-health-store.js";
import type { RateCountStore } from "./rate-count-store.js";
import type { RequestLogStore } from "./request-log-store.js";
import type { UnitOfWork } from "./unit-of-work.js";
import type { UploadStore } from "./upload-store.js";
import type { WebhookStore } from "./webhook-store.js";

/**
 * Every store of one database. They hold nothing of their own: closing the database is all there is to close. Replaced
 * whole, through the override `stores` of `compose`.
 */
export interface Stores {
  readonly unitOfWork: UnitOfWork;
  readonly accounts: AccountStore;
  readonly adminTokens: AdminTokenStore;
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
  readonly activity: ActivityStore;
  readonly erasures: ErasureStore;
  readonly growth: GrowthStore;
}

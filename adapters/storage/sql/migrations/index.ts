import type { Knex } from "knex";
import type { Dialect } from "../dialect.js";
import type { TableNames } from "../table-names.js";
import { accounts } from "./0001-accounts.js";
import { ledger } from "./0002-ledger.js";
import { jobs } from "./0003-jobs.js";
import { idempotency } from "./0004-idempotency.js";
import { library } from "./0005-library.js";
import { providerHealth } from "./0006-provider-health.js";
import { installation } from "./0007-installation.js";
import { leaseIndex } from "./0008-lease-index.js";
import { providerTrials } from "./0009-provider-trials.js";
import { webhooks } from "./0010-webhooks.js";
import { rateCounts } from "./0011-rate-counts.js";
import { requestLog } from "./0012-request-log.js";
import { librarySearch } from "./0013-library.js";
import { providers } from "./0014-providers.js";
import { searchSegments } from "./0015-search-segments.js";
import { splitReference } from "./0016-split-reference.js";
import { attempts } from "./0017-attempts.js";
import { assetKeys } from "./0018-asset-keys.js";
import { callbackAttempts } from "./0019-callback-attempts.js";
import { suspension } from "./0020-suspension.js";
import { audit } from "./0021-audit.js";
import { linkGeneration } from "./0023-link-generation.js";
import { refusedRequests } from "./0024-refused-requests.js";
import { collectionsBegun } from "./0025-collections-begun.js";
import { routeHealth } from "./0026-route-health.js";
import { uploads } from "./0028-uploads.js";
import { trackLyrics } from "./0029-track-lyrics.js";
import { externalIds } from "./0030-external-ids.js";
import { endNumbers } from "./0031-end-numbers.js";
import { cancelRequests } from "./0032-cancel-requests.js";
import { installationId } from "./0033-installation-id.js";
import { attemptProgress } from "./0034-attempt-progress.js";
import { adminTokens } from "./0037-admin-tokens.js";
import { jobsByProvider } from "./0038-jobs-by-provider.js";
import { activity } from "./0039-activity.js";
import { accountDeletions } from "./0040-account-deletions.js";
import { keyUses } from "./0041-key-uses.js";
import { jobTraces } from "./0042-job-traces.js";
import { eventTraces } from "./0043-event-traces.js";
import { eventNumbers } from "./0046-event-numbers.js";
import { trackDeletions } from "./0047-track-deletions.js";
import { retention } from "./0048-retention.js";
import { ledgerCheckpoints } from "./0049-ledger-checkpoints.js";
import { requestCounts } from "./0050-request-counts.js";
import { shownJobs } from "./0052-shown-jobs.js";
import { ledgerOpenings } from "./0053-ledger-openings.js";
import { creditSums } from "./0054-credit-sums.js";
import { jobRoom } from "./0055-job-room.js";
import type { Migration } from "./migration.js";

/** In the order in which they are applied. */
export const MIGRATIONS: readonly Migration[] = [
  accounts,
  ledger,
  jobs,
  idempotency,
  library,
  providerHealth,
  installation,
  leaseIndex,
  providerTrials,
  webhooks,
  rateCounts,
  requestLog,
  librarySearch,
  providers,
  searchSegments,
  splitReference,
  attempts,
  assetKeys,
  callbackAttempts,
  suspension,
  audit,
  linkGeneration,
  refusedRequests,
  collectionsBegun,
  routeHealth,
  uploads,
  trackLyrics,
  externalIds,
  endNumbers,
  cancelRequests,
  installationId,
  attemptProgress,
  adminTokens,
  jobsByProvider,
  activity,
  accountDeletions,
  keyUses,
  jobTraces,
  eventTraces,
  eventNumbers,
  trackDeletions,
  retention,
  ledgerCheckpoints,
  requestCounts,
  shownJobs,
  ledgerOpenings,
  creditSums,
  jobRoom,
];

/** Versions that do not know this migration cannot tell whether a newer schema still serves them. */
const FIRST_NEEDED = "0047-track-deletions";

/** The name of the migration that a version must know to run on the schema that `migrations` make. */
export function neededBy(migrations: readonly Migration[]): string {
  return migrations.findLast(({ needs }) => needs !== undefined)?.needs ?? FIRST_NEEDED;
}

/** Named by hand: knex would record file names, and those differ between the sources and what is built from them. */
export function migrationSource(dialect: Dialect, names: TableNames): Knex.MigrationSource<Migration> {
  return {
    getMigrations: () => Promise.resolve([...MIGRATIONS]),
    getMigrationName: (migration) => migration.name,
    getMigration: (migration) =>
      Promise.resolve({
        up: (knex: Knex) => migration.up(knex, dialect.columns, names),
        down: () => Promise.reject(new Error("Migrations only go forward; restore a backup to go back.")),
      }),
  };
}

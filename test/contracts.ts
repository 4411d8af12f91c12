/**
 * `fermata-music/testing/contracts`: the contract suite of every port, for adapters and plugins of other packages. Each
 * is a function that defines tests of mocha; it needs the optional peer dependencies `mocha`, `chai`, `fast-check` and
 * `fflate`.
 */
export { accountStoreContract } from "./contract/account-store.contract.js";
export { activityStoreContract } from "./contract/activity-store.contract.js";
export { adapterContract, type AdapterPlace } from "./contract/adapter.contract.js";
export { type ContractReport, runAdapterContract } from "./support/run-contract.js";
export { addressGuardContract, type GuardUnderTest } from "./contract/address-guard.contract.js";
export { assetOpenerContract, type AssetOpenerUnderTest } from "./contract/asset-opener.contract.js";
export { audioAnalyserContract } from "./contract/audio-analyser.contract.js";
export { audioStoreContract, type AudioStoreUnderTest } from "./contract/audio-store.contract.js";
export { auditLogContract } from "./contract/audit-log.contract.js";
export { callbackStoreContract } from "./contract/callback-store.contract.js";
export { clockContract, type ClockUnderTest } from "./contract/clock.contract.js";
export { coverPainterContract } from "./contract/cover-painter.contract.js";
export { digestContract } from "./contract/digest.contract.js";
export { erasureStoreContract } from "./contract/erasure-store.contract.js";
export { growthStoreContract } from "./contract/growth-store.contract.js";
export {
  hostTransactionsContract,
  type HostTransactionsUnderTest,
  type HostTransactionUnderTest,
} from "./contract/host-transactions.contract.js";
export { idGeneratorContract } from "./contract/id-generator.contract.js";
export { idempotencyStoreContract } from "./contract/idempotency-store.contract.js";
export { importFilesContract, type ImportFilesUnderTest } from "./contract/import-files.contract.js";
export { installationStoreContract } from "./contract/installation-store.contract.js";
export { jobQueueContract } from "./contract/job-queue.contract.js";
export { jobRetentionContract } from "./contract/job-retention.contract.js";
export { jobStoreContract } from "./contract/job-store.contract.js";
export { keyringContract, type KeyringUnderTest } from "./contract/keyring.contract.js";
export { leaseRenewalContract, type LeaseRenewalUnderTest } from "./contract/lease-renewal.contract.js";
export { ledgerStoreContract } from "./contract/ledger-store.contract.js";
export { libraryStoreContract } from "./contract/library-store.contract.js";
export { loggerContract, type LoggerUnderTest } from "./contract/logger.contract.js";
export * from "./contract/music-provider.contract.js";
export { adminTokenStoreContract } from "./contract/admin-token-store.contract.js";
export { providerHealthStoreContract } from "./contract/provider-health-store.contract.js";
export { providerLimitsContract } from "./contract/provider-limits.contract.js";
export { providerSandboxContract } from "./contract/provider-sandbox.contract.js";
export { randomContract } from "./contract/random.contract.js";
export { rateCountStoreContract } from "./contract/rate-count-store.contract.js";
export { rateLimiterContract } from "./contract/rate-limiter.contract.js";
export { requestLogStoreContract } from "./contract/request-log-store.contract.js";
export { secretBoxContract } from "./contract/secret-box.contract.js";
export { selfCheckContract, type SelfCheckUnderTest } from "./contract/self-check.contract.js";
export { tracerContract, type TracerUnderTest } from "./contract/tracer.contract.js";
export { unitOfWorkContract } from "./contract/unit-of-work.contract.js";
export { uploadStoreContract } from "./contract/upload-store.contract.js";
export { type SenderUnderTest, webhookSenderContract } from "./contract/webhook-sender.contract.js";
export { webhookStoreContract } from "./contract/webhook-store.contract.js";
export { storageUnderTest, type StorageUnderTest, type StorageWith } from "./support/storage-under-test.js";

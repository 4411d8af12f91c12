import { accountStoreContract } from "../contract/account-store.contract.js";
import { activityStoreContract } from "../contract/activity-store.contract.js";
import { describeBoundValues } from "./sql-bound-values.js";
import { auditLogContract } from "../contract/audit-log.contract.js";
import { callbackStoreContract } from "../contract/callback-store.contract.js";
import { erasureStoreContract } from "../contract/erasure-store.contract.js";
import { growthStoreContract } from "../contract/growth-store.contract.js";
import { idempotencyStoreContract } from "../contract/idempotency-store.contract.js";
import { installationStoreContract } from "../contract/installation-store.contract.js";
import { jobRetentionContract } from "../contract/job-retention.contract.js";
import { jobStoreContract } from "../contract/job-store.contract.js";
import { ledgerStoreContract } from "../contract/ledger-store.contract.js";
import { libraryStoreContract } from "../contract/library-store.contract.js";
import { adminTokenStoreContract } from "../contract/admin-token-store.contract.js";
import { providerHealthStoreContract } from "../contract/provider-health-store.contract.js";
import { providerLimitsContract } from "../contract/provider-limits.contract.js";
import { rateCountStoreContract } from "../contract/rate-count-store.contract.js";
import { unitOfWorkContract } from "../contract/unit-of-work.contract.js";
import { uploadStoreContract } from "../contract/upload-store.contract.js";
import { webhookStoreContract } from "../contract/webhook-store.contract.js";
import { sqliteStorage } from "../support/databases.js";
import { mysqlStorage } from "../support/mysql.js";

for (const { name, open } of [sqliteStorage, mysqlStorage]) {
  unitOfWorkContract(name, open);
  accountStoreContract(name, open);
  auditLogContract(name, open);
  ledgerStoreContract(name, open);
  idempotencyStoreContract(name, open);
  jobStoreContract(name, open);
  callbackStoreContract(name, open);
  libraryStoreContract(name, open);
  adminTokenStoreContract(name, open);
  providerHealthStoreContract(name, open);
  providerLimitsContract(name, open);
  rateCountStoreContract(name, open);
  installationStoreContract(name, open);
  uploadStoreContract(name, open);
  webhookStoreContract(name, open);
  activityStoreContract(name, open);
  erasureStoreContract(name, open);
  growthStoreContract(name, open);
  jobRetentionContract(name, open);
}

describeBoundValues(sqliteStorage.name, sqliteStorage.open);
describeBoundValues(mysqlStorage.name, mysqlStorage.open);

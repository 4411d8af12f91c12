import type { ServiceIdentifier } from "inversify";
import type { HttpDeps } from "../adapters/http/index.js";
import type { Core } from "../core/create-core.js";
import type { CorePorts } from "../core/ports/core-ports.js";
import type { Settings } from "./settings.js";

function token<T>(name: string): ServiceIdentifier<T> {
  return Symbol(name);
}

/** One for each port of the core: where an adapter takes its place. */
export const PORTS: { readonly [Port in keyof CorePorts]: ServiceIdentifier<CorePorts[Port]> } = {
  clock: token("Clock"),
  ids: token("IdGenerator"),
  random: token("Random"),
  digest: token("Digest"),
  logger: token("Logger"),
  metrics: token("Metrics"),
  unitOfWork: token("UnitOfWork"),
  accounts: token("AccountStore"),
  adminTokens: token("AdminTokenStore"),
  auditLog: token("AuditLog"),
  ledger: token("LedgerStore"),
  idempotency: token("IdempotencyStore"),
  jobs: token("JobStore"),
  callbacks: token("CallbackStore"),
  library: token("LibraryStore"),
  health: token("ProviderHealthStore"),
  rateCounts: token("RateCountStore"),
  installation: token("InstallationStore"),
  requestLog: token("RequestLogStore"),
  uploads: token("UploadStore"),
  webhooks: token("WebhookStore"),
  queue: token("JobQueue"),
  audio: token("AudioStore"),
  assetOpener: token("AssetOpener"),
  audioAnalyser: token("AudioAnalyser"),
  coverPainter: token("CoverPainter"),
  addressGuard: token("AddressGuard"),
  webhookSender: token("WebhookSender"),
  keyring: token("Keyring"),
  secretKeys: token("SecretKeys"),
  secretBox: token("SecretBox"),
  rateLimiter: token("RateLimiter"),
  renewLeases: token("LeaseRenewal"),
};

export const TOKENS = {
  settings: token<Settings>("Settings"),
  core: token<Core>("Core"),
  httpDeps: token<HttpDeps>("HttpDeps"),
} as const;

import type { ProcessId } from "../ids.js";
import type { AddressGuard } from "./address-guard.js";
import type { AssetOpener } from "./asset-opener.js";
import type { AudioAnalyser } from "./audio-analyser.js";
import type { AudioStore } from "./audio-store.js";
import type { Clock } from "./clock.js";
import type { CoverPainter } from "./cover-painter.js";
import type { Digest } from "./digest.js";
import type { IdGenerator } from "./id-generator.js";
import type { JobQueue } from "./job-queue.js";
import type { RefreshableKeyring } from "./keyring.js";
import type { LeaseRenewal } from "./lease-renewal.js";
import type { Logger } from "./logger.js";
import type { Metrics } from "./metrics.js";
import type { Random } from "./random.js";
import type { RateLimiter } from "./rate-limiter.js";
import type { SecretBox } from "./secret-box.js";
import type { SecretKeys } from "./secret-keys.js";
import type { Stores } from "./stores.js";
import type { Tracer } from "./tracer.js";
import type { WebhookSender } from "./webhook-sender.js";

/** What adapters give the core. A core with these and its options is whole. */
export interface CorePorts extends Stores {
  readonly clock: Clock;
  readonly ids: IdGenerator;
  readonly random: Random;
  readonly digest: Digest;
  readonly logger: Logger;
  /** null: nothing is counted. */
  readonly metrics: Metrics | null;
  /** null: nothing is traced. */
  readonly tracer: Tracer | null;
  readonly queue: JobQueue;
  readonly audio: AudioStore;
  readonly assetOpener: AssetOpener;
  readonly audioAnalyser: AudioAnalyser;
  readonly coverPainter: CoverPainter;
  readonly addressGuard: AddressGuard;
  readonly webhookSender: WebhookSender;
  readonly keyring: RefreshableKeyring;
  readonly secretKeys: SecretKeys;
  readonly secretBox: SecretBox;
  readonly rateLimiter: RateLimiter;
  /** Renews the leases of one process. */
  readonly renewLeases: (owner: ProcessId, leaseMs: number) => LeaseRenewal;
}

import { NodeDigest } from "../../../adapters/crypto/digest.js";
import { MemoryRateLimiter } from "../../../adapters/rate-limits/memory/rate-limiter.js";
import { UlidGenerator } from "../../../adapters/system/id-generator.js";
import type { CoreOptions } from "../../../core/core-options.js";
import { ClockLeaseRenewal } from "../../../core/leases/clock-lease-renewal.js";
import type { Clock } from "../../../core/ports/clock.js";
import type { CorePorts } from "../../../core/ports/core-ports.js";
import type { Random } from "../../../core/ports/random.js";
import type { SecretBox } from "../../../core/ports/secret-box.js";
import type { Stores } from "../../../core/ports/stores.js";
import type { SeededRandom } from "../chaos/seeded-random.js";
import { OPTIONS } from "../core-options.js";
import { FixedKeyring } from "../doubles/fixed-keyring.js";
import { StubGuard } from "../doubles/stub-guard.js";
import { FALLBACKS, PROVIDERS, SPLITTERS } from "./plan.js";
import { catalogueOf, modelOf } from "./plugin.js";

const keyring = new FixedKeyring();

/** Times are short, so that a run is over within minutes of simulated time. */
export const SIM_OPTIONS: CoreOptions = {
  ...OPTIONS,
  actor: "simulation",
  providers: catalogueOf(),
  tiers: OPTIONS.tiers.map((tier) => ({ ...tier, maxConcurrent: 100 })),
  routes: {
    fallbacks: Object.fromEntries(PROVIDERS.map((id) => [modelOf(id), [modelOf(FALLBACKS[id])]])),
    splits: { stem_split: SPLITTERS, vocal_removal: [] },
  },
  breaker: { failures: 5, openMs: 6_000 },
  jobs: {
    // Few, so that providers refuse as often, and jobs go to their fallbacks or fail.
    retry: { maxAttempts: 2, backoffMs: 1_000 },
    queueDeadlineMs: 30 * 60_000,
    renderDeadlineMs: 30 * 60_000,
    unknownGraceMs: 45_000,
    confirmMs: 20_000,
    leaseMs: 6_000,
    sweepMs: 9_000,
    submissions: "active",
  },
  // What is past its time is none of a run of a minute.
  maintenance: { everyMs: 20_000 },
  reachableUrl: "https://music.example",
  webhooks: { ...OPTIONS.webhooks, timeoutMs: 1_500, scheduleMs: [1_500, 3_000, 4_500, 6_000, 9_000, 12_000, 15_000] },
};

/** Readable and the same in every run; what it keeps secret is no matter of a simulation. */
const PLAIN_BOX: SecretBox = {
  seal: (text, context) => `${keyring.current("webhook-secrets").id} ${context} ${text}`,
  open: async (sealed) => sealed.split(" ")[2] ?? "",
  keyIdOf: (sealed) => sealed.split(" ")[0] ?? "",
};

export class SimRandom implements Random {
  constructor(private readonly random: SeededRandom) {}

  bytes(count: number): Uint8Array {
    const bytes = new Uint8Array(count);
    for (let index = 0; index < count; index++) bytes[index] = this.random.fraction() * 256;
    return bytes;
  }

  fraction(): number {
    return this.random.fraction();
  }
}

export type GivenPorts = Pick<
  CorePorts,
  "logger" | "queue" | "audio" | "assetOpener" | "audioAnalyser" | "coverPainter" | "webhookSender"
>;

/** Ports of one process. */
export function simPorts(stores: Stores, clock: Clock, random: Random, given: GivenPorts): CorePorts {
  const { logger } = given;
  return {
    ...stores,
    ...given,
    clock,
    random,
    ids: new UlidGenerator(clock, random),
    digest: new NodeDigest(),
    metrics: null,
    tracer: null,
    addressGuard: new StubGuard(),
    keyring,
    secretKeys: {
      origin: "settings",
      place: "simulation",
      load: async () => [keyring.current("webhook-secrets").id],
      add: () => Promise.reject(new Error("No key is added in a simulation.")),
      keepOnly: () => Promise.resolve(),
    },
    secretBox: PLAIN_BOX,
    rateLimiter: new MemoryRateLimiter(clock),
    renewLeases: (owner, leaseMs) => new ClockLeaseRenewal({ owner, leaseMs, jobs: stores.jobs, clock, logger }),
  };
}

import { NodeDigest } from "../../adapters/crypto/digest.js";
import { AesSecretBox } from "../../adapters/crypto/secret-box.js";
import { MemoryJobQueue } from "../../adapters/queue/memory/job-queue.js";
import { MemoryRateLimiter } from "../../adapters/rate-limits/memory/rate-limiter.js";
import { ClockLeaseRenewal } from "../../core/leases/clock-lease-renewal.js";
import type { CorePorts } from "../../core/ports/core-ports.js";
import type { Stores } from "../../core/ports/stores.js";
import { anId } from "./builders.js";
import { SILENT } from "./databases.js";
import { FixedKeyring } from "./doubles/fixed-keyring.js";
import { ManualRandom } from "./doubles/manual-random.js";
import { MemoryAudioStore } from "./doubles/memory-audio-store.js";
import { RecordingSender } from "./doubles/recording-sender.js";
import { StubGuard } from "./doubles/stub-guard.js";

/** Ports for which a test has no adapter by default. */
type Given = "assetOpener" | "audioAnalyser" | "coverPainter" | "secretKeys";

type GivenPorts = Partial<CorePorts> & Pick<CorePorts, "clock">;

/** Every port on these stores: the given ones, else a double or an adapter without external dependencies. */
export function corePorts(stores: Stores, given: GivenPorts): CorePorts {
  const { clock, logger = SILENT, keyring = new FixedKeyring(), jobs = stores.jobs } = given;
  const ports: Omit<CorePorts, Given> = {
    ...stores,
    clock,
    logger,
    keyring,
    ids: { next: anId },
    random: new ManualRandom(),
    digest: new NodeDigest(),
    metrics: null,
    tracer: null,
    queue: new MemoryJobQueue(logger),
    audio: new MemoryAudioStore(clock),
    addressGuard: new StubGuard(),
    webhookSender: new RecordingSender(),
    secretBox: new AesSecretBox(keyring),
    rateLimiter: new MemoryRateLimiter(clock),
    renewLeases: (owner, leaseMs) => new ClockLeaseRenewal({ owner, leaseMs, jobs, clock, logger }),
  };
  return { ...absent, ...ports, ...given };
}

/** Fails with the name of a missing port when it is used. */
const absent = Object.fromEntries(
  (["assetOpener", "audioAnalyser", "coverPainter", "secretKeys"] as const).map((port) => [port, missing(port)]),
) as unknown as Pick<CorePorts, Given>;

function missing(port: Given): object {
  const used = (): never => {
    throw new Error(`This test uses the port ${port} and gives none.`);
  };
  return new Proxy({}, { get: used });
}

import { type Core, createCore } from "../../core/create-core.js";
import type { CoreOptions } from "../../core/core-options.js";
import type { CorePorts } from "../../core/ports/core-ports.js";
import { corePorts } from "./core-ports.js";
import { OPTIONS } from "./core-options.js";
import { ManualClock } from "./doubles/manual-clock.js";
import { MemoryAudioStore } from "./doubles/memory-audio-store.js";
import { RecordingLogger } from "./doubles/recording-logger.js";
import { RecordingMetrics } from "./doubles/recording-metrics.js";
import { RecordingSender } from "./doubles/recording-sender.js";
import { memoryStorage, type MemoryStorage } from "./memory-storage.js";

/** A core for one test, with what the test looks at. */
export interface MemoryCore {
  readonly core: Core;
  readonly storage: MemoryStorage;
  /** What the core was created with. */
  readonly ports: CorePorts;
  readonly clock: ManualClock;
  readonly logger: RecordingLogger;
  readonly metrics: RecordingMetrics;
  readonly sender: RecordingSender;
  readonly audio: MemoryAudioStore;
}

export interface MemoryCoreOptions {
  readonly options?: Partial<CoreOptions>;
  /** Ports in place of the doubles and the stores. */
  readonly ports?: (storage: MemoryStorage) => Partial<CorePorts>;
}

/**
 * All use cases over the SQL stores in memory and a clock that stands still. Nothing has to be closed: the next one has
 * the same database, emptied.
 *
 * @example
 * const { core, storage } = await memoryCore();
 * const { id } = await storage.addAccount({}, { pack: 20 });
 * await core.credits.grant(id, 5, { bucket: "pack" });
 */
export async function memoryCore(given: MemoryCoreOptions = {}): Promise<MemoryCore> {
  const clock = new ManualClock();
  const storage = await memoryStorage(clock);
  const [logger, metrics, sender] = [new RecordingLogger(), new RecordingMetrics(), new RecordingSender()];
  const audio = new MemoryAudioStore(clock);
  const doubles = { clock, logger, metrics, audio, webhookSender: sender };
  const ports = corePorts(storage, { ...doubles, ...given.ports?.(storage) });
  const core = createCore(ports, { ...OPTIONS, providers: [], ...given.options });
  return { core, storage, ports, clock, logger, metrics, sender, audio };
}

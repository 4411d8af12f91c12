import { createStores } from "../../../adapters/storage/sql/index.js";
import { createCore } from "../../../core/create-core.js";
import type { AssetOpener } from "../../../core/ports/asset-opener.js";
import type { Clock } from "../../../core/ports/clock.js";
import type { Stores } from "../../../core/ports/stores.js";
import type { Workers } from "../../../core/workers.js";
import { SeededRandom } from "../chaos/seeded-random.js";
import { FaultyPort } from "../doubles/faulty-port.js";
import type { MemoryAudioStore } from "../doubles/memory-audio-store.js";
import type { Serving } from "./clients.js";
import type { Injector } from "./injector.js";
import { NotingLogger, type Notes } from "./noting-logger.js";
import { SIM_OPTIONS, simPorts, SimRandom } from "./options.js";
import { catalogueOf, type Overrides, workingProviders } from "./plugin.js";
import { SimProcess } from "./process.js";
import type { SimQueue } from "./queue.js";
import type { Receivers } from "./receivers.js";
import type { Actor, Scheduler } from "./scheduler.js";
import type { SimStorage } from "./storage.js";
import type { Vendor } from "./vendor.js";

/** A part that is broken on purpose: a test of the simulation itself. */
export interface Sabotage {
  /** Wraps the stores of a process. */
  readonly stores?: (stores: Stores) => Stores;
  readonly capabilities?: Overrides;
  readonly options?: Partial<typeof SIM_OPTIONS.jobs>;
}

export interface ClusterDeps extends Notes {
  readonly seed: number;
  readonly sabotage: Sabotage;
  readonly scheduler: Scheduler;
  readonly world: Actor;
  readonly injector: Injector<SimProcess>;
  readonly storage: SimStorage;
  readonly queue: SimQueue;
  readonly vendor: Vendor;
  readonly receivers: Receivers;
  readonly audio: MemoryAudioStore;
  readonly random: SeededRandom;
}

interface Machine {
  readonly number: number;
  /** Whether it works on jobs, or only serves clients. */
  readonly works: boolean;
  offsetMs: number;
  serving: (Serving & { readonly workers: Workers }) | null;
  started: number;
}

const MACHINES = 3;
/** So many of them work on jobs in every run, and all in every fourth. */
const WORKING = 2;
const ALL_WORK_EVERY = 4;
const STOP_GRACE_MS = 2_000;
const STOP_DRAIN_MS = 6_000;

/** The machines: each runs one process of Fermata after another. */
export class Cluster {
  private readonly machines: readonly Machine[];

  constructor(private readonly deps: ClusterDeps) {
    this.machines = Array.from({ length: MACHINES }, (_, number) => ({
      number,
      works: number < WORKING || deps.seed % ALL_WORK_EVERY === 0,
      offsetMs: 0,
      serving: null,
      started: 0,
    }));
  }

  async startAll(): Promise<void> {
    for (const machine of this.machines) await this.start(machine);
  }

  setClock(machine: number, offsetMs: number): void {
    const one = this.machines[machine];
    if (one !== undefined) one.offsetMs = offsetMs;
  }

  /** The processes that serve clients now. */
  serving(): Serving[] {
    return this.machines.flatMap(({ serving }) => serving ?? []);
  }

  kill(process: SimProcess, backAfterMs: number): void {
    process.die();
    const machine = this.machines[process.machine];
    if (machine?.serving?.process === process) machine.serving = null;
    // A transaction that it had open is rolled back by the storage.
    if (machine !== undefined) void this.startLater(machine, backAfterMs);
  }

  /** Its process stands still, clock and leases aside, and goes on as if nothing had been. */
  freeze(machine: number, until: number): void {
    const process = this.machines[machine]?.serving?.process;
    if (process !== undefined) process.frozenUntil = Math.max(process.frozenUntil, until);
  }

  thaw(): void {
    for (const { process } of this.serving()) process.thaw();
  }

  /** Whether no process stands still. */
  get isAwake(): boolean {
    const now = this.deps.scheduler.now();
    return this.serving().every(({ process }) => process.frozenUntil <= now);
  }

  async stop(number: number, backAfterMs: number): Promise<void> {
    const machine = this.machines[number];
    const serving = machine?.serving ?? null;
    if (machine === undefined || serving === null) return;
    machine.serving = null;
    const { workers, process } = serving;
    await Promise.race([workers.stop(STOP_GRACE_MS, { drainMs: STOP_DRAIN_MS }), process.died]);
    if (!process.isDead) process.die();
    await this.startLater(machine, backAfterMs);
  }

  private async startLater(machine: Machine, afterMs: number): Promise<void> {
    await this.deps.scheduler.sleep(this.deps.world, afterMs);
    if (machine.serving === null) await this.start(machine);
  }

  /** The clock of its machine, which is not quite right. */
  clockOf(process: SimProcess): Clock {
    const { machines } = this;
    const { scheduler } = this.deps;
    return {
      now: () => scheduler.now() + (machines[process.machine]?.offsetMs ?? 0),
      sleep: (ms, signal) => scheduler.sleep(process, ms, signal),
    };
  }

  private openerOf(process: SimProcess): AssetOpener {
    return {
      open: async (source) => {
        if (source.kind === "bytes") return { contentType: "audio/mpeg", bytes: chunked(source.bytes) };
        if (source.kind !== "url") throw new Error(`No provider of a simulation gives a ${source.kind}.`);
        const bytes = await process.call("download", () => this.deps.vendor.download(source.url));
        return { contentType: "audio/mpeg", bytes: chunked(bytes) };
      },
      close: () => Promise.resolve(),
    };
  }

  /** A new process, with a core of its own. */
  private async start(machine: Machine): Promise<void> {
    machine.started += 1;
    const process = new SimProcess(`node ${machine.number}.${machine.started}`, machine.number, this.processDeps());
    const { sabotage } = this.deps;
    const clock = this.clockOf(process);
    const random = new SimRandom(new SeededRandom(this.deps.seed * 31 + machine.number * 1_000 + machine.started));
    const opened = withoutRetention(createStores(this.deps.storage.open(process), { clock, random }));
    const stores = sabotage.stores?.(opened) ?? opened;
    const logger = new NotingLogger(process, {}, this.deps);
    const audio = process.outside("audio", this.deps.audio, ["put", "stat", "delete", "deleteAll", "list"]);
    const ports = simPorts(stores, clock, random, {
      logger,
      audio,
      queue: this.deps.queue.open(process),
      assetOpener: this.openerOf(process),
      audioAnalyser: { analyse: () => process.call("analyse", () => null), close: () => Promise.resolve() },
      coverPainter: { paint: () => process.call("paint", () => COVER) },
      webhookSender: this.deps.receivers.senderOf(process),
    });
    const jobs = { ...SIM_OPTIONS.jobs, ...sabotage.options };
    const core = createCore(ports, { ...SIM_OPTIONS, jobs, providers: catalogueOf(sabotage.capabilities) });
    const workers = core.createWorkers(workingProviders(process, this.deps.vendor, sabotage.capabilities));
    machine.serving = { process, core, workers };
    if (machine.works) await Promise.race([workers.start(), process.died]);
  }

  processDeps(): ConstructorParameters<typeof SimProcess>[2] {
    return {
      scheduler: this.deps.scheduler,
      injector: this.deps.injector,
      fraction: () => this.deps.random.fraction(),
    };
  }
}

/** Nothing is past its time within minutes, and each process looks for eight kinds of it: these looks take no step. */
function withoutRetention(stores: Stores): Stores {
  const growth = new FaultyPort(stores.growth).on("due", () => Promise.resolve({ rows: 0, oldestAt: null }));
  return { ...stores, growth };
}

const COVER = Uint8Array.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

async function* chunked(bytes: Uint8Array): AsyncIterable<Uint8Array> {
  yield bytes;
}

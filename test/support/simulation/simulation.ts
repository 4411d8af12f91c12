import { createStores } from "../../../adapters/storage/sql/index.js";
import { VerifyLedger } from "../../../core/credits/verify-ledger.js";
import { SeededRandom } from "../chaos/seeded-random.js";
import { MemoryAudioStore } from "../doubles/memory-audio-store.js";
import { Clients } from "./clients.js";
import { Cluster, type Sabotage } from "./cluster.js";
import { restoredDatabase } from "./database.js";
import { checkEnd, type Count, demandOf, leftToDo } from "./end-checks.js";
import { type Image, STARTS_AT } from "./image.js";
import { Injector } from "./injector.js";
import { InstantChecks } from "./instant-checks.js";
import type { Notes } from "./noting-logger.js";
import { SimRandom } from "./options.js";
import type { Fault, Plan, Script } from "./plan.js";
import { SimProcess } from "./process.js";
import { SimQueue } from "./queue.js";
import { Receivers } from "./receivers.js";
import { type Actor, Scheduler } from "./scheduler.js";
import { SimStorage } from "./storage.js";
import { Vendor, type Work } from "./vendor.js";

export interface RunOptions {
  readonly sabotage?: Sabotage;
  /** Invariants are checked after every so many steps that wrote, and after each fault. */
  readonly checkEvery?: number;
  /** The product's own ones take long: every so many of these times. */
  readonly productEvery?: number;
  /** Keeps every line of the history. */
  readonly keepsHistory?: boolean;
}

export interface Run {
  readonly seed: number;
  /** What was wrong; null: nothing. */
  readonly violation: string | null;
  /** The same for the same plan. */
  readonly hash: string;
  readonly steps: number;
  readonly commits: number;
  readonly calls: number;
  readonly simulatedMs: number;
  readonly count: Count | null;
  /** The last lines, and all of them where they were kept. */
  readonly history: readonly string[];
}

/** Faults end then, or as soon as everything is over, and everything that was down comes back. */
const HEALS_AT_MS = 25_000;
/** What a process that stood still does when it goes on, it does within this time. */
const QUIET_MS = 1_500;
/** Everything is over by then. */
const ENDS_AT_MS = 10 * 60_000;
const CHECK_EVERY = 4;
const PRODUCT_EVERY = 10;
const DEFAULT_SCRIPT: Script = { submissions: [], render: null, callback: null, renderMs: 2_000 };
const CALLBACK_RETRY_MS = 2_000;
/** A provider does not wait for a process that stands still. */
const CALLBACK_TIMEOUT_MS = 10_000;

/** One run of a plan: nodes, clients, providers and receivers in one process, without real time and real randomness. */
export async function simulate(plan: Plan, image: Image, options: RunOptions = {}): Promise<Run> {
  return new Simulation(plan, image, options).run();
}

class Simulation {
  private readonly world: Actor = { name: "world", isDead: false };
  private readonly scheduler: Scheduler;
  private readonly injector: Injector<SimProcess>;
  private readonly storage: SimStorage;
  private readonly checks: InstantChecks;
  private readonly queue: SimQueue;
  private readonly vendor: Vendor;
  private readonly receivers = new Receivers();
  private readonly audio: MemoryAudioStore;
  private readonly clients: Clients;
  private readonly random: SeededRandom;
  private readonly cluster: Cluster;
  private violation: string | null = null;
  private checkedChanges = 0;
  private unchecked = 0;
  private timesChecked = 0;
  private checkedFaults = 0;
  private leftAtChange = -1;
  private isQuiet = false;
  private healedAt = 0;

  constructor(
    private readonly plan: Plan,
    image: Image,
    private readonly options: RunOptions,
  ) {
    const { seed } = plan;
    const faults = [...plan.faults.values()];
    this.random = new SeededRandom(seed ^ 0x5bd1e995);
    const scheduler = (this.scheduler = new Scheduler(new SeededRandom(seed ^ 0x2545f491), STARTS_AT));
    if (options.keepsHistory === true) scheduler.history.lines = [];
    this.injector = new Injector<SimProcess>(faults, {
      now: () => scheduler.now(),
      kill: (process, backAfterMs) => this.cluster.kill(process, backAfterMs),
      stop: (machine, backAfterMs) => void this.cluster.stop(machine, backAfterMs),
      freeze: (machine, ms) => this.cluster.freeze(machine, scheduler.now() + ms),
      setClock: (machine, offsetMs) => this.cluster.setClock(machine, offsetMs),
      note: (line) => this.note(line),
    });
    const database = restoredDatabase(image);
    this.storage = new SimStorage(database, this.injector, seed % 2 === 0 ? 1 : 4);
    this.checks = new InstantChecks(database);
    scheduler.isBusy = () => this.storage.atWork > 0;
    const queueFaults = faults.filter((fault) => fault.kind === "queue");
    this.queue = new SimQueue(scheduler, this.world, this.random, queueFaults);
    const scripts = scriptsOf(faults);
    this.vendor = new Vendor({
      scheduler,
      actor: this.world,
      demandOf: (jobId) => demandOf(this.storage.database, jobId),
      scriptOf: (demand) => scripts.get(demand) ?? DEFAULT_SCRIPT,
      callBack: (work) => this.callBack(work),
      violate: (message) => this.violate(message),
    });
    for (const fault of faults)
      if (fault.kind === "receiver") this.receivers.script(image.urls[fault.endpoint] ?? "", fault.replies);
    this.audio = new MemoryAudioStore({ now: () => scheduler.now() });
    this.clients = new Clients({
      scheduler,
      actor: this.world,
      accounts: image.accounts,
      trackIds: image.trackIds,
      serving: () => this.random.pick(this.cluster.serving()) ?? null,
      violate: (message) => this.violate(message),
    });
    const { storage, queue, vendor, receivers, audio, injector, random, world } = this;
    const { sabotage = {} } = options;
    const notes: Notes = { note: (line) => this.note(line), violate: (message) => this.violate(message) };
    const around = { scheduler, storage, queue, vendor, receivers, audio, injector, random, world };
    this.cluster = new Cluster({ seed, sabotage, ...notes, ...around });
  }

  async run(): Promise<Run> {
    const { stackTraceLimit } = Error;
    // Aborted waits are exceptions, and their stacks take a fifth of a run; one that is shown has them.
    if (this.options.keepsHistory !== true) Error.stackTraceLimit = 0;
    try {
      return await this.runAll();
    } finally {
      this.scheduler.forget();
      Error.stackTraceLimit = stackTraceLimit;
    }
  }

  private async runAll(): Promise<Run> {
    await this.cluster.startAll();
    for (const [number, operation] of this.plan.operations) this.clients.begin(operation, number);
    void this.scheduler.sleep(this.world, HEALS_AT_MS).then(() => this.heal());
    let count: Count | null = null;
    try {
      const isOver = await this.scheduler.run(
        () => this.violation !== null || this.isDone(),
        STARTS_AT + ENDS_AT_MS,
        () => this.check(),
      );
      if (!isOver) this.violate(`It does not end: ${this.openEnds().join("; ")}`);
      if (this.violation === null) count = await this.checkEnd();
    } catch (error) {
      this.violate((error as Error).message);
    }
    return this.result(count);
  }

  private async checkEnd(): Promise<Count> {
    const broken = this.checks.find();
    if (broken !== null) throw new Error(broken);
    const { database } = this.storage;
    const demands = [...this.clients.demands.values()];
    const { vendor, receivers, audio } = this;
    const count = await checkEnd({ database, vendor, receivers, audio, demands });
    await this.verifyLedger();
    return count;
  }

  /** The product's own verification, as an operator runs it. */
  private async verifyLedger(): Promise<void> {
    const process = new SimProcess("operator", 0, this.cluster.processDeps());
    const stores = createStores(this.storage.open(process), {
      clock: this.cluster.clockOf(process),
      random: new SimRandom(this.random),
    });
    const verified = new VerifyLedger({ ...stores, clock: this.cluster.clockOf(process) }).verify({ full: true });
    let violations: readonly object[] | null = null;
    void verified.then((found) => (violations = found.violations));
    await this.scheduler.run(
      () => violations !== null,
      this.scheduler.now() + ENDS_AT_MS,
      () => undefined,
    );
    if (violations === null || (violations as readonly object[]).length > 0)
      throw new Error(`the ledger is not verified: ${JSON.stringify(violations)}`);
  }

  private result(count: Count | null): Run {
    const { history, steps } = this.scheduler;
    const { commits } = this.storage;
    const { calls } = this.injector;
    return {
      seed: this.plan.seed,
      violation: this.violation,
      hash: history.hash,
      steps,
      commits,
      calls,
      simulatedMs: this.scheduler.now() - STARTS_AT,
      count,
      history: history.lines ?? history.tail,
    };
  }

  private check(): void {
    const { changes } = this.storage;
    if (changes === this.checkedChanges) return;
    this.checkedChanges = changes;
    this.unchecked += 1;
    const { faults } = this.injector;
    if (faults === this.checkedFaults && this.unchecked < (this.options.checkEvery ?? CHECK_EVERY)) return;
    [this.unchecked, this.checkedFaults] = [0, faults];
    this.timesChecked += 1;
    const isTurn = this.timesChecked % (this.options.productEvery ?? PRODUCT_EVERY) === 0;
    const broken = this.checks.find() ?? (isTurn ? this.checks.findOfProduct() : null);
    if (broken !== null) this.violate(broken);
  }

  private isDone(): boolean {
    if (this.clients.open > 0 || this.vendor.underWay > 0) return false;
    if (this.leftAtChange !== this.storage.changes) {
      this.leftAtChange = this.storage.changes;
      this.isQuiet = leftToDo(this.storage.database).length === 0;
    }
    if (!this.isQuiet) return false;
    this.heal();
    return this.cluster.isAwake && this.scheduler.now() >= this.healedAt + QUIET_MS;
  }

  private openEnds(): readonly string[] {
    return [...leftToDo(this.storage.database), `${this.clients.open} operations of clients`];
  }

  private heal(): void {
    if (!this.injector.isActive) return;
    this.note("the world heals");
    this.injector.isActive = false;
    this.healedAt = this.scheduler.now();
    this.queue.isHealed = true;
    this.receivers.heal();
    this.cluster.thaw();
  }

  private async callBack(work: Work): Promise<void> {
    const [, providerId = "", jobId = "", token = ""] =
      /\/callbacks\/([^/]+)\/([^/]+)\/([^/]+)$/.exec(work.callbackUrl ?? "") ?? [];
    const body = Buffer.from(work.id);
    for (let isTaken = false; !isTaken;) {
      const serving = this.random.pick(this.cluster.serving());
      if (serving !== undefined) {
        const receive = serving.core.api.receiveCallback.receive({
          providerId,
          jobId,
          token,
          headers: {},
          query: {},
          body,
        });
        const taken = receive.then(() => true).catch((error: unknown) => this.refused(error));
        const timeout = this.scheduler.sleep(this.world, CALLBACK_TIMEOUT_MS);
        isTaken = await Promise.race([taken, serving.process.died.then(() => false), timeout.then(() => false)]);
      }
      if (!isTaken) await this.scheduler.sleep(this.world, CALLBACK_RETRY_MS);
    }
  }

  private refused(error: unknown): boolean {
    if ((error as { code?: unknown }).code !== "service_unavailable")
      this.violate(`A callback was refused: ${(error as Error).stack}`);
    return false;
  }

  violate(message: string): void {
    if (this.violation !== null) return;
    this.violation = message;
    this.note(`violation: ${message}`);
  }

  note(line: string): void {
    this.scheduler.history.note(`${this.scheduler.now() - STARTS_AT} ms: ${line}`);
  }
}

function scriptsOf(faults: readonly Fault[]): ReadonlyMap<number, Script> {
  return new Map(faults.flatMap((fault) => (fault.kind === "provider" ? [[fault.of, fault.script] as const] : [])));
}

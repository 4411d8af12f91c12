import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "chai";
import { ApiClient } from "../api-client.js";
import { RECORDING_PROVIDERS } from "../plugins/settings.js";
import { eventually, type Sandbox } from "../process.js";
import { checkAudio, checkCredits, checkJobs, checkLedger, createCallers } from "./checks.js";
import { Clients, type GenerationBody } from "./clients.js";
import { SeededRandom } from "./seeded-random.js";
import { Fleet, type Member } from "./fleet.js";
import { awaitAllEnded, jobIdIn, withSeedInError } from "./chaos.js";
import { checkSubmissions, type SubmissionCounts } from "./submissions.js";

export interface FleetChaos {
  /** The seed of everything random; the timing of the machine is not reproducible. */
  readonly seed: number;
  /** The number of faults, of processes or services, one after the other; restarts take their time meanwhile. */
  readonly faults: number;
  /** Demands between two faults. */
  readonly demandsPerFault: number;
  readonly accounts: number;
  /** Whether the database is killed too. */
  readonly withDatabase: boolean;
}

/** The results of a chaos test. */
export interface ChaosResult extends SubmissionCounts {
  readonly seed: number;
  readonly jobs: number;
  /** By fault and target: `kill work`. */
  readonly faults: { readonly [kind: string]: number };
  /** Requests without a response, and those that got a 503. */
  readonly lost: number;
  readonly refused: number;
}

type Target = Member | "broker" | "database";

/** Concurrent clients. */
const CLIENTS = 6;

/** Longer than a lease: a process that wakes up finds its jobs claimed by another worker. */
const FREEZE_MS = [1_800, 2_600] as const;

/** A channel that is closed repeatedly is opened after longer and longer pauses, of up to 30 s. */
const READY_MAX_MS = 60_000;

/**
 * Every half second RabbitMQ 3.10 stores the location of a new quorum queue's log. If it is killed before, the queue
 * still exists afterwards but never responds again, nor does any channel that has published to it.
 */
const BROKER_SPARED_MS = 2_000;

/** More entries mean a higher probability. */
const FATES = [
  "direct",
  "direct",
  "polled",
  "polled",
  "late",
  "late",
  "deaf",
  "refusing",
  "failing",
  "rejecting",
  "losing",
] as const;

/**
 * Kills, stops and freezes the processes of a fleet and kills its services while clients send requests, and checks
 * afterwards that every accepted job ended once, that the ledger is exact, and that no job reached a provider twice. A
 * failure names the seed.
 */
export function surviveFleetChaos(sandbox: Sandbox, chaos: FleetChaos): Promise<ChaosResult> {
  return withSeedInError(chaos.seed, async () => {
    const fleet = await Fleet.open(sandbox);
    try {
      return await new FleetChaosRun(sandbox, fleet, chaos).run();
    } catch (error) {
      if (error instanceof Error) error.message += `\n${fleet.logs}`;
      throw error;
    } finally {
      await fleet.close();
    }
  });
}

class FleetChaosRun {
  private readonly random: SeededRandom;
  private readonly faults: Record<string, number> = {};
  /** Targets that must not be hit for now. */
  private readonly troubled = new Set<Target>(["broker"]);

  constructor(
    private readonly sandbox: Sandbox,
    private readonly fleet: Fleet,
    private readonly chaos: FleetChaos,
  ) {
    this.random = new SeededRandom(chaos.seed);
  }

  async run(): Promise<ChaosResult> {
    const { sandbox, fleet, chaos: chaosTest, random: seeded } = this;
    const { dataDir, settings, members } = fleet;
    const callers = await createCallers(sandbox, dataDir, settings, chaosTest.accounts);
    await Promise.all(members.map((member) => fleet.start(member)));
    const clients = new Clients({
      random: seeded,
      callers,
      urls: () => fleet.urls,
      body: () => this.aBody(),
      findJobId: async (demand) => jobIdIn(await fleet.rows(), demand),
    });
    await this.rageWhile(clients);

    await awaitAllEnded(
      clients,
      () => fleet.rows(),
      () => fleet.checkAlive(),
    );
    for (const url of fleet.urls) {
      await eventually(
        `${url} is ready`,
        async () => (await new ApiClient(url, null).get("/readyz")).status === 200,
        READY_MAX_MS,
      );
      await checkCredits(url, callers, clients.demands);
    }
    for (const member of members) expect(await fleet.end(member, "SIGTERM"), `exit code of ${member.name}`).to.equal(0);
    await checkLedger(sandbox, dataDir, settings);
    const rows = await fleet.rows();
    checkJobs(rows, clients.demands);
    await checkAudio(rows, dataDir);
    const submissions = checkSubmissions(rows, fleet.recording.read());
    return { seed: chaosTest.seed, jobs: rows.jobs.length, faults: this.faults, ...submissions, ...clients.counts };
  }

  private aBody(): GenerationBody {
    const { random: seeded } = this;
    return {
      model_id: `${seeded.pick(RECORDING_PROVIDERS) as string}/${seeded.pick(FATES) as string}`,
      prompt: "silence",
    };
  }

  /**
   * Injects faults while the clients send requests. When either fails, both end before the error is thrown: no process
   * may start after that.
   */
  private async rageWhile(clients: Clients): Promise<void> {
    const over = new AbortController();
    const sparing = sleep(BROKER_SPARED_MS).then(() => void this.troubled.delete("broker"));
    const parts = [this.injectFaults(clients, over), clients.run(CLIENTS, over.signal)].map((part) =>
      part.finally(() => over.abort()),
    );
    await allDone([...parts, sparing]);
  }

  /** One fault after the other, until there were enough or it is `over`. Resolves when everything runs again. */
  private async injectFaults(clients: Clients, over: AbortController): Promise<void> {
    const { random: seeded, chaos: chaosTest } = this;
    const repairs: Promise<void>[] = [];
    while (repairs.length < chaosTest.faults && !over.signal.aborted) {
      await sleep(seeded.between(300, 1_300));
      const target = seeded.pick(this.targets());
      if (target === undefined) continue;
      clients.allow(chaosTest.demandsPerFault);
      const repair = this.inject(target);
      repair.catch(() => over.abort());
      repairs.push(repair);
    }
    await allDone(repairs);
  }

  /** Any running target. Not the database alone: without it no process can start again. */
  private targets(): readonly Target[] {
    const { fleet, troubled, chaos: chaosTest } = this;
    const well = [...fleet.members, "broker" as const].filter((target) => !troubled.has(target));
    const mayFall = chaosTest.withDatabase && !troubled.has("database") && well.length > 0;
    return mayFall ? [...well, "database"] : well;
  }

  private async inject(target: Target): Promise<void> {
    this.fleet.checkAlive();
    this.troubled.add(target);
    try {
      await (typeof target === "string" ? this.strikeService(target) : this.strikeMember(target));
    } finally {
      this.troubled.delete(target);
    }
  }

  private async strikeService(service: "broker" | "database"): Promise<void> {
    const { fleet } = this;
    this.count(`kill ${service}`);
    if (service === "database") return fleet.killDatabase(() => this.pause());
    await fleet.broker.kill();
    await this.pause();
    await fleet.broker.start();
  }

  private async strikeMember(member: Member): Promise<void> {
    const { random: seeded, fleet } = this;
    const chance = seeded.fraction();
    if (member.kind === "work" && chance < 0.2) return this.freeze(member);
    const signal = chance < 0.7 ? "SIGKILL" : "SIGTERM";
    this.count(`${signal === "SIGKILL" ? "kill" : "stop"} ${member.kind}`);
    const code = await fleet.end(member, signal);
    if (signal === "SIGTERM") expect(code, `exit code of ${member.name}`).to.equal(0);
    await this.pause();
    await fleet.start(member);
  }

  private async freeze({ kind, process: running }: Member): Promise<void> {
    this.count(`freeze ${kind}`);
    running?.signal("SIGSTOP");
    await sleep(this.random.between(...FREEZE_MS));
    running?.signal("SIGCONT");
  }

  private async pause(): Promise<void> {
    await sleep(this.random.between(0, 1_500));
  }

  private count(kind: string): void {
    this.faults[kind] = (this.faults[kind] ?? 0) + 1;
  }
}

/** Waits for all of them, also when one fails. @throws the error of the first failure */
async function allDone(parts: readonly Promise<void>[]): Promise<void> {
  await Promise.allSettled(parts);
  await Promise.all(parts);
}

import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "chai";
import { ApiClient, dataOf } from "../api-client.js";
import { withSeedInError } from "../chaos/chaos.js";
import { checkLedger, createCallers } from "../chaos/checks.js";
import type { Caller } from "../chaos/clients.js";
import { SeededRandom } from "../chaos/seeded-random.js";
import { brokenInvariants } from "../crashes/checks.js";
import { eventually, type Sandbox } from "../process.js";
import { checkRun, reportOf } from "./check-run.js";
import { NemesisClients } from "./clients.js";
import { type Fault, FAULTS, type FaultTimes } from "./faults.js";
import { Fleet, type FleetOptions } from "./fleet.js";
import type { Endpoint } from "./final-state.js";
import { leftIn, readFinalState } from "./read-final-state.js";
import { Recorder, type Server } from "./recorder.js";
import { grouped } from "./rules/rule.js";
import { Schedule } from "./schedule.js";

export interface NemesisOptions extends FaultTimes, FleetOptions {
  /** The seed of everything random; the timing of the machine is not reproducible. */
  readonly seed: number;
  /** How long faults begin. */
  readonly faultsMs: number;
  /** Faults at once, and the pause before another one begins. */
  readonly faultsAtOnce: number;
  readonly gapMs: readonly [number, number];
  readonly clients: number;
  /** The pauses of a client. */
  readonly clientPauseMs: readonly [number, number];
}

export interface NemesisResult {
  readonly seed: number;
  /** How often each fault was injected. */
  readonly faults: Readonly<Record<string, number>>;
  readonly requests: Readonly<Record<string, number>>;
  readonly jobs: number;
  readonly bought: number;
  readonly delivered: number;
  readonly lostByVendor: number;
  readonly cancelled: number;
  /** Delivery attempts that arrived. */
  readonly events: number;
  /** How often the invariants were checked while faults were under way. */
  readonly looks: number;
  readonly violations: number;
  /** From healing until everything had ended. */
  readonly healedAfterSeconds: number;
}

/** The longest time in which everything has to end after healing. */
export const REST_MAX_MS = 120_000;
/** The folder that gets the logs of a failed run. */
const LOGS = process.env["FERMATA_TEST_NEMESIS_LOGS"];
const LOOK_MS = 2_000;
/** The invariant that counts deliveries: here are two endpoints, and a rule of the history is about them. */
const OF_ONE_ENDPOINT = /^17, 18/;
/** Of a statement: it, its connection or its server was ended. */
const ENDED_ERRORS = [1053, 1317, 1927];
/** One account has hardly any credits, so that some requests are refused. */
const POOR_CREDITS = 5;
const RICH = 3;

/**
 * Faults of processes, connections, services, disk and clocks, while clients send all kinds of requests; then
 * everything is healed. Everything has to end in time, and the histories of all clients have to agree with the rows,
 * the vendor's record and those of the receivers.
 *
 * @throws {Error} with the seed, the faults and the entries of the history that show what is wrong
 */
export function surviveNemesis(sandbox: Sandbox, options: NemesisOptions): Promise<NemesisResult> {
  return withSeedInError(options.seed, async () => {
    const fleet = await Fleet.open(sandbox, options);
    const run = new NemesisRun(sandbox, fleet, options);
    try {
      return await run.run();
    } catch (error) {
      if (LOGS !== undefined) await fleet.writeLogs(LOGS);
      if (error instanceof Error) error.message += `\nFaults:\n${run.schedule.lines.join("\n")}\n${fleet.logs}`;
      throw error;
    } finally {
      await fleet.close();
    }
  });
}

/** @throws {Error} a fault that is named in the environment does not exist */
function chosenFaults(): readonly Fault[] {
  const names = process.env["FERMATA_TEST_NEMESIS_FAULTS"]?.split(",") ?? FAULTS.map(({ name }) => name);
  const unknown = names.filter((name) => !FAULTS.some((fault) => fault.name === name));
  if (unknown.length > 0) throw new Error(`There is no fault ${unknown.join()}.`);
  return FAULTS.filter(({ name }) => names.includes(name));
}

class NemesisRun {
  readonly schedule: Schedule;
  private readonly random: SeededRandom;
  private readonly recorder = new Recorder();
  /** How often the invariants were checked while faults were under way. */
  private looks = 0;

  constructor(
    private readonly sandbox: Sandbox,
    private readonly fleet: Fleet,
    private readonly options: NemesisOptions,
  ) {
    this.random = new SeededRandom(options.seed);
    const deps = { fleet, random: new SeededRandom(options.seed + 1), ...options };
    this.schedule = new Schedule(chosenFaults(), deps, () => this.recorder.now());
  }

  async run(): Promise<NemesisResult> {
    const { fleet, options } = this;
    const callers = await this.createCallers();
    await Promise.all(fleet.members.map((member) => fleet.start(member)));
    const servers = fleet.servers.map(({ name, port }): Server => ({ name, url: `http://127.0.0.1:${port}` }));
    fleet.vendor.vendor.callbacks.target = () => (this.random.pick(servers) as Server).url;
    const endpoints = await this.registerEndpoints(servers[0] as Server, callers);
    const clients = new NemesisClients({
      random: this.random,
      recorder: this.recorder,
      callers,
      servers,
      adminToken: fleet.adminToken,
      pauseMs: options.clientPauseMs,
    });
    await this.rageWhile(clients);

    const healedAt = performance.now();
    const patience = AbortSignal.timeout(REST_MAX_MS);
    await clients.settle(patience);
    const left = await this.ended(patience);
    const healedAfterSeconds = Math.round((performance.now() - healedAt) / 100) / 10;
    await clients.readAgain();
    for (const member of fleet.members)
      expect(await fleet.end(member, "SIGTERM"), `exit code of ${member.name}`).to.equal(0);
    await checkLedger(this.sandbox, fleet.dataDir, fleet.settings);
    expect(await brokenInvariants(fleet.database, OF_ONE_ENDPOINT), "invariants").to.deep.equal([]);

    const final = await readFinalState(fleet, endpoints, left);
    const history = this.recorder.history();
    const violations = checkRun({ history, final });
    if (violations.length > 0) throw new Error(reportOf(violations));
    const { purchases } = final;
    const countOf = (state: string): number => purchases.filter((purchase) => purchase.state === state).length;
    return {
      seed: options.seed,
      faults: this.schedule.counts,
      requests: countsOf(history.map(({ action, outcome }) => `${action.kind} ${outcome}`)),
      jobs: final.jobs.length,
      bought: purchases.length,
      delivered: purchases.filter(({ isDelivered }) => isDelivered).length,
      lostByVendor: countOf("lost"),
      cancelled: countOf("cancelled"),
      events: final.received.length,
      looks: this.looks,
      violations: violations.length,
      healedAfterSeconds,
    };
  }

  private async createCallers(): Promise<Caller[]> {
    const { sandbox, fleet } = this;
    const rich = await createCallers(sandbox, fleet.dataDir, fleet.settings, RICH);
    return [...rich, ...(await createCallers(sandbox, fleet.dataDir, fleet.settings, 1, POOR_CREDITS))];
  }

  /** Each account has an endpoint at every receiver. @returns the URLs, with the accounts */
  private async registerEndpoints({ url }: Server, callers: readonly Caller[]): Promise<Endpoint[]> {
    const endpoints: Endpoint[] = [];
    for (const { accountId, key } of callers) {
      for (const { relay } of this.fleet.receivers) {
        const endpoint = `http://${relay.address}/${accountId}`;
        const options = { headers: { "Content-Type": "application/json" }, body: { url: endpoint } };
        dataOf(await new ApiClient(url, key).send("POST", "/api/v1/webhook-endpoints", options));
        endpoints.push({ accountId, url: endpoint });
      }
    }
    return endpoints;
  }

  /** Injects faults while clients send requests. When either fails, both end before the error is thrown. */
  private async rageWhile(clients: NemesisClients): Promise<void> {
    const { options, schedule } = this;
    const over = new AbortController();
    const time = sleep(options.faultsMs, undefined, { signal: over.signal }).catch(() => undefined);
    const rage = async (): Promise<void> => {
      await schedule.run(time, over.signal, options);
    };
    const parts = [rage(), clients.run(options.clients, over.signal), this.watchInvariants(over.signal)].map((part) =>
      part.finally(() => over.abort()),
    );
    await Promise.allSettled(parts);
    await Promise.all(parts);
  }

  /** The invariants hold at every moment at which the database can be read. */
  private async watchInvariants(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const broken = await brokenInvariants(this.fleet.database, OF_ONE_ENDPOINT).catch(ifUnreadable);
      if (broken !== null) {
        expect(broken, "invariants, meanwhile").to.deep.equal([]);
        this.looks += 1;
      }
      await sleep(LOOK_MS);
    }
  }

  /** @returns what is left to do when the time is over */
  private async ended(patience: AbortSignal): Promise<string[]> {
    let left: string[] = [];
    await eventually(
      "everything has ended",
      async () => {
        this.fleet.checkAlive();
        left = await leftIn(this.fleet);
        return left.length === 0 || patience.aborted;
      },
      REST_MAX_MS,
    );
    return left;
  }
}

function countsOf(names: readonly string[]): Record<string, number> {
  return Object.fromEntries([...grouped(names, (name) => name)].sort().map(([name, all]) => [name, all.length]));
}

/** The database is down, or the connection was killed. */
function ifUnreadable(error: unknown): null {
  const { fatal = false, errno = 0 } = error as { readonly fatal?: boolean; readonly errno?: number };
  if (fatal || ENDED_ERRORS.includes(errno)) return null;
  throw error;
}

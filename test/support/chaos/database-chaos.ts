import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "chai";
import { ApiClient } from "../api-client.js";
import { CallRecording } from "../plugins/recording/call-recording.js";
import { RECORDING_PROVIDERS, recordingProviderSettings } from "../plugins/settings.js";
import { type Environment, eventually, type FermataProcess, type Sandbox } from "../process.js";
import { awaitAllEnded, CHAOS_SETTINGS, jobIdIn, withSeedInError } from "./chaos.js";
import { checkAudio, checkCredits, checkJobs, checkLedger, createCallers } from "./checks.js";
import { type Caller, Clients } from "./clients.js";
import { readMysqlRows, type Rows } from "./rows.js";
import { SeededRandom } from "./seeded-random.js";
import { checkSubmissions, type SubmissionCounts } from "./submissions.js";

/** What went wrong with a server. */
export interface Fault {
  readonly kind: string;
  /** Brings the server back. */
  repair(): Promise<void>;
}

/** Servers that keep one empty database together, and go on when one of them is lost. */
export interface ServersUnderChaos {
  /** In the form of `storage.url`, all servers in their order from this one on. */
  url(first: number): string;
  /** The same for each server alone. */
  readonly each: readonly string[];
  /** Where all is that was accepted, while every server is well. */
  readonly complete: string;
  /** Resolves when the others know of the fault and may take writes. */
  strike(random: SeededRandom): Promise<Fault>;
  /** Resolves when every server is well and has the same. */
  ready(): Promise<void>;
  close(): Promise<void>;
}

export interface DatabaseChaos {
  readonly seed: number;
  /** Servers of the database that are struck, one after the other. */
  readonly faults: number;
  readonly demandsPerFault: number;
}

export interface DatabaseChaosResult extends SubmissionCounts {
  readonly seed: number;
  readonly jobs: number;
  readonly faults: { readonly [kind: string]: number };
  /** How long the processes took no writes after each fault, in milliseconds. */
  readonly awayMs: readonly number[];
  readonly lost: number;
  readonly refused: number;
}

const CLIENTS = 4;

/** After a fault every process takes writes within this time. */
const WRITES_MAX_MS = 10_000;

const FATES = ["direct", "direct", "polled", "late", "deaf", "failing", "rejecting"] as const;

/**
 * Strikes the servers of a database one after the other, while two `serve` and two `work` whose lists of hosts begin
 * with different servers use it. Afterwards every accepted job has ended once, the ledger is exact, no job was
 * submitted twice, and every server has the same.
 */
export function surviveDatabaseChaos(
  sandbox: Sandbox,
  chaos: DatabaseChaos,
  open: () => Promise<ServersUnderChaos>,
): Promise<DatabaseChaosResult> {
  return withSeedInError(chaos.seed, async () => {
    const servers = await open();
    const run = new DatabaseChaosRun(sandbox, servers, chaos);
    try {
      return await run.run();
    } finally {
      await run.stop();
      await servers.close();
    }
  });
}

interface Server {
  readonly process: FermataProcess;
  readonly url: string;
}

class DatabaseChaosRun {
  private readonly random: SeededRandom;
  private readonly processes: FermataProcess[] = [];
  private readonly faults: Record<string, number> = {};
  private readonly awayMs: number[] = [];
  private dataDir = "";

  constructor(
    private readonly sandbox: Sandbox,
    private readonly database: ServersUnderChaos,
    private readonly chaos: DatabaseChaos,
  ) {
    this.random = new SeededRandom(chaos.seed);
  }

  async run(): Promise<DatabaseChaosResult> {
    const { sandbox, chaos } = this;
    this.dataDir = await sandbox.dataDir();
    const settings = this.settings(0);
    await sandbox.json(["migrate"], this.dataDir, settings);
    const [probing, ...callers] = await createCallers(sandbox, this.dataDir, settings, 4);
    if (probing === undefined) throw new Error("There is an account for each.");
    const servers = [await this.startServer(0), await this.startServer(1)];
    for (const first of [0, 1]) await this.startWorker(first);
    const clients = new Clients({
      random: this.random,
      callers,
      urls: () => servers.map(({ url }) => url),
      body: () => ({
        model_id: `${this.random.pick(RECORDING_PROVIDERS) as string}/${this.random.pick(FATES) as string}`,
        prompt: "silence",
      }),
      findJobId: async (demand) => jobIdIn(await this.rows(), demand),
    });
    await this.rageWhile(clients, servers, probing);
    await awaitAllEnded(
      clients,
      () => this.rows(),
      () => this.checkAlive(),
    );
    // Those of the probes, too.
    await eventually("every job has ended", async () =>
      (await this.rows()).jobs.every(({ phase }) => phase === "ended"),
    );
    for (const { url } of servers) await checkCredits(url, callers, clients.demands);
    for (const running of this.processes) expect(await running.stop()).to.equal(0);
    await checkLedger(sandbox, this.dataDir, settings);
    const rows = await this.rows();
    const probes = new Set(rows.jobs.filter(({ account_id }) => account_id === probing.accountId).map(({ id }) => id));
    checkJobs(rowsWithout(rows, probing.accountId, probes), clients.demands);
    await checkAudio(rows, this.dataDir);
    await this.database.ready();
    for (const url of this.database.each) expect(await readMysqlRows(url), "what one server has").to.deep.equal(rows);
    const { faults, awayMs } = this;
    const submissions = checkSubmissions(rows, new CallRecording(this.recording).read());
    return { seed: chaos.seed, jobs: rows.jobs.length, faults, awayMs, ...submissions, ...clients.counts };
  }

  async stop(): Promise<void> {
    for (const running of this.processes) await running.kill();
  }

  private get recording(): string {
    return join(this.dataDir, "recording");
  }

  /** @param first the server that comes first in the list of hosts */
  private settings(first: number): Environment {
    return {
      ...CHAOS_SETTINGS,
      ...recordingProviderSettings(this.recording),
      FERMATA_STORAGE__URL: this.database.url(first),
      FERMATA_HTTP__PUBLIC_URL: "http://fermata.test",
      FERMATA_JOBS__UNKNOWN_GRACE_SECONDS: "1",
      FERMATA_JOBS__SHUTDOWN_GRACE_SECONDS: "0.2",
    };
  }

  private async startServer(first: number): Promise<Server> {
    const started = this.sandbox.spawn(["serve"], this.dataDir, this.settings(first));
    this.processes.push(started);
    return { process: started, url: await started.listening(60_000) };
  }

  private async startWorker(first: number): Promise<void> {
    const started = this.sandbox.spawn(["work"], this.dataDir, this.settings(first));
    this.processes.push(started);
    await started.line(/^working$/m, 60_000);
  }

  private rows(): Promise<Rows> {
    return readMysqlRows(this.database.complete);
  }

  private get logs(): string {
    return this.processes.map(({ stderr }) => stderr.slice(-1_500)).join("\n---\n");
  }

  private checkAlive(): void {
    for (const running of this.processes)
      if (running.hasExited) throw new Error(`A process ended unexpectedly.\n${running.stderr.slice(-3_000)}`);
  }

  private async rageWhile(clients: Clients, servers: readonly Server[], probing: Caller): Promise<void> {
    const over = new AbortController();
    const parts = [this.injectFaults(clients, servers, probing), clients.run(CLIENTS, over.signal)].map((part) =>
      part.finally(() => over.abort()),
    );
    await Promise.allSettled(parts);
    await Promise.all(parts);
  }

  private async injectFaults(clients: Clients, servers: readonly Server[], probing: Caller): Promise<void> {
    for (let fault = 1; fault <= this.chaos.faults; fault++) {
      clients.allow(this.chaos.demandsPerFault);
      await sleep(this.random.between(500, 1_500));
      const { kind, repair } = await this.database.strike(this.random);
      this.faults[kind] = (this.faults[kind] ?? 0) + 1;
      const began = performance.now();
      await Promise.all(servers.map(({ url }) => this.writes(url, probing, `fault ${fault} ${url}`)));
      this.awayMs.push(Math.round(performance.now() - began));
      await repair();
      await this.database.ready();
      this.checkAlive();
    }
  }

  /** Resolves when this server has accepted a generation. */
  private async writes(url: string, { key }: Caller, idempotencyKey: string): Promise<void> {
    const api = new ApiClient(url, key);
    const until = performance.now() + WRITES_MAX_MS;
    for (;;) {
      const body = { model_id: `${RECORDING_PROVIDERS[0]}/direct`, prompt: "a probe" };
      const { status, text } = await api.generate(body, { "Idempotency-Key": idempotencyKey });
      if (status === 202) return;
      if (status !== 503 || performance.now() > until)
        throw new Error(
          `${url} takes no writes ${WRITES_MAX_MS} ms after a fault: ${status} ${text}\n` +
            `${JSON.stringify(this.faults)}, ${this.awayMs.join(", ")} ms before\n${this.logs}`,
        );
      await sleep(50);
    }
  }
}

/** The rows without those of one account: its requests are none of the clients'. */
function rowsWithout(rows: Rows, accountId: string, jobIds: ReadonlySet<string>): Rows {
  const isOther = ({ job_id }: { readonly job_id: string | null }): boolean => job_id === null || !jobIds.has(job_id);
  return {
    ...rows,
    jobs: rows.jobs.filter(({ account_id }) => account_id !== accountId),
    entries: rows.entries.filter(isOther),
    attempts: rows.attempts.filter(isOther),
    tracks: rows.tracks.filter(isOther),
    balances: rows.balances.filter(({ account_id }) => account_id !== accountId),
  };
}

import { createHash } from "node:crypto";
import { eventually, type Sandbox } from "../process.js";
import type { CrashPlan } from "./boundary.js";
import { leftToDo, violationsOf } from "./checks.js";
import { PatientClient } from "./client.js";
import { FailingProcess, type Outcome, type Rounds } from "./failing-process.js";
import { type Installation, type Stack, withInstallation } from "./installation.js";
import { FIRST_KEY, Scenario } from "./scenario.js";
import { Servers } from "./servers.js";

/** What one process comes to, one after the other; nothing comes after `kill`. */
export type Life = readonly CrashPlan[];

/** Processes that fail in one installation: each takes over from those before it. */
export interface Chain {
  readonly stack: Stack;
  readonly lives: readonly Life[];
}

export interface ChainResult {
  /** Those whose point was reached, and whose fault happened. */
  readonly reached: ReadonlySet<CrashPlan>;
  /** What is wrong afterwards, a line each. */
  readonly violations: readonly string[];
  /** How often each point was reached, by the processes that lived to say it. */
  readonly counts: readonly Readonly<Record<string, number>>[];
  /** What the processes logged. */
  readonly log: string;
}

/** Processes that fail at once: while one stands still, or starts, others go on, or fail as well. */
const AT_ONCE = 3;
/** Bounds for a busy machine; a chain ends within seconds of its last fault. */
const SETTLE_MAX_MS = 180_000;

/**
 * Processes fail at their points while clients use them; this process goes on with their work, and in the end
 * nothing fails.
 */
export function runChain(sandbox: Sandbox, { stack, lives }: Chain): Promise<ChainResult> {
  return withInstallation(sandbox, stack, (installation) => new ChainRun(installation, lives).run());
}

/** Of a job of long ago, under a key that its account uses again. */
function expiredRecord(accountId: string, key: string): string {
  const keyHash = createHash("sha256").update(key).digest("hex");
  return (
    "INSERT INTO fermata_idempotency_records (account_id, key_hash, shape_hash, body_hash, job_id, status, response, " +
    `created_at, expires_at) VALUES ('${accountId}', '${keyHash}', '', '', 'job_gone', 202, '{}', 0, 1)`
  );
}

class ChainRun implements Rounds {
  private readonly servers = new Servers();
  private readonly rounds: { readonly client: PatientClient; readonly scenario: Scenario }[] = [];
  private readonly running: Promise<void>[] = [];
  private readonly violations: string[] = [];
  private readonly outcomes: Outcome[] = [];
  private takenOver: Promise<void> | undefined;

  constructor(
    private readonly installation: Installation,
    private readonly lives: readonly Life[],
  ) {}

  async run(): Promise<ChainResult> {
    const waiting = this.lives.values();
    const lane = async (): Promise<void> => {
      for (const life of waiting) this.outcomes.push(await this.live(life));
    };
    await Promise.all(Array.from({ length: AT_ONCE }, lane));
    await this.noting(() => this.takeOver());
    await Promise.all([...this.running, ...(this.rounds.length === 0 ? [this.begin(null).ended] : [])]);
    await this.noting(() => this.settled());
    await this.noting(() => this.check());
    return {
      reached: new Set(this.outcomes.flatMap(({ reached }) => reached)),
      violations: [...new Set(this.violations)],
      counts: this.outcomes.flatMap(({ counts }) => counts),
      log: this.outcomes.map(({ log }) => log).join(""),
    };
  }

  private async live(life: Life): Promise<Outcome> {
    const process = new FailingProcess(this.installation.start(life), this.servers, this);
    const isAlone = this.lives.length === 1;
    const outcome = await process.run(life, {
      onFault: () => void this.noting(() => this.takeOver()),
      // One of many makes way for the next one.
      beforeStop: () => (isAlone ? this.noting(() => this.settled()) : Promise.resolve()),
    });
    this.violations.push(...outcome.violations);
    return outcome;
  }

  /** A client of a new account sends all its requests. */
  begin(preferred: string | null): { readonly ended: Promise<void>; responses(): number } {
    let client: PatientClient | undefined;
    const ended = this.noting(async () => {
      client = new PatientClient(await this.newKey(), this.servers, preferred);
      const scenario = new Scenario(client, this.installation.receiver.url);
      this.rounds.push({ client, scenario });
      await scenario.run();
    });
    this.running.push(ended);
    return { ended, responses: () => client?.responses ?? 0 };
  }

  /** A process that stands still within a transaction may hold this one up. */
  private async newKey(): Promise<string> {
    const { app, database } = this.installation;
    const { accounts } = app;
    let last: unknown;
    const account = { name: "Caller", tier: "pro", credits: 1_000, acceptTerms: true } as const;
    const create = async (): Promise<string> => {
      const { id } = await accounts.create(account);
      await database.run(expiredRecord(id, FIRST_KEY));
      return (await accounts.issueKey(id, {})).token;
    };
    const created = eventually("an account", () => create().catch((error: unknown) => void (last = error)));
    return created.catch(() => Promise.reject(last as Error));
  }

  /** This process works as well. */
  private takeOver(): Promise<void> {
    const { app } = this.installation;
    this.takenOver ??= (async () => {
      await app.work();
      this.servers.use((await app.listen()).url, true);
    })();
    return this.takenOver;
  }

  private async settled(): Promise<void> {
    const { database } = this.installation;
    await eventually("everything has ended", async () => (await leftToDo(database)).length === 0, SETTLE_MAX_MS).catch(
      async (error: Error) => {
        throw new Error(`${error.message}: ${(await leftToDo(database)).join(", ")}`);
      },
    );
  }

  private async check(): Promise<void> {
    for (const { scenario } of this.rounds) await this.noting(() => scenario.readAgain());
    const histories = this.rounds.map(({ scenario }) => scenario.history);
    const history = {
      jobs: histories.flatMap(({ jobs }) => jobs),
      differences: histories.flatMap(({ differences }) => differences),
    };
    this.violations.push(...this.rounds.flatMap(({ client }) => client.undecided));
    this.violations.push(...(await violationsOf({ ...this.installation, history })));
    const { violations } = await this.installation.app.credits.verify({ full: true });
    this.violations.push(...violations.map((violation) => JSON.stringify(violation)));
  }

  private async noting(run: () => Promise<void>): Promise<void> {
    await run().catch((error: unknown) => {
      this.violations.push(error instanceof Error ? (error.stack ?? error.message) : String(error));
    });
  }
}

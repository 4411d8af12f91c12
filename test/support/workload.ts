import { randomInt } from "node:crypto";
import { request } from "node:http";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import BetterSqlite3 from "better-sqlite3";
import { expect } from "chai";
import { ApiClient, dataOf } from "./api-client.js";
import { type Environment, eventually, type FermataProcess, type Sandbox } from "./process.js";

/** A storm of kills over clients that never give up. */
export interface Storm {
  /** Everything random comes from it; the moments at which the machine does things do not. */
  readonly seed: number;
  readonly kills: number;
  /** Pieces wished for between two kills. */
  readonly wishesPerRound: number;
  readonly accounts: number;
}

/** What one client wants made, under one idempotency key, whatever happens to its requests. */
interface Wish {
  readonly api: Caller;
  readonly idempotencyKey: string;
  readonly body: { readonly model_id: string; readonly prompt: string; readonly duration: number };
  /** The bytes of the first answer that came back; every other must be the same. */
  answer: string | null;
  jobId: string | null;
  /** True while a request waits for the end: by contract a repetition then gets another answer than the one that will be kept. */
  isWaited: boolean;
  /** How the job was seen to have ended; it must stay so. */
  end: JobEnd | null;
}

interface Caller {
  readonly accountId: string;
  readonly key: string;
}

interface JobEnd {
  readonly status: string;
  readonly credits_charged: number;
  readonly completed_at: string;
}

const GRANTED = 100_000;
/** Clients that speak at once. */
const CLIENTS = 6;
/** The longest that all jobs together may take after the last start: their leases end after 1.5 s, and most of them render nothing. */
const END_MAX_MS = 60_000;

const SETTINGS: Environment = {
  FERMATA_DEMO__ENABLED: "false",
  FERMATA_JOBS__LEASE_SECONDS: "1.5",
  FERMATA_JOBS__BACKOFF_MS: "50",
  FERMATA_JOBS__SWEEP_MS: "100",
  FERMATA_BREAKER__FAILURES: "10000",
  FERMATA_TIERS__PRO__MAX_CONCURRENT: "10000",
  FERMATA_RATE_LIMITS__READ__PER_MINUTE: "1000000",
  FERMATA_RATE_LIMITS__GENERATION__PER_MINUTE: "1000000",
  FERMATA_RATE_LIMITS__GENERATION__PER_DAY: "1000000",
  FERMATA_PLUGINS__SYNTH__KEEP_STEMS: "false",
  FERMATA_PLUGINS__SYNTH__THREADS: "3",
};

/** Refusals and hooks cost no rendering, so most of a storm is made of them. */
const PROMPTS = [
  "harbour at night",
  "slow waltz [[delay:0.2]]",
  "brass [[fail-times:1:unavailable]]",
  "noise [[fail:failed]]",
  "a hymn [[fail:content_rejected]]",
  "far away [[fail:timeout]]",
  "half a dream [[delay:0.4]] [[fail:failed]]",
];

/** A seed to run with: the one in FERMATA_TEST_SEED, or a new one. */
export function aSeed(): number {
  return Number(process.env.FERMATA_TEST_SEED ?? randomInt(2 ** 31));
}

/**
 * Kills the server again and again while clients ask, and checks afterwards that every accepted job ended once and that the books are right.
 * A failure names the seed.
 */
export async function surviveStorm(sandbox: Sandbox, storm: Storm): Promise<void> {
  try {
    await new StormRun(sandbox, storm).run();
  } catch (error) {
    if (error instanceof Error) error.message = `FERMATA_TEST_SEED=${storm.seed}: ${error.message}`;
    throw error;
  }
}

class StormRun {
  private readonly random: () => number;
  private readonly wishes: Wish[] = [];
  private callers: Caller[] = [];
  private dataDir = "";

  constructor(
    private readonly sandbox: Sandbox,
    private readonly storm: Storm,
  ) {
    this.random = randomFrom(storm.seed);
  }

  async run(): Promise<void> {
    this.dataDir = await this.sandbox.dataDir();
    await this.sandbox.json(["migrate"], this.dataDir);
    this.callers = await this.makeCallers();
    for (let round = 0; round < this.storm.kills; round++) await this.roundThatEndsInAKill();
    const server = this.sandbox.spawn(["start"], this.dataDir, SETTINGS);
    const url = await server.listening();
    for (const wish of this.wishes) await this.ask(url, wish);
    expect(this.wishes.filter(({ jobId }) => jobId === null), "wishes without an answer").to.deep.equal([]);
    await eventually("every job has ended", () => this.allEnded(server, url), END_MAX_MS).catch((error: Error) => {
      const alive = readRows(this.dataDir).jobs.filter(({ phase }) => phase !== "ended");
      throw new Error(`${error.message}\nstill alive: ${JSON.stringify(alive)}`, { cause: error });
    });
    // An answer stays the same when the job it announced is long over.
    for (const wish of this.wishes) await this.ask(url, wish);
    await this.checkCredits(url);
    expect(await server.stop(), "exit code of the last stop").to.equal(0);
    await this.checkStorage();
  }

  private async makeCallers(): Promise<Caller[]> {
    const callers: Caller[] = [];
    for (let index = 0; index < this.storm.accounts; index++) {
      const create = ["accounts", "create", `caller ${index}`, "--tier", "pro", "--accept-terms", "--credits", String(GRANTED)];
      const { id } = await this.sandbox.json<{ id: string }>(create, this.dataDir, SETTINGS);
      callers.push({ accountId: id, key: (await this.sandbox.json<{ key: string }>(["keys", "issue", id], this.dataDir, SETTINGS)).key });
    }
    return callers;
  }

  private async roundThatEndsInAKill(): Promise<void> {
    const server = this.sandbox.spawn(["start"], this.dataDir, SETTINGS);
    const url = await server.listening();
    const killed = new AbortController();
    let left = this.storm.wishesPerRound;
    const client = async (): Promise<void> => {
      while (!killed.signal.aborted) {
        const dice = this.random();
        const known = this.wishes.filter(({ isWaited }) => !isWaited);
        const open = known.filter(({ answer }) => answer === null);
        const wish = this.pick(known);
        if (dice < 0.4 && left-- > 0) await this.ask(url, this.newWish(), this.random() < 0.2 ? 1 : null);
        else if (dice < 0.5 && left-- > 0) await this.askAndHangUp(url, this.newWish());
        else if (dice < 0.7 && open.length > 0) await this.ask(url, this.pick(open) as Wish);
        else if (dice < 0.85 && wish !== undefined) await this.ask(url, wish);
        else if (wish !== undefined) await this.look(url, wish);
        await sleep(Math.ceil(this.random() * 30));
      }
    };
    const killing = sleep(200 + this.random() * 1_000)
      .then(() => server.kill())
      .finally(() => killed.abort());
    await Promise.all([killing, ...Array.from({ length: CLIENTS }, client)]);
  }

  private newWish(): Wish {
    const number = this.wishes.length;
    const wish: Wish = {
      api: this.pick(this.callers) as Caller,
      idempotencyKey: `wish ${number}`,
      body: { model_id: "synth/instrumental", prompt: `${number} ${this.pick(PROMPTS)}`, duration: 5 },
      answer: null,
      jobId: null,
      isWaited: false,
      end: null,
    };
    this.wishes.push(wish);
    return wish;
  }

  /** Sends a wish, for the first time or again; a lost answer leaves it open. */
  private async ask(url: string, wish: Wish, waitSeconds: number | null = null): Promise<void> {
    const isRepeated = wish.answer !== null;
    const headers = { "Idempotency-Key": wish.idempotencyKey, ...(waitSeconds === null ? {} : { Prefer: `wait=${waitSeconds}` }) };
    wish.isWaited = waitSeconds !== null;
    const answer = await orLost(new ApiClient(url, wish.api.key).generate(wish.body, headers)).finally(() => (wish.isWaited = false));
    if (answer === null) return;
    const isProviderDown = answer.status === 502 && (isRepeated || waitSeconds !== null || answer.headers.has("Idempotent-Replayed"));
    if (!isProviderDown) expect(answer.status, `${wish.idempotencyKey}: ${answer.text}`).to.equal(202);
    if (isRepeated) expect(answer.headers.get("Idempotent-Replayed"), wish.idempotencyKey).to.equal("true");
    expect(answer.text, `a replay of ${wish.idempotencyKey}`).to.equal(wish.answer ?? answer.text);
    wish.answer = answer.text;
    wish.jobId ??= answer.status === 202 ? dataOf<{ id: string }>(answer).id : this.jobIdOf(wish);
  }

  /** Sends a wish and is gone before the answer comes. */
  private askAndHangUp(url: string, wish: Wish): Promise<void> {
    const patienceMs = Math.floor(this.random() * 20);
    return new Promise((resolve) => {
      const sent = request(`${url}/api/v1/generations`, {
        method: "POST",
        agent: false,
        headers: { Authorization: `Bearer ${wish.api.key}`, "Content-Type": "application/json", "Idempotency-Key": wish.idempotencyKey },
      });
      sent.on("error", () => undefined).on("close", resolve);
      sent.end(JSON.stringify(wish.body), () => setTimeout(() => sent.destroy(), patienceMs));
    });
  }

  /** Notes how a job ended; an end that was seen before must not have changed. */
  private async look(url: string, wish: Wish): Promise<void> {
    if (wish.jobId === null) return;
    const answer = await orLost(new ApiClient(url, wish.api.key).get(`/api/v1/generations/${wish.jobId}`));
    if (answer === null) return;
    const { status, credits_charged, completed_at } = dataOf<JobEnd>(answer);
    const isOver = status === "completed" || status === "failed";
    if (isOver || wish.end !== null) {
      expect({ status, credits_charged, completed_at }, `the end of ${wish.jobId}`).to.deep.equal(wish.end ?? { status, credits_charged, completed_at });
      wish.end = { status, credits_charged, completed_at };
    }
  }

  private async allEnded(server: FermataProcess, url: string): Promise<boolean> {
    if (server.hasExited) throw new Error(`The server ended, and nobody in this test asked it to:\n${server.stderr}`);
    for (const wish of this.wishes) if (wish.end === null) await this.look(url, wish);
    return this.wishes.every(({ end }) => end !== null);
  }

  private async checkCredits(url: string): Promise<void> {
    for (const caller of this.callers) {
      const charged = this.wishes.filter(({ api }) => api === caller).reduce((sum, { end }) => sum + (end?.credits_charged ?? 0), 0);
      const credits = dataOf(await new ApiClient(url, caller.key).get("/api/v1/credits"));
      expect(credits).to.deep.equal({ available: GRANTED - charged, monthly_credits: GRANTED - charged, pack_credits: 0, total_spent: charged });
    }
  }

  private async checkStorage(): Promise<void> {
    const books = await this.sandbox.json(["ledger", "verify"], this.dataDir, SETTINGS);
    expect(books).to.deep.include({ ok: true, violations: [] });
    const rows = readRows(this.dataDir);
    expect(rows.jobs.map(({ id }) => id).sort(), "one job per key").to.deep.equal(this.wishes.map(({ jobId }) => jobId).sort());
    for (const job of rows.jobs) {
      expect(job, "an ended job").to.include({ lease_owner: null, due_at: null, phase: "ended" });
      const phases = rows.entries.filter((entry) => entry.job_id === job.id).map(({ kind }) => kind);
      expect(phases, `ledger of ${job.id}`).to.deep.equal(["reserve", job.status === "completed" ? "charge" : "refund"]);
      const attempts = rows.attempts.filter((attempt) => attempt.job_id === job.id);
      expect(attempts.map(({ number }) => number), `attempts of ${job.id}`).to.deep.equal(attempts.map((_, index) => index + 1));
      expect(attempts, `attempts of ${job.id}`).to.have.length(job.attempt);
      const completed = attempts.filter(({ outcome }) => outcome === "completed");
      expect(completed, `completed attempts of ${job.id}`).to.have.length(job.status === "completed" ? 1 : 0);
      const tracks = rows.tracks.filter((track) => track.job_id === job.id);
      expect(tracks, `tracks of ${job.id}`).to.have.length(job.status === "completed" ? 1 : 0);
    }
  }

  /** A replayed 502 does not name its job. */
  private jobIdOf({ api, idempotencyKey }: Wish): string {
    const number = idempotencyKey.split(" ")[1] ?? "";
    const job = readRows(this.dataDir).jobs.find(({ account_id, request: { prompt } }) => account_id === api.accountId && prompt.startsWith(`${number} `));
    if (job === undefined) throw new Error(`${idempotencyKey} has an answer, but no job.`);
    return job.id;
  }

  private pick<T>(list: readonly T[]): T | undefined {
    return list[Math.floor(this.random() * list.length)];
  }
}

/** null when the connection broke off, which says nothing about what the server did. */
async function orLost<T>(answer: Promise<T>): Promise<T | null> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof TypeError) return null; // what `fetch` throws when there is no connection, or no longer one
    throw error;
  }
}

interface Rows {
  readonly jobs: readonly {
    readonly id: string;
    readonly account_id: string;
    readonly status: string;
    readonly phase: string;
    readonly attempt: number;
    readonly lease_owner: string | null;
    readonly due_at: number | null;
    readonly request: { readonly prompt: string };
  }[];
  readonly entries: readonly { readonly job_id: string | null; readonly kind: string }[];
  readonly attempts: readonly { readonly job_id: string; readonly number: number; readonly outcome: string | null }[];
  readonly tracks: readonly { readonly job_id: string }[];
}

/** The rows as they lie in the file, read past all of Fermata's own code. */
export function readRows(dataDir: string): Rows {
  const database = new BetterSqlite3(join(dataDir, "fermata.sqlite"), { readonly: true });
  try {
    const all = <Row>(sql: string): Row[] => database.prepare<[], Row>(sql).all();
    const jobs = all<Omit<Rows["jobs"][number], "request"> & { readonly request: string }>("SELECT * FROM jobs");
    return {
      jobs: jobs.map((job) => ({ ...job, request: JSON.parse(job.request) as { prompt: string } })),
      entries: all("SELECT job_id, kind FROM ledger_entries ORDER BY account_id, seq"),
      attempts: all("SELECT job_id, number, outcome FROM job_attempts ORDER BY job_id, number"),
      tracks: all("SELECT job_id FROM tracks"),
    };
  } finally {
    database.close();
  }
}

/** Numbers from 0 to 1, the same for the same seed (mulberry32). */
function randomFrom(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

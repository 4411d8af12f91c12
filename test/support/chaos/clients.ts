import { request } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "chai";
import { type ApiResponse, ApiClient, dataOf } from "../api-client.js";
import type { SeededRandom } from "./seeded-random.js";

/** An account whose key the clients use. */
export interface Caller {
  readonly accountId: string;
  readonly key: string;
}

/** The body of a request. */
export interface GenerationBody {
  readonly model_id: string;
  readonly prompt: string;
  readonly duration?: number;
}

/** A generation that one client wants, under one idempotency key, whatever happens to its requests. */
export interface Demand {
  readonly number: number;
  readonly caller: Caller;
  readonly idempotencyKey: string;
  /** Its prompt begins with the number. */
  readonly body: GenerationBody;
  /** The bytes of the first response; every other must be the same. */
  response: string | null;
  jobId: string | null;
  /**
   * True while a request waits for the end: by contract a repetition then gets another response than the recorded one.
   */
  isWaited: boolean;
  /** The end of the job that a client saw; it must not change. */
  end: JobEnd | null;
}

export interface JobEnd {
  readonly status: string;
  readonly credits_charged: number;
  readonly completed_at: string;
}

export interface ClientsDeps {
  readonly random: SeededRandom;
  readonly callers: readonly Caller[];
  /** URLs that may respond now. A client without a response tries the next one. */
  urls(): readonly string[];
  /** Creates the body of a request. */
  body(): GenerationBody;
  /** A replayed 502 does not contain the job's id: it is read from the storage. */
  findJobId(demand: Demand): Promise<string>;
}

/** The messages of `fetch` without a connection, or when it was lost. */
const CONNECTION_LOST = ["fetch failed", "terminated"];

/** Clients that never stop: each demand is requested under one key until there is a response, and once more later. */
export class Clients {
  readonly demands: Demand[] = [];
  /** Requests without a response, and those that got a 503. */
  readonly counts = { lost: 0, refused: 0 };
  private allowance = 0;

  constructor(private readonly deps: ClientsDeps) {}

  /** Allows the clients so many more demands. */
  allow(demands: number): void {
    this.allowance += demands;
  }

  /** So many clients send demands, repeat requests, disconnect and poll concurrently, until `signal` aborts. */
  async run(clients: number, signal: AbortSignal): Promise<void> {
    await Promise.all(Array.from({ length: clients }, () => this.runOne(signal)));
  }

  /** Requests every demand again. */
  async requestAll(): Promise<void> {
    for (const demand of this.demands) await this.ask(demand);
  }

  /** Reads every job again. */
  async readAll(): Promise<void> {
    for (const demand of this.demands) await this.readEnd(demand);
  }

  /** Whether a client saw the end of every job. */
  async allEnded(): Promise<boolean> {
    for (const demand of this.demands) if (demand.end === null) await this.readEnd(demand);
    return this.demands.every(({ end }) => end !== null);
  }

  private async runOne(signal: AbortSignal): Promise<void> {
    const { random: seeded } = this.deps;
    while (!signal.aborted) {
      const chance = seeded.fraction();
      const known = this.demands.filter(({ isWaited }) => !isWaited);
      const open = known.filter(({ response: result }) => result === null);
      const demand = seeded.pick(known);
      if (chance < 0.4 && this.allowance > 0) await this.ask(this.newDemand(), seeded.fraction() < 0.2 ? 1 : null);
      else if (chance < 0.5 && this.allowance > 0) await this.requestAndDisconnect(this.newDemand());
      else if (chance < 0.7 && open.length > 0) await this.ask(seeded.pick(open) as Demand);
      else if (chance < 0.85 && demand !== undefined) await this.ask(demand);
      else if (demand !== undefined) await this.readEnd(demand);
      await sleep(Math.ceil(seeded.between(0, 30)));
    }
  }

  private newDemand(): Demand {
    const { random: seeded, callers, body } = this.deps;
    const number = this.demands.length;
    const { prompt, ...rest } = body();
    const demand: Demand = {
      number,
      caller: seeded.pick(callers) as Caller,
      idempotencyKey: `demand ${number}`,
      body: { ...rest, prompt: `${number} ${prompt}` },
      response: null,
      jobId: null,
      isWaited: false,
      end: null,
    };
    this.demands.push(demand);
    this.allowance -= 1;
    return demand;
  }

  /** Sends a demand, for the first time or again; without a response it stays open. */
  private async ask(demand: Demand, waitSeconds: number | null = null): Promise<void> {
    const isRepeated = demand.response !== null;
    const headers = {
      "Idempotency-Key": demand.idempotencyKey,
      ...(waitSeconds === null ? {} : { Prefer: `wait=${waitSeconds}` }),
    };
    demand.isWaited = waitSeconds !== null;
    const result = await this.anyResponse((url) =>
      new ApiClient(url, demand.caller.key).generate(demand.body, headers),
    ).finally(() => (demand.isWaited = false));
    if (result === null) return;
    const isProviderDown =
      result.status === 502 && (isRepeated || waitSeconds !== null || result.headers.has("Idempotent-Replayed"));
    if (!isProviderDown) expect(result.status, `${demand.idempotencyKey}: ${result.text}`).to.equal(202);
    if (isRepeated) expect(result.headers.get("Idempotent-Replayed"), demand.idempotencyKey).to.equal("true");
    expect(result.text, `a replay of ${demand.idempotencyKey}`).to.equal(demand.response ?? result.text);
    demand.response = result.text;
    demand.jobId ??= result.status === 202 ? dataOf<{ id: string }>(result).id : await this.deps.findJobId(demand);
  }

  /** Sends a demand and disconnects before the response. */
  private requestAndDisconnect(demand: Demand): Promise<void> {
    const { random: seeded, urls } = this.deps;
    const url = seeded.pick(urls());
    if (url === undefined) return Promise.resolve();
    const timeoutMs = Math.floor(seeded.between(0, 20));
    return new Promise((resolve) => {
      const sent = request(`${url}/api/v1/generations`, {
        method: "POST",
        agent: false,
        headers: {
          Authorization: `Bearer ${demand.caller.key}`,
          "Content-Type": "application/json",
          "Idempotency-Key": demand.idempotencyKey,
        },
      });
      sent.on("error", () => undefined).on("close", resolve);
      sent.end(JSON.stringify(demand.body), () => setTimeout(() => sent.destroy(), timeoutMs));
    });
  }

  /** Records how a job ended; an end that was seen before must not have changed. */
  private async readEnd(demand: Demand): Promise<void> {
    // What another read learns meanwhile may be newer than this read's response.
    const { jobId, end: endBefore } = demand;
    if (jobId === null) return;
    const response = await this.anyResponse((url) =>
      new ApiClient(url, demand.caller.key).get(`/api/v1/generations/${jobId}`),
    );
    if (response === null) return;
    const { status, credits_charged, completed_at } = dataOf<JobEnd>(response);
    const isOver = status === "completed" || status === "failed";
    if (isOver || endBefore !== null) {
      const seen = { status, credits_charged, completed_at };
      expect(seen, `the end of ${jobId}`).to.deep.equal(demand.end ?? seen);
      demand.end = seen;
    }
  }

  /** Tries the servers in random order. null when none has responded, which does not mean that none has acted. */
  private async anyResponse(ask: (url: string) => Promise<ApiResponse>): Promise<ApiResponse | null> {
    const { random: seeded, urls } = this.deps;
    for (const url of seeded.shuffled(urls())) {
      const response = await orLost(ask(url));
      if (response !== null && response.status !== 503) return response;
      if (response === null) this.counts.lost += 1;
      else this.counts.refused += 1;
      if (response !== null) expect(response.headers.get("Retry-After"), response.text).to.match(/^[1-9]\d*$/);
      // A request of a dead server may still write its response to the storage.
      await sleep(Math.ceil(seeded.between(20, 60)));
    }
    return null;
  }
}

async function orLost(response: Promise<ApiResponse>): Promise<ApiResponse | null> {
  try {
    return await response;
  } catch (error) {
    if (error instanceof TypeError && CONNECTION_LOST.includes(error.message)) return null;
    throw error;
  }
}

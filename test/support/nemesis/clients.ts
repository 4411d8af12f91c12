import { setTimeout as sleep } from "node:timers/promises";
import { type ApiResponse, dataOf, type SendOptions } from "../api-client.js";
import type { Caller } from "../chaos/clients.js";
import type { SeededRandom } from "../chaos/seeded-random.js";
import type { Action, Outcome, SeenJob } from "./history.js";
import type { RecordedCall, Recorder, Server } from "./recorder.js";
import { FATES, MODELS } from "./vendor.js";

export interface ClientsDeps {
  readonly random: SeededRandom;
  readonly recorder: Recorder;
  readonly callers: readonly Caller[];
  /** All servers, whether they respond now or not. */
  readonly servers: readonly Server[];
  /** Of an owner at the admin API. */
  readonly adminToken: string;
  /** The pauses of a client between two requests. */
  readonly pauseMs: readonly [number, number];
}

/** Something that one client wants under one key: a generation, or a split of a track. */
interface Demand {
  readonly caller: Caller;
  readonly key: string;
  readonly path: string;
  readonly body: object;
  readonly isSplit: boolean;
  jobId: string | null;
  /** Whether a request was answered, by a job or by a refusal. */
  isAnswered: boolean;
  hasEnded: boolean;
}

interface Grant {
  readonly caller: Caller;
  readonly reference: string;
  readonly amount: number;
  isAnswered: boolean;
}

interface GenerationBody {
  readonly id: string;
  readonly status: string;
  readonly credits_charged: number;
  readonly tracks: readonly { readonly id: string }[];
}

interface JobBody {
  readonly job_id: string;
  readonly status: string;
  readonly credits_charged: number;
}

/** The part of the creations whose client disconnects, and when it does so at the latest. */
const LEAVING = 0.1;
const LEAVES_MS = 50;
/** One of so many of the newest jobs is cancelled: most others have ended. */
const NEWEST = 3;
const LIST_LIMIT = 50;
const GRANT_MAX = 9;
const JSON_TYPE = { "Content-Type": "application/json" };

/** Clients that send all kinds of requests to any server, and record what they get. */
export class NemesisClients {
  private readonly demands: Demand[] = [];
  private readonly grants: Grant[] = [];
  private readonly tracks: { readonly caller: Caller; readonly id: string }[] = [];

  constructor(private readonly deps: ClientsDeps) {}

  /** So many clients send requests until `signal` aborts. */
  async run(count: number, signal: AbortSignal): Promise<void> {
    await Promise.all(Array.from({ length: count }, (_, index) => this.runOne(`client ${index}`, signal)));
  }

  /**
   * Sends every request again that got no response, until it gets one, and reads every job. Resolves when every job
   * was seen at its end, or `signal` aborts.
   */
  async settle(signal: AbortSignal): Promise<void> {
    const client = "last client";
    for (;;) {
      for (const demand of this.demands) if (!demand.isAnswered) await this.create(client, demand);
      for (const grant of this.grants) if (!grant.isAnswered) await this.grant(client, grant);
      const open = this.demands.filter(({ jobId, hasEnded }) => jobId !== null && !hasEnded);
      for (const demand of open) await this.read(client, demand);
      const isOver = [...this.demands, ...this.grants].every(({ isAnswered }) => isAnswered) && open.length === 0;
      if (isOver || signal.aborted) return;
      await sleep(100);
    }
  }

  /** Sends every key once more, and reads every job, list and balance once more. */
  async readAgain(): Promise<void> {
    const client = "last client";
    for (const demand of this.demands) {
      if (demand.jobId === null) continue;
      await this.create(client, demand);
      await this.read(client, demand);
    }
    for (const caller of this.deps.callers) {
      await this.list(client, caller);
      await this.credits(client, caller);
    }
  }

  private async runOne(client: string, signal: AbortSignal): Promise<void> {
    const { random, pauseMs } = this.deps;
    while (!signal.aborted) {
      await this.step(client);
      await sleep(random.between(...pauseMs));
    }
  }

  private async step(client: string): Promise<unknown> {
    const { random, callers } = this.deps;
    const chance = random.fraction();
    const caller = random.pick(callers) as Caller;
    const known = random.pick(this.demands.filter(({ jobId }) => jobId !== null));
    const open = random.pick(this.demands.filter(({ isAnswered }) => !isAnswered));
    const running = random.pick(
      this.demands.filter(({ jobId, hasEnded }) => jobId !== null && !hasEnded).slice(-NEWEST),
    );
    const track = random.pick(this.tracks);
    if (chance < 0.3) return this.create(client, this.newGeneration(caller));
    if (chance < 0.34 && track !== undefined) return this.create(client, this.newSplit(track.caller, track.id));
    if (chance < 0.44 && open !== undefined) return this.create(client, open);
    if (chance < 0.5 && known !== undefined) return this.create(client, known);
    if (chance < 0.54 && running !== undefined) return this.cancel(client, running);
    if (chance < 0.8 && known !== undefined) return this.read(client, known);
    if (chance < 0.86) return this.list(client, caller);
    if (chance < 0.96) return this.credits(client, caller);
    return this.grant(client, this.openGrant() ?? this.newGrant(caller));
  }

  private newGeneration(caller: Caller): Demand {
    const { random } = this.deps;
    const key = `key-${this.demands.length}`;
    const fate = random.pick(FATES) as string;
    const body = { model_id: random.pick(MODELS) as string, prompt: `${key} rain ${fate}`, client: key };
    return this.added({ caller, key, path: "/api/v1/generations", body, isSplit: false });
  }

  private newSplit(caller: Caller, trackId: string): Demand {
    const key = `key-${this.demands.length}`;
    return this.added({ caller, key, path: `/api/v1/tracks/${trackId}/stems`, body: { client: key }, isSplit: true });
  }

  private added(parts: Pick<Demand, "caller" | "key" | "path" | "body" | "isSplit">): Demand {
    const demand = { ...parts, jobId: null, isAnswered: false, hasEnded: false };
    this.demands.push(demand);
    return demand;
  }

  private openGrant(): Grant | undefined {
    return this.deps.random.pick(this.grants.filter(({ isAnswered }) => !isAnswered));
  }

  private newGrant(caller: Caller): Grant {
    const amount = Math.ceil(this.deps.random.between(0, GRANT_MAX));
    const grant = { caller, reference: `order-${this.grants.length}`, amount, isAnswered: false };
    this.grants.push(grant);
    return grant;
  }

  private async create(client: string, demand: Demand): Promise<void> {
    const { caller, key, path, body, isSplit } = demand;
    const { random } = this.deps;
    const options = { headers: { ...JSON_TYPE, "Idempotency-Key": key }, body };
    const patience = random.fraction() < LEAVING ? { patienceMs: Math.round(random.between(0, LEAVES_MS)) } : {};
    const call = { ...this.callOf(client, caller, "POST", path, options), ...patience };
    const { outcome, action } = await this.deps.recorder.send(call, (response) => ({
      kind: "create",
      key,
      isSplit,
      jobId: response === null ? null : idIn(response, isSplit),
      response: response?.text ?? null,
    }));
    demand.jobId ??= action.jobId;
    // A request that was refused may be sent again: the credits may be there then.
    if (outcome === "ok" || (outcome === "refused" && demand.jobId === null)) demand.isAnswered = true;
  }

  private async read(client: string, demand: Demand): Promise<void> {
    const { caller, jobId, isSplit } = demand;
    if (jobId === null) return;
    const path = `/api/v1/${isSplit ? "jobs" : "generations"}/${jobId}`;
    let trackId: string | undefined;
    const seenIn = (response: ApiResponse): SeenJob => {
      if (isSplit) return seenJob(dataOf<JobBody>(response));
      const generation = dataOf<GenerationBody>(response);
      trackId = generation.tracks[0]?.id;
      return seenGeneration(generation);
    };
    const { action } = await this.send(client, caller, "GET", path, {}, (response) => ({
      kind: "get",
      jobId,
      seen: response === null ? null : seenIn(response),
    }));
    const { seen } = action;
    if (seen === null || (seen.status !== "completed" && seen.status !== "failed")) return;
    if (!demand.hasEnded && trackId !== undefined) this.tracks.push({ caller, id: trackId });
    demand.hasEnded = true;
  }

  private async cancel(client: string, { caller, jobId }: Demand): Promise<void> {
    if (jobId === null) return;
    await this.send(client, caller, "POST", `/api/v1/jobs/${jobId}/cancel`, {}, (response) => {
      if (response === null) return { kind: "cancel", jobId, result: null, seen: null };
      const { outcome, job } = dataOf<{ readonly outcome: string; readonly job: JobBody }>(response);
      return { kind: "cancel", jobId, result: outcome, seen: seenJob(job) };
    });
  }

  private async list(client: string, caller: Caller): Promise<void> {
    await this.send(client, caller, "GET", `/api/v1/generations?limit=${LIST_LIMIT}`, {}, (response) => ({
      kind: "list",
      limit: LIST_LIMIT,
      seen:
        response === null
          ? null
          : dataOf<{ readonly generations: readonly GenerationBody[] }>(response).generations.map(seenGeneration),
    }));
  }

  private async credits(client: string, caller: Caller): Promise<void> {
    await this.send(client, caller, "GET", "/api/v1/credits", {}, (response) => {
      if (response === null) return { kind: "credits", seen: null };
      const read = dataOf<{ readonly available: number; readonly total_spent: number }>(response);
      return { kind: "credits", seen: { available: read.available, spent: read.total_spent } };
    });
  }

  private async grant(client: string, grant: Grant): Promise<void> {
    const { caller, reference, amount } = grant;
    const path = `/admin/v1/accounts/${caller.accountId}/credits/grants`;
    const options = { headers: JSON_TYPE, body: { amount, reference } };
    const operator = { accountId: caller.accountId, key: this.deps.adminToken };
    const { outcome } = await this.send(client, operator, "POST", path, options, () => ({
      kind: "grant",
      reference,
      amount,
    }));
    grant.isAnswered ||= outcome !== "unknown";
  }

  private callOf(
    client: string,
    { accountId, key }: Caller,
    method: string,
    path: string,
    options: SendOptions,
  ): RecordedCall {
    const server = this.deps.random.pick(this.deps.servers) as Server;
    return { client, server, accountId, key, method, path, options };
  }

  private send<Read extends Action>(
    client: string,
    caller: Caller,
    method: string,
    path: string,
    options: SendOptions,
    read: (response: ApiResponse | null) => Read,
  ): Promise<{ readonly outcome: Outcome; readonly action: Read }> {
    return this.deps.recorder.send(this.callOf(client, caller, method, path, options), read);
  }
}

/** The job that a creating response names. */
function idIn(response: ApiResponse, isSplit: boolean): string {
  return isSplit ? dataOf<JobBody>(response).job_id : dataOf<GenerationBody>(response).id;
}

function seenJob({ job_id, status, credits_charged }: JobBody): SeenJob {
  return { id: job_id, status, charged: credits_charged };
}

function seenGeneration({ id, status, credits_charged }: GenerationBody): SeenJob {
  return { id, status, charged: credits_charged };
}

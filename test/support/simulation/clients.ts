import type { Core } from "../../../core/create-core.js";
import type { AcceptedGeneration } from "../../../core/generations/accept-generation.js";
import type { RequestId, TrackId } from "../../../core/ids.js";
import { FermataError } from "../../../core/errors.js";
import type { Account } from "../../../core/ports/account.js";
import type { StoredResponse } from "../../../core/ports/idempotency-store.js";
import type { Job } from "../../../core/jobs/job.js";
import type { Operation } from "./plan.js";
import { modelOf } from "./plugin.js";
import type { SimProcess } from "./process.js";
import type { Actor, Scheduler } from "./scheduler.js";

/** A process that serves clients. */
export interface Serving {
  readonly process: SimProcess;
  readonly core: Core;
}

/** A generation that a client wants, under one key, whatever happens to its requests. */
export interface Demand {
  readonly number: number;
  readonly key: string;
  readonly account: Account;
  /** Jobs that responses named. */
  readonly jobIds: Set<string>;
  isCancelled: boolean;
  /** The end that a client saw. */
  end: string | null;
}

export interface ClientsDeps {
  readonly scheduler: Scheduler;
  readonly actor: Actor;
  readonly accounts: readonly Account[];
  /** A track of each account. */
  readonly trackIds: readonly TrackId[];
  /** One of the processes that serve; null: none does now. */
  serving(): Serving | null;
  violate(message: string): void;
}

const present = (job: Job): StoredResponse => ({ status: 202, body: job.id });
const RETRY_MS = 1_200;
/** Nothing was done, as far as is known: the same request may be sent again. */
const RETRIED = new Set(["service_unavailable", "provider_unavailable", "idempotency_conflict"]);
const FINAL = new Set(["insufficient_credits"]);

/** Clients that never give up: each demand is requested under one key until there is a response. */
export class Clients {
  readonly demands = new Map<number, Demand>();
  /** Operations under way, or still to come. */
  open = 0;

  constructor(private readonly deps: ClientsDeps) {}

  /** @param number its place in the plan */
  begin(operation: Operation, number: number): void {
    this.open += 1;
    void this.carryOut(operation, number).then(() => (this.open -= 1));
  }

  private async carryOut(operation: Operation, number: number): Promise<void> {
    const { scheduler, actor } = this.deps;
    await scheduler.sleep(actor, operation.at);
    if (operation.kind === "create") return this.create(operation, number);
    const demand = this.demands.get(operation.of);
    const [jobId] = demand?.jobIds ?? [];
    if (demand === undefined || jobId === undefined) return;
    return operation.kind === "cancel" ? this.cancel(demand, jobId) : this.read(demand, jobId);
  }

  private async create(operation: Extract<Operation, { kind: "create" }>, number: number): Promise<void> {
    const account = this.deps.accounts[operation.account] as Account;
    const key = `key ${number}`;
    const demand: Demand = { number, key, account, jobIds: new Set(), isCancelled: false, end: null };
    this.demands.set(number, demand);
    const requests = [this.request(demand, operation, operation.leavesAfterMs)];
    if (operation.isDoubled) requests.push(this.request(demand, operation, null));
    await Promise.all(requests);
  }

  private async request(
    demand: Demand,
    operation: Extract<Operation, { kind: "create" }>,
    leavesAfterMs: number | null,
  ): Promise<void> {
    const { isKeyed } = operation;
    let leaves = leavesAfterMs;
    for (;;) {
      const isTaken = demand.jobIds.size > 0;
      const response = this.ask(async ({ core }) => {
        const accepted = await this.accept(core.api, demand, operation);
        return accepted.kind === "replayed" ? accepted.record.response.body : accepted.job.id;
      });
      const left = leaves === null ? [] : [this.deps.scheduler.sleep(this.deps.actor, leaves).then(() => null)];
      leaves = null;
      const jobId = await Promise.race([response, ...left]);
      if (jobId instanceof FermataError) {
        if (isTaken) this.deps.violate(`The key of demand ${demand.number} was refused after it was taken.`);
        return;
      }
      if (jobId !== null) {
        demand.jobIds.add(jobId);
        if (demand.jobIds.size > 1) this.deps.violate(`The key of demand ${demand.number} has two jobs.`);
        return;
      }
      if (!isKeyed) return;
      await this.pause();
    }
  }

  private accept(
    api: Core["api"],
    { number, key, account }: Demand,
    { wants, isKeyed, account: owner }: Extract<Operation, { kind: "create" }>,
  ): Promise<AcceptedGeneration> {
    const metadata = { demand: number };
    if (wants === "split") {
      const idempotency = { key, route: "POST /tracks/{id}/stems", body: metadata, present };
      const trackId = this.deps.trackIds[owner] as TrackId;
      const requestedAt = this.deps.scheduler.now();
      const requestId: RequestId = `req_${String(number).padStart(26, "0")}`;
      const given = { account, kind: "stem_split", trackId, metadata, requestId, requestedAt } as const;
      return api.acceptSplit.execute({ ...given, idempotency, limitExceeded: null });
    }
    const input = { modelId: modelOf(wants), prompt: `demand ${number}`, metadata };
    const idempotency = isKeyed ? { key, route: "POST /generations", body: input, present } : null;
    return api.acceptGeneration.execute({ account, input, requestId: null, limitExceeded: null, idempotency });
  }

  private async cancel(demand: Demand, jobId: string): Promise<void> {
    demand.isCancelled = true;
    for (;;) {
      const outcome = await this.ask(({ core }) =>
        core.api.cancelJob.execute(demand.account.id, jobId, new AbortController().signal).then((done) => done.outcome),
      );
      if (outcome !== null) return;
      await this.pause();
    }
  }

  private async read(demand: Demand, jobId: string): Promise<void> {
    const found = await this.ask(({ core }) => core.api.readGenerations.getJob(demand.account.id, jobId));
    if (found === null || found instanceof FermataError) return;
    const { status } = found.job;
    if (demand.end !== null && demand.end !== status)
      this.deps.violate(`Demand ${demand.number} was ${demand.end}, and then ${status}.`);
    if (status === "completed" || status === "failed") demand.end = status;
  }

  /** @returns null without a response, or where the request is to be sent again; a refusal that is final */
  private async ask<T>(request: (serving: Serving) => Promise<T>): Promise<T | FermataError | null> {
    const serving = this.deps.serving();
    if (serving === null) return null;
    const { process } = serving;
    const respond = async (): Promise<T | FermataError | null> => {
      await process.step("request");
      try {
        return await request(serving);
      } catch (error) {
        if (FermataError.is(error) && RETRIED.has(error.code)) return null;
        if (FermataError.is(error) && FINAL.has(error.code)) return error;
        this.deps.violate(`A client got an error that it cannot handle: ${(error as Error).stack}`);
        return null;
      }
    };
    return Promise.race([respond(), process.died.then(() => null)]);
  }

  private pause(): Promise<void> {
    return this.deps.scheduler.sleep(this.deps.actor, RETRY_MS);
  }
}

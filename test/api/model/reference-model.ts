/**
 * What the API document and the decisions say of credits, jobs and keys, as plain maps and numbers. It is right by
 * being short; the system has to be like it after every command.
 */

export const COSTS = { song: 10, beat: 3 } as const;
export const MAX_CONCURRENT = 3;
/** Monthly credits after a renewal. */
export const ALLOWANCE = 25;

/** A request as far as keys tell requests apart. */
export interface ModelRequest {
  readonly model: keyof typeof COSTS;
  readonly prompt: string;
  /** Another member makes another shape. */
  readonly client?: string;
}

export interface ModelJob {
  readonly id: string;
  readonly request: ModelRequest;
  /** What was taken from each bucket. */
  readonly monthly: number;
  readonly pack: number;
  status: "processing" | "completed" | "failed";
}

/** What a request is answered. */
export type Answer =
  | { readonly kind: "accepted"; readonly cost: number }
  | { readonly kind: "replayed"; readonly job: ModelJob }
  | { readonly kind: "refused"; readonly refusal: string };

export class ModelAccount {
  monthly: number;
  pack = 0;
  spent = 0;
  isSuspended = false;
  readonly jobs: ModelJob[] = [];
  private readonly keys = new Map<string, ModelJob>();
  private readonly renewed = new Set<string>();

  constructor(credits: number) {
    this.monthly = credits;
  }

  get available(): number {
    return this.monthly + this.pack;
  }

  get open(): readonly ModelJob[] {
    return this.jobs.filter(({ status }) => status === "processing");
  }

  /** In the order of checks: the account, the key's record, concurrency, credits. */
  answerTo(key: string, request: ModelRequest): Answer {
    if (this.isSuspended) return { kind: "refused", refusal: "403 account_suspended" };
    const recorded = this.keys.get(key);
    if (recorded !== undefined) {
      const { request: first } = recorded;
      if ("client" in first !== "client" in request)
        return { kind: "refused", refusal: "409 idempotency_key_conflict" };
      const isSame =
        first.model === request.model && first.prompt === request.prompt && first.client === request.client;
      return isSame ? { kind: "replayed", job: recorded } : { kind: "refused", refusal: "409 idempotency_conflict" };
    }
    if (this.open.length >= MAX_CONCURRENT) return { kind: "refused", refusal: "409 generation_concurrency_exceeded" };
    const cost = COSTS[request.model];
    if (this.available < cost) return { kind: "refused", refusal: "402 insufficient_credits" };
    return { kind: "accepted", cost };
  }

  /** Monthly credits are taken first. */
  accept(key: string, id: string, request: ModelRequest): void {
    const monthly = Math.min(this.monthly, COSTS[request.model]);
    const pack = COSTS[request.model] - monthly;
    const job: ModelJob = { id, request, monthly, pack, status: "processing" };
    this.monthly -= monthly;
    this.pack -= pack;
    this.jobs.push(job);
    this.keys.set(key, job);
  }

  complete(job: ModelJob): void {
    job.status = "completed";
    this.spent += job.monthly + job.pack;
  }

  /** Gives back to each bucket what came from it. */
  fail(job: ModelJob): void {
    job.status = "failed";
    this.monthly += job.monthly;
    this.pack += job.pack;
  }

  grant(amount: number, bucket: "monthly" | "pack"): void {
    this[bucket] += amount;
  }

  /** Each period once. */
  renew(period: string): void {
    if (this.renewed.has(period)) return;
    this.renewed.add(period);
    this.monthly = ALLOWANCE;
  }
}

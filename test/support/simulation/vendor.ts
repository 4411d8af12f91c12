import { type Completed, ProviderFailure, type Snapshot, type SubmitRequest } from "../../../plugins/sdk/index.js";
import { NO_TAGS } from "../../../plugins/sdk/index.js";
import type { ProviderId, Script, SUBMISSIONS } from "./plan.js";
import { type Actor, never, type Scheduler } from "./scheduler.js";

/** What a provider was asked for and took: an operator pays for it. */
export interface Work {
  readonly id: string;
  readonly provider: ProviderId;
  readonly jobId: string;
  readonly attemptId: string;
  readonly operation: SubmitRequest["operation"];
  readonly callbackUrl: string | null;
  readonly script: Script;
  readonly readyAt: number;
  state: "rendering" | "completed" | "failed" | "cancelled";
  polls: number;
  opened: number;
}

export interface VendorDeps {
  readonly scheduler: Scheduler;
  readonly actor: Actor;
  /** The number of the demand that a job is of. */
  demandOf(jobId: string): number;
  /** What is to become of the submissions of a demand. */
  scriptOf(demand: number): Script;
  /** Sends a callback. Resolves when it is taken. */
  callBack(work: Work): Promise<void>;
  violate(message: string): void;
}

/** What a split makes. */
const STEMS = ["vocals", "instrumental"];

/** The longest that a call of a plugin may take. */
export const CALL_LIMIT_MS = 8_000;
/** A reply after the call has been given up. */
const LATE_MS = CALL_LIMIT_MS + 9_000;
/** Until a provider that is slow has taken a request: so long after the end of a call a look-up does not find it. */
export const SLOW_MS = 4_000;
const LATENCY_MS = 20;
const LASTING: readonly string[] = ["content_rejected", "out_of_credit", "model_unavailable"];
const CALLBACK_LATE_MS = 8_000;

/** The providers' side of the world, which outlives every process. */
export class Vendor {
  readonly works: Work[] = [];
  /** Calls and callbacks under way. */
  underWay = 0;
  private readonly submissions = new Map<number, number>();
  /** Provider and job of what it takes. */
  private readonly taken = new Set<string>();

  constructor(private readonly deps: VendorDeps) {}

  /** Takes a submission, or not, as its script says. Resolves with the reply, if there is one. */
  async submit(provider: ProviderId, request: SubmitRequest): Promise<Work> {
    this.underWay += 1;
    try {
      return await this.replyTo(provider, request);
    } finally {
      this.underWay -= 1;
    }
  }

  private async replyTo(provider: ProviderId, request: SubmitRequest): Promise<Work> {
    const { scheduler, actor } = this.deps;
    const demand = this.deps.demandOf(request.jobId);
    const script = this.deps.scriptOf(demand);
    const number = this.submissions.get(demand) ?? 0;
    this.submissions.set(demand, number + 1);
    const own = `${provider} ${request.jobId}`;
    const scripted = script.submissions[number] ?? "ok";
    // What it takes, or is about to, it does not refuse for good.
    const isKnown = isIdempotent(provider) && this.taken.has(own);
    const how = isKnown && LASTING.includes(scripted) ? "ok" : scripted;
    if (!isRefusal(how) && how !== "request_lost") this.taken.add(own);
    await scheduler.sleep(actor, how === "slow" ? SLOW_MS : LATENCY_MS);
    if (isRefusal(how)) throw new ProviderFailure(how, `scripted: ${how}`);
    if (how === "request_lost") throw new ProviderFailure("outcome_unknown", "scripted: the request was lost");
    const work = this.accept(provider, request, script);
    if (how === "reply_lost") throw new ProviderFailure("outcome_unknown", "scripted: the reply was lost");
    if (how === "hangs") {
      this.underWay -= 1;
      return never();
    }
    await scheduler.sleep(actor, how === "late" ? LATE_MS : LATENCY_MS);
    return work;
  }

  /** Whether the plugin's call goes on although it was aborted. */
  isDeaf({ jobId }: SubmitRequest): boolean {
    const demand = this.deps.demandOf(jobId);
    const number = (this.submissions.get(demand) ?? 1) - 1;
    return this.deps.scriptOf(demand).submissions[number] === "late";
  }

  find(id: unknown): Work {
    const work = this.works.find((one) => one.id === id);
    if (work === undefined) throw new ProviderFailure("gone", "there is no such work");
    return work;
  }

  snapshot(work: Work): Snapshot {
    const { script } = work;
    work.polls += 1;
    if (script.render === "gone_at_first" && work.polls === 1) throw new ProviderFailure("gone", "scripted: not yet");
    if (script.render === "poll_unavailable" && work.polls <= 3)
      throw new ProviderFailure("unavailable", "scripted: no polls now");
    this.proceed(work);
    if (work.state === "cancelled") throw new ProviderFailure("cancelled", "it was cancelled", { billable: "no" });
    if (work.state === "rendering") return { state: "running", nextPollMs: 1_500 };
    if (script.render === "lost") throw new ProviderFailure("gone", "scripted: the result was lost");
    if (work.state === "failed")
      throw new ProviderFailure("failed", "scripted: it failed", { providerCode: "scripted", billable: "no" });
    return this.resultOf(work);
  }

  cancel(work: Work): "cancelled" | "too_late" {
    this.proceed(work);
    if (work.state !== "rendering") return work.state === "cancelled" ? "cancelled" : "too_late";
    work.state = "cancelled";
    return "cancelled";
  }

  /** The result; a link of it names how often it was given, so that an old one can be dead. */
  resultOf(work: Work): Completed {
    const source =
      work.provider === "sync"
        ? { kind: "bytes" as const, bytes: bytesOf(work) }
        : { kind: "url" as const, url: `https://vendor.example/${work.id}?given=${work.polls}` };
    const file = { contentType: "audio/mpeg" as const, durationSeconds: 10, source };
    if (work.operation !== "music") {
      const stems = STEMS.map((label) => ({ ...file, role: "stem" as const, label }));
      return { state: "completed", tracks: [], stems };
    }
    const mix = { ...file, role: "mix" as const, label: "full" };
    return { state: "completed", tracks: [{ title: work.id, bpm: null, tags: NO_TAGS, assets: [mix] }] };
  }

  /** The file behind a link. */
  download(url: string): Uint8Array {
    const { pathname, searchParams } = new URL(url);
    const work = this.find(pathname.slice(1));
    work.opened += 1;
    const { render } = work.script;
    if (render === "lost") throw new ProviderFailure("gone", "scripted: the result was lost");
    if (render === "link_unavailable" && work.opened <= 2)
      throw new ProviderFailure("unavailable", "scripted: the file cannot be fetched now");
    if (render === "link_dead_once" && work.opened === 1)
      throw new ProviderFailure("gone", `scripted: the link ${searchParams.get("given")} is dead`);
    return bytesOf(work);
  }

  /** Whether the provider itself let this work go to waste. */
  isExcused(work: Work): boolean {
    this.proceed(work);
    const { script, provider, state } = work;
    if (state === "failed" || state === "cancelled" || script.render === "lost") return true;
    // Where nothing else can be asked, the callback is the only word of it.
    return provider === "sign" && script.callback === "none";
  }

  private accept(provider: ProviderId, request: SubmitRequest, script: Script): Work {
    const { scheduler, violate } = this.deps;
    const { jobId, attemptId, operation, callbackUrl } = request;
    const known = this.works.find((work) => work.jobId === jobId && work.provider === provider);
    if (known !== undefined && isIdempotent(provider)) return known;
    if (this.works.some((work) => work.attemptId === attemptId)) violate(`The attempt ${attemptId} was bought twice.`);
    const isEarly = script.callback === "early";
    const readyAt = scheduler.now() + (provider === "sync" || isEarly ? 0 : script.renderMs);
    const id = `work-${this.works.length + 1}`;
    const work: Work = {
      id,
      provider,
      jobId,
      attemptId,
      operation,
      callbackUrl,
      script,
      readyAt,
      state: "rendering",
      polls: 0,
      opened: 0,
    };
    this.works.push(work);
    if (callbackUrl !== null && script.callback !== "none") {
      const waitMs = readyAt - scheduler.now() + (script.callback === "late" ? CALLBACK_LATE_MS : 0);
      for (let sent = 0; sent < (script.callback === "twice" ? 2 : 1); sent++) void this.callBack(work, waitMs);
    }
    return work;
  }

  private async callBack(work: Work, afterMs: number): Promise<void> {
    const { scheduler, actor } = this.deps;
    this.underWay += 1;
    await scheduler.sleep(actor, afterMs);
    await this.deps.callBack(work);
    this.underWay -= 1;
  }

  private proceed(work: Work): void {
    if (work.state !== "rendering" || work.readyAt > this.deps.scheduler.now()) return;
    work.state = work.script.render === "fails" ? "failed" : "completed";
  }
}

type Submitted = (typeof SUBMISSIONS)[number] | "ok";
type Refusal = Extract<Submitted, ProviderFailure["kind"]>;

function isRefusal(how: Submitted): how is Refusal {
  return how === "unavailable" || how === "rate_limited" || LASTING.includes(how);
}

function isIdempotent(provider: ProviderId): boolean {
  return provider === "idem" || provider === "sync";
}

/** Begins as an MP3 does; the rest says which work it is. */
export function bytesOf(work: Pick<Work, "id">): Uint8Array {
  return new TextEncoder().encode(`ID3${work.id}`);
}

import { SystemRandom } from "../../adapters/system/random.js";
import { createAccounts } from "../../core/accounts/create-accounts.js";
import type { Authenticate } from "../../core/accounts/authenticate.js";
import type { ManageAccounts } from "../../core/accounts/manage-accounts.js";
import { type Tier, Tiers } from "../../core/accounts/tiers.js";
import { createProviders } from "../../core/providers/create-providers.js";
import type { CallbackUrls } from "../../core/providers/callback-urls.js";
import type { ReceiveCallback } from "../../core/providers/receive-callback.js";
import type { ProcessId } from "../../core/ids.js";
import { createJobs } from "../../core/jobs/create-jobs.js";
import type { AcceptJobs } from "../../core/jobs/accept-jobs.js";
import type { AcceptCommand, AcceptResult } from "../../core/jobs/decide-acceptance.js";
import type { ApplyReports } from "../../core/attempts/apply-reports.js";
import type { ReportCommand } from "../../core/attempts/report-groups.js";
import type { Job, JobPhase } from "../../core/jobs/job.js";
import type { ClaimedJob } from "../../core/ports/job-claims.js";
import { anId, NO_UPLOADS } from "./builders.js";
import { unrecorded } from "../../core/audit/unrecorded.js";
import type { ManualClock } from "./doubles/manual-clock.js";
import { openSteppedProcess, type Point, type SteppedProcess } from "./stepping.js";
import { corePorts } from "./core-ports.js";
import { eventsOf } from "./webhook-events.js";
import { A_POLICY, aReport, reportsOn } from "./reports.js";

export const LEASE_MS = 30_000;
const PLENTY = { perMinute: 1_000, perDay: 1_000 };
const TIER: Tier = {
  name: "pro",
  maxConcurrent: 10,
  monthlyCredits: 0,
  rateLimits: { read: PLENTY, generation: PLENTY, write: PLENTY },
  uploads: NO_UPLOADS,
};

/** The steps of a process. */
export interface Step<Result> {
  readonly by: { readonly process: SteppedProcess };
  begin(): Promise<Result>;
}

/** Holds one step at this point while the other runs into it; then releases both. */
export async function collide<A, B>(point: Point, one: Step<A>, other: Step<B>): Promise<[A, B]> {
  const held = one.by.process.holdAt(point);
  const first = one.begin();
  const early = first.then(() => Promise.reject(new Error("It came through without getting to the point.")));
  await Promise.race([held.reached, early]);
  const second = other.begin();
  const through = second.then(
    () => undefined,
    () => undefined,
  );
  // Either it waits for the first, or the first does not block it.
  await Promise.race([other.by.process.blocked(), through]);
  held.goOn();
  await first;
  other.by.process.retry();
  return Promise.all([first, second]);
}

/** One process with the use cases that race. */
export class RaceHarness {
  readonly owner: ProcessId = anId("prc");
  readonly accept: AcceptJobs;
  readonly reports: ApplyReports;
  readonly accounts: ManageAccounts;
  readonly authenticate: Authenticate;
  private readonly callbackUrls: CallbackUrls;
  private readonly receive: ReceiveCallback;

  private constructor(
    readonly process: SteppedProcess,
    private readonly clock: ManualClock,
    private readonly providerId: string,
  ) {
    const { stores } = process;
    const stepped = process.clockOf(clock);
    const ports = corePorts(stores, { clock: stepped, random: new SystemRandom() });
    const audit = unrecorded(stores.unitOfWork);
    const { authenticate, accounts } = createAccounts({ ports, audit, tiers: new Tiers([TIER]) });
    this.accept = createJobs(ports, eventsOf(stores)).acceptJobs;
    this.reports = reportsOn(stores, stepped);
    this.accounts = accounts;
    this.authenticate = authenticate;
    const { callbackUrls, receiveCallback } = createProviders({
      ports,
      providers: [],
      routes: { fallbacks: {}, splits: { stem_split: [], vocal_removal: [] } },
      breaker: { failures: 5, openMs: 30_000 },
      queueDeadlineMs: 3_600_000,
      reachableUrl: "https://fermata.test",
    });
    this.callbackUrls = callbackUrls;
    this.receive = receiveCallback;
  }

  static async open(url: string, clock: ManualClock, providerId: string): Promise<RaceHarness> {
    return new RaceHarness(await openSteppedProcess(url), clock, providerId);
  }

  claim(phase: Exclude<JobPhase, "ended">): Promise<ClaimedJob[]> {
    const { clock, providerId, owner, process } = this;
    const now = clock.now();
    return process.stores.jobs.claimJobs({
      providerId,
      phases: [phase],
      limit: 10,
      now,
      owner,
      leaseUntil: now + LEASE_MS,
    });
  }

  /** The provider's callback, to the URL that it was given. */
  receiveCallback({ job }: ClaimedJob): Promise<void> {
    const token = this.callbackUrls.urlOf(this.providerId, job.id, null)?.split("/").at(-1) ?? "";
    return this.receive.receive({
      providerId: this.providerId,
      jobId: job.id,
      token,
      headers: {},
      query: {},
      body: new Uint8Array([1]),
    });
  }

  close(): Promise<void> {
    return this.process.close();
  }
}

export function creating(by: RaceHarness, command: AcceptCommand | undefined): Step<AcceptResult> {
  return { by, begin: () => by.accept.accept(command as AcceptCommand) };
}

/** A report of the worker or an operator. @returns the job that it ended */
export function reportingOn(by: RaceHarness, command: ReportCommand): Step<Job | null> {
  return { by, begin: async () => (await by.reports.apply(command)).ended?.job ?? null };
}

export function claiming(by: RaceHarness, phase: Exclude<JobPhase, "ended">): Step<ClaimedJob[]> {
  return { by, begin: () => by.claim(phase) };
}

/** A worker releases its lease: the job is due at once. */
export function releasing(by: RaceHarness, { job }: ClaimedJob): Step<Job | null> {
  return reportingOn(by, aReport(job, { type: "released", afterMs: 0 }));
}

/** The provider is still rendering; the next poll is in an hour. */
export function polling(by: RaceHarness, { job }: ClaimedJob): Step<Job | null> {
  const event = { type: "running", number: 1, nextPollMs: 3_600_000, handle: null, callbacksRead: [] } as const;
  const policy = { ...A_POLICY, capabilities: { ...A_POLICY.capabilities, callbacks: "signed" } } as const;
  return reportingOn(by, aReport(job, event, { policy }));
}

export function reporting(by: RaceHarness, claimed: ClaimedJob): Step<void> {
  return { by, begin: () => by.receiveCallback(claimed) };
}

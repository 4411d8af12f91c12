import type { RecordsActions } from "../audit/audit-trail.js";
import type { Clock } from "../ports/clock.js";
import type { InstallationStore } from "../ports/installation-store.js";
import type { Logger } from "../ports/logger.js";

/** `paused`: no new work is submitted. Polls, callbacks, settlement and deadlines go on, and jobs are accepted. */
export type SubmissionState = "active" | "paused";

/** What an operator last set, for all processes. */
export interface Submissions {
  readonly state: SubmissionState;
  /** null: never paused or resumed. */
  readonly changedAt: number | null;
}

export interface SubmissionSwitchDeps {
  readonly installation: Pick<InstallationStore, "find" | "keep" | "write">;
  readonly audit: RecordsActions;
  readonly clock: Clock;
  readonly logger: Logger;
  /**
   * `paused`: until an operator resumes submissions after this process first read the switch; an earlier stored value
   * does not count.
   */
  readonly startsAs: SubmissionState;
}

/** The name under which the storage keeps it. */
const NAME = "submissions";
/** The maximum age of a cached state. */
const FRESH_MS = 1_000;

/** What an operator last set. */
export async function findSubmissions(installation: Pick<InstallationStore, "find">): Promise<Submissions> {
  return parse(await installation.find(NAME));
}

/**
 * Whether workers submit new work to providers. After a restore from a backup, providers may have created work that the
 * storage has no record of: it would be bought again.
 */
export class SubmissionSwitch {
  private latest: { readonly readAt: number; readonly isPaused: Promise<boolean> } | null = null;
  /** What was stored when this process first read it; anything else was written since. */
  private first: { readonly stored: string | null } | null = null;
  private wasPaused = false;

  constructor(private readonly deps: SubmissionSwitchDeps) {}

  /** As of at most a second ago. @throws {ServiceUnavailableError} the storage cannot be reached */
  arePaused(): Promise<boolean> {
    const now = this.deps.clock.now();
    const { latest } = this;
    if (latest !== null && now >= latest.readAt && now - latest.readAt < FRESH_MS) return latest.isPaused;
    const isPaused = this.read();
    const reading = { readAt: now, isPaused };
    this.latest = reading;
    isPaused.catch(() => {
      if (this.latest === reading) this.latest = null;
    });
    return isPaused;
  }

  /** What an operator last set. */
  find(): Promise<Submissions> {
    return findSubmissions(this.deps.installation);
  }

  /** Pauses submissions: in this process at once, in all others within seconds. A second time changes nothing. */
  async pause(): Promise<Submissions> {
    const before = await this.find();
    return before.state === "paused" ? before : this.change("paused");
  }

  /** Resumes submissions, also in processes that their settings started as paused. */
  resume(): Promise<Submissions> {
    return this.change("active");
  }

  private async change(state: SubmissionState): Promise<Submissions> {
    const { installation, audit, clock } = this.deps;
    this.first ??= { stored: await installation.find(NAME) };
    const submissions: Submissions = { state, changedAt: clock.now() };
    const action = state === "paused" ? "submissions.pause" : "submissions.resume";
    await audit.inTransaction(
      (tx) => installation.write(tx, NAME, JSON.stringify(submissions)),
      () => ({ action, accountId: null, targets: [], fields: {} }),
    );
    this.latest = null;
    return submissions;
  }

  private async read(): Promise<boolean> {
    const { installation, startsAs, logger } = this.deps;
    const stored = await installation.find(NAME);
    this.first ??= { stored };
    const isUnchanged = stored === this.first.stored;
    const isPaused = parse(stored).state === "paused" || (startsAs === "paused" && isUnchanged);
    if (isPaused && !this.wasPaused)
      logger.warn("Submissions are paused: accepted jobs wait, and nothing new is bought");
    if (!isPaused && this.wasPaused) logger.info("Submissions are active again");
    this.wasPaused = isPaused;
    return isPaused;
  }
}

function parse(stored: string | null): Submissions {
  return stored === null ? { state: "active", changedAt: null } : (JSON.parse(stored) as Submissions);
}

import type { WebhookEndpointId } from "../ids.js";
import { type Member, Members } from "../members.js";

/** Attempts that are sent at once by one process. */
const SENDING_MAX = 100;
/** The same with those whose results are being written. */
const UNDER_WAY_MAX = 300;

/** One that is sent, or whose result is written. */
export interface Attempt extends Member {
  readonly endpointId: WebhookEndpointId;
  readonly host: string;
  /** When the lease of its delivery ends: it takes places no longer. */
  readonly until: number;
  /** Whether it takes a place at its endpoint and host. */
  isAtHost: boolean;
  /** Whether its lease has ended. */
  isLate: boolean;
  ended: Promise<void>;
}

/** The attempts of one process, and the places that they take. */
export class AttemptsUnderWay {
  /** How many are sent. */
  readonly tried = { ofEndpoint: new Map<WebhookEndpointId, number>(), ofHost: new Map<string, number>() };
  private readonly attempts = new Members<Attempt>();
  private sending = 0;
  private late = 0;

  get size(): number {
    return this.attempts.size;
  }

  /** How many more may be sent. */
  get freeSlots(): number {
    return Math.min(SENDING_MAX - this.sending, UNDER_WAY_MAX - (this.attempts.size - this.late));
  }

  /** Resolves when all those have ended that are under way now. */
  async ended(): Promise<void> {
    await Promise.all([...this.attempts].map(({ ended }) => ended));
  }

  begin(endpointId: WebhookEndpointId, host: string, until: number): Attempt {
    const ended = Promise.resolve();
    const attempt: Attempt = { place: -1, endpointId, host, until, isAtHost: true, isLate: false, ended };
    this.attempts.add(attempt);
    this.count(attempt, 1);
    return attempt;
  }

  /** Its place there is free from now on. @returns false where it was free before */
  leaveHost(attempt: Attempt): boolean {
    if (!attempt.isAtHost) return false;
    attempt.isAtHost = false;
    this.count(attempt, -1);
    return true;
  }

  /**
   * A sender that does not end keeps no place: the lease of its delivery is over, and a failing host, which has one
   * attempt at a time, would have no other.
   */
  leaveLate(now: number): void {
    for (const attempt of this.attempts) {
      if (attempt.isLate || now < attempt.until) continue;
      attempt.isLate = true;
      this.late += 1;
      this.leaveHost(attempt);
    }
  }

  end(attempt: Attempt): void {
    this.attempts.delete(attempt);
    if (attempt.isLate) this.late -= 1;
  }

  private count({ endpointId, host }: Attempt, change: 1 | -1): void {
    add(this.tried.ofEndpoint, endpointId, change);
    add(this.tried.ofHost, host, change);
    this.sending += change;
  }
}

/** Counts up or down; removes a count of zero. */
export function add<Key>(counts: Map<Key, number>, key: Key, change: 1 | -1): void {
  const count = (counts.get(key) ?? 0) + change;
  if (count === 0) counts.delete(key);
  else counts.set(key, count);
}

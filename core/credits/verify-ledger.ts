import type { Clock } from "../ports/clock.js";
import type { InstallationStore } from "../ports/installation-store.js";
import type { LedgerAudit, LedgerStore, LedgerViolation } from "../ports/ledger-store.js";

export interface VerifyOptions {
  /** Everything from the beginning, also what was verified before. */
  readonly full?: boolean;
}

/** What a check of the ledger has found. */
export interface LedgerVerification extends Omit<LedgerAudit, "resume"> {
  /** False: what was verified before was taken from there. */
  readonly isFull: boolean;
  /** When the last full check ended; null: none has yet. */
  readonly fullAt: number | null;
}

/** What a check of the ledger in steps has found. */
export interface LedgerCheck {
  /** False: it was ended early. */
  readonly isComplete: boolean;
  /** Rows. */
  readonly checked: number;
  /** The first 1,000. */
  readonly violations: readonly LedgerViolation[];
}

export interface VerifyLedgerDeps {
  readonly ledger: Pick<LedgerStore, "audit" | "auditPage">;
  readonly installation: Pick<InstallationStore, "find" | "keep">;
  readonly clock: Clock;
}

/** How far the ledger was checked, in the storage. */
interface Verified {
  /** null: the next check is a full one. */
  readonly resume: string | null;
  readonly fullAt: number | null;
}

/** The name under which the storage keeps it. */
const NAME = "ledger_verified";
const VERIFIED_AT_ONCE = 1_000;
const VIOLATIONS_MAX = 1_000;

export class VerifyLedger {
  constructor(private readonly deps: VerifyLedgerDeps) {}

  async verify({ full = false }: VerifyOptions): Promise<LedgerVerification> {
    const { ledger, installation, clock } = this.deps;
    const known = parse(await installation.find(NAME));
    const since = full ? null : known.resume;
    const { resume, ...audit } = await ledger.audit(since);
    const isFull = since === null;
    const fullAt = isFull ? clock.now() : known.fullAt;
    // What was found has to be found again until it is put right.
    const next: Verified = { resume: audit.violations.length === 0 ? resume : null, fullAt };
    await installation.keep(NAME, JSON.stringify(next));
    return { ...audit, isFull, fullAt };
  }

  async inSteps(signal: AbortSignal): Promise<LedgerCheck> {
    let [cursor, checked]: [string | null, number] = [null, 0];
    const violations: LedgerViolation[] = [];
    while (!signal.aborted) {
      const page = await this.deps.ledger.auditPage(cursor, VERIFIED_AT_ONCE);
      checked += page.checked;
      violations.push(...page.violations.slice(0, VIOLATIONS_MAX - violations.length));
      cursor = page.next;
      if (cursor === null) return { isComplete: true, checked, violations };
    }
    return { isComplete: false, checked, violations };
  }
}

function parse(stored: string | null): Verified {
  return stored === null ? { resume: null, fullAt: null } : (JSON.parse(stored) as Verified);
}

import type { AccountId, TrackId } from "../../../../core/ids.js";
import type {
  AcceptCommand,
  AcceptDecision,
  AcceptIdempotency,
  AcceptState,
} from "../../../../core/jobs/decide-acceptance.js";
import { decideAcceptance } from "../../../../core/jobs/decide-acceptance.js";
import type { Ending } from "../../../../core/jobs/decide-settlement.js";
import type { JobState } from "../../../../core/jobs/job.js";
import type { Balance, LedgerEntry } from "../../../../core/credits/balance.js";
import { aJob, aJobRequest, NOON } from "../../../support/builders.js";

/** What a caller says who repeats a request with the key `key`. */
export function aGivenKey(key: string, overrides: Partial<AcceptIdempotency["fingerprint"]> = {}): AcceptIdempotency {
  return {
    keyHash: `hash of ${key}`,
    fingerprint: { shape: "shape", body: "body", ...overrides },
    expiresAt: NOON + 86_400_000,
    present: (job) => ({ status: 202, body: JSON.stringify({ id: job.id, credits_charged: job.creditsCharged }) }),
  };
}

/** A job of five credits that asks to be accepted, without a key, on an account that may run ten. */
export function anAcceptCommand(accountId: AccountId, overrides: Partial<AcceptCommand> = {}): AcceptCommand {
  const job = aJob({ accountId, reserved: { monthly: 0, pack: 0 }, creditsCharged: 0 });
  return { job, cost: 5, concurrencyLimit: 10, idempotency: null, refusal: null, ...overrides };
}

/** A completion without tracks. */
export function anEnding(job: Pick<JobState, "id">, overrides: Partial<Ending> = {}): Ending {
  return {
    jobId: job.id,
    endedBy: "rpt_1",
    outcome: { status: "completed", files: { tracks: [], outputs: [], missing: [] } },
    ...overrides,
  };
}

export const FAILED: Ending["outcome"] = {
  status: "failed",
  error: { code: "generation_failed", message: "It failed." },
};

/** The same for a stem split under a reference. */
export function aSplitCommand(
  accountId: AccountId,
  sourceTrackId: TrackId,
  reference: string,
  overrides: Partial<AcceptCommand> = {},
): AcceptCommand {
  const command = anAcceptCommand(accountId, overrides);
  return {
    ...command,
    job: { ...command.job, kind: "stem_split", reference, request: aJobRequest({ prompt: "", sourceTrackId }) },
  };
}

export function stateOf(balances: readonly Balance[], records: AcceptState["records"] = []): AcceptState {
  return {
    created: new Map(),
    records,
    referenced: [],
    balances: new Map(balances.map((balance) => [balance.accountId, balance])),
    busy: new Set(),
  };
}

/** What storage holds after a decision was written. */
export function afterDecision(state: AcceptState, decision: AcceptDecision): AcceptState {
  const balances = new Map(state.balances);
  for (const { after } of decision.movements) balances.set(after.accountId, after);
  const referenced = [...state.referenced, ...decision.jobs.filter(({ reference }) => reference !== null)];
  return { ...state, created: new Map(), records: [...state.records, ...decision.records], referenced, balances };
}

/** The same commands, each in a transaction of its own. */
export function acceptOneByOne(
  commands: readonly AcceptCommand[],
  state: AcceptState,
): AcceptDecision & { readonly state: AcceptState } {
  const decisions: AcceptDecision[] = [];
  for (const command of commands) {
    const decision = decideAcceptance([command], state);
    decisions.push(decision);
    state = afterDecision(state, decision);
  }
  return {
    results: decisions.flatMap(({ results }) => results),
    jobs: decisions.flatMap(({ jobs }) => jobs),
    records: decisions.flatMap(({ records }) => records),
    movements: decisions.flatMap(({ movements }) => movements),
    state,
  };
}

export function sumOfEntries(
  entries: readonly LedgerEntry[],
  amount: "monthly" | "pack" | "reservedMonthly" | "reservedPack" | "spent",
): number {
  return entries.reduce((sum, entry) => sum + entry[amount], 0);
}

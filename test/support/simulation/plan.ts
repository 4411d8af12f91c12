import { SeededRandom } from "../chaos/seeded-random.js";

/** Providers of the simulated world, each with other capabilities. */
export const PROVIDERS = ["idem", "look", "sign", "sync"] as const;
export type ProviderId = (typeof PROVIDERS)[number];

/** Where a generation goes when the provider of its model does not take it: the next in this circle. */
export const FALLBACKS: Readonly<Record<ProviderId, ProviderId>> = {
  idem: "look",
  look: "sync",
  sign: "idem",
  sync: "sign",
};
/** Those that split tracks, the preferred one first. */
export const SPLITTERS: readonly ProviderId[] = ["look", "idem"];

/** What a provider does with a submission. */
export const SUBMISSIONS = [
  "unavailable",
  "rate_limited",
  "content_rejected",
  "out_of_credit",
  "model_unavailable",
  "reply_lost",
  "request_lost",
  "hangs",
  "late",
  "slow",
] as const;
/** What becomes of accepted work. */
export const RENDERS = [
  "fails",
  "lost",
  "poll_unavailable",
  "gone_at_first",
  "link_dead_once",
  "link_unavailable",
] as const;
/** How it reports the end. */
export const CALLBACKS = ["early", "twice", "late", "none"] as const;

/** What a provider does with the submissions of one demand; left out: it does as it should. */
export interface Script {
  /** Of the first submissions, one after another. */
  readonly submissions: readonly (typeof SUBMISSIONS)[number][];
  readonly render: (typeof RENDERS)[number] | null;
  readonly callback: (typeof CALLBACKS)[number] | null;
  readonly renderMs: number;
}

/** What clients do. */
export type Operation =
  | {
      readonly kind: "create";
      readonly at: number;
      readonly account: number;
      /** A generation by the model of this provider, or a split of the track of the account. */
      readonly wants: ProviderId | "split";
      /** Without a key it is sent once, and never again. Splits have one. */
      readonly isKeyed: boolean;
      /** Sent to two nodes at once. */
      readonly isDoubled: boolean;
      /** The client stops listening, and asks again later. */
      readonly leavesAfterMs: number | null;
    }
  | { readonly kind: "cancel"; readonly at: number; readonly of: number }
  | { readonly kind: "read"; readonly at: number; readonly of: number };

/** What goes wrong. Calls, writes and commits are counted over all nodes, so that faults meet work and not idleness. */
export type Fault =
  | { readonly kind: "kill"; readonly call: number; readonly when: "before" | "after"; readonly backAfterMs: number }
  | { readonly kind: "stop"; readonly call: number; readonly node: number; readonly backAfterMs: number }
  | { readonly kind: "statement"; readonly write: number; readonly errno: number }
  | {
      readonly kind: "commit";
      readonly commit: number;
      /** Which commits are counted: those that accept something, or all. */
      readonly of: "acceptances" | "all";
      readonly isCommitted: boolean;
      /** How long the storage is away from then on. */
      readonly awayMs: number;
    }
  | { readonly kind: "away"; readonly call: number; readonly ms: number; readonly node: number | null }
  | { readonly kind: "freeze"; readonly call: number; readonly node: number; readonly ms: number }
  /** The process that makes such a call stands still right before its effect on the world, or right after. */
  | {
      readonly kind: "stall";
      readonly at: StalledCall;
      /** Which of such calls, over all nodes, from 1 on. */
      readonly nth: number;
      readonly when: "before" | "after";
      readonly ms: number;
      /** Whether a receiver refuses this delivery: the one that stands still has bad news to write. */
      readonly isRefused: boolean;
    }
  | { readonly kind: "clock"; readonly call: number; readonly node: number; readonly offsetMs: number }
  | { readonly kind: "queue"; readonly share: number; readonly how: "lost" | "doubled" | "late" }
  | { readonly kind: "provider"; readonly of: number; readonly script: Script }
  | { readonly kind: "receiver"; readonly endpoint: number; readonly replies: readonly ReceiverReply[] };

/** Calls at which a process may stand still: those that are bought, or sent, twice if two processes make them. */
export type StalledCall = "submit" | "webhook" | "poll" | "download";
const STALLED_CALLS: readonly StalledCall[] = ["submit", "submit", "webhook", "webhook", "poll", "download"];

export type ReceiverReply = "500" | "429" | "timeout" | "reply_lost" | "hangs";
export const RECEIVER_REPLIES: readonly ReceiverReply[] = ["500", "429", "timeout", "reply_lost", "hangs"];

/** A run: a pure function of its seed. Its parts are numbered, so that a run without some of them can be had. */
export interface Plan {
  readonly seed: number;
  readonly operations: ReadonlyMap<number, Operation>;
  readonly faults: ReadonlyMap<number, Fault>;
}

export interface Size {
  readonly accounts: number;
  readonly nodes: number;
  readonly operations: number;
  readonly faults: number;
}

export const SIZE: Size = { accounts: 4, nodes: 3, operations: 16, faults: 12 };

/** Operations come within this time, in milliseconds. */
const OPERATIONS_WITHIN_MS = 8_000;
/** Faults are placed among so many of each job. */
const CALLS = 18;
const COMMITS = 8;
const WRITES = 30;
const STALLS = 1.5;
/** Longer than a lease; at times longer than any call of a plugin lasts, after which its outcome is looked up. */
const STALL_MS = { least: 7_000, most: 40_000 };
/** How many of all that is asked for are splits. */
const SPLITS = 0.15;

export function planOf(seed: number, size: Size = SIZE): Plan {
  const random = new SeededRandom(seed);
  const int = (least: number, most: number): number => Math.floor(random.between(least, most + 1));
  const pick = <T>(list: readonly T[]): T => random.pick(list) as T;
  const chance = (share: number): boolean => random.fraction() < share;
  const creates = Math.ceil(size.operations * 0.6);
  const operations: Operation[] = [];
  for (let number = 0; number < size.operations; number++) {
    const at = int(0, OPERATIONS_WITHIN_MS);
    if (number < creates) {
      const account = int(0, size.accounts - 1);
      const wants = chance(SPLITS) ? "split" : pick(PROVIDERS);
      const isKeyed = wants === "split" || chance(0.7);
      const [isDoubled, leavesAfterMs] = [isKeyed && chance(0.25), isKeyed && chance(0.25) ? int(1, 50) : null];
      operations.push({ kind: "create", at, account, wants, isKeyed, isDoubled, leavesAfterMs });
    } else operations.push({ kind: chance(0.5) ? "cancel" : "read", at, of: int(0, creates - 1) });
  }
  const [calls, commits, writes] = [creates * CALLS, creates * COMMITS, creates * WRITES];
  const makers: (() => Fault)[] = [
    () => ({ kind: "kill", call: int(1, calls), when: pick(["before", "after"]), backAfterMs: int(100, 10_000) }),
    () => ({ kind: "kill", call: int(1, calls), when: pick(["before", "after"]), backAfterMs: int(100, 10_000) }),
    () => ({ kind: "stop", call: int(1, calls), node: int(0, size.nodes - 1), backAfterMs: int(100, 5_000) }),
    () => ({ kind: "statement", write: int(1, writes), errno: pick(ERRNOS) }),
    () => ({ kind: "statement", write: int(1, writes), errno: pick(ERRNOS) }),
    () => aCommit("all", commits),
    () => aCommit("acceptances", creates),
    () => ({
      kind: "away",
      call: int(1, calls),
      ms: int(500, 15_000),
      node: chance(0.5) ? null : int(0, size.nodes - 1),
    }),
    // Twice as likely: it needs a job that it works on.
    () => ({ kind: "freeze", call: int(1, calls), node: int(0, size.nodes - 1), ms: int(3_000, 14_000) }),
    () => ({ kind: "freeze", call: int(1, calls), node: int(0, size.nodes - 1), ms: int(3_000, 14_000) }),
    () => ({
      kind: "stall",
      at: pick(STALLED_CALLS),
      nth: int(1, Math.ceil(creates * STALLS)),
      when: pick(["before", "after"]),
      ms: int(STALL_MS.least, STALL_MS.most),
      isRefused: chance(0.5),
    }),
    () => ({ kind: "clock", call: int(0, calls), node: int(0, size.nodes - 1), offsetMs: int(-4_000, 4_000) }),
    () => ({ kind: "queue", share: random.fraction(), how: pick(["lost", "doubled", "late"]) }),
    () => ({ kind: "provider", of: int(0, creates - 1), script: aScript() }),
    () => ({ kind: "provider", of: int(0, creates - 1), script: aScript() }),
    () => ({ kind: "provider", of: int(0, creates - 1), script: aScript() }),
    () => ({
      kind: "receiver",
      endpoint: int(0, size.accounts - 1),
      replies: Array.from({ length: int(1, 4) }, () => pick(RECEIVER_REPLIES)),
    }),
  ];
  const aCommit = (of: "acceptances" | "all", most: number): Fault => ({
    kind: "commit",
    commit: int(1, most),
    of,
    isCommitted: chance(0.6),
    awayMs: chance(0.5) ? 0 : int(1, 15_000),
  });
  const aScript = (): Script => ({
    submissions: Array.from({ length: int(0, 2) }, () => pick(SUBMISSIONS)),
    render: chance(0.4) ? pick(RENDERS) : null,
    callback: chance(0.5) ? pick(CALLBACKS) : null,
    renderMs: int(0, 8_000),
  });
  const faults = Array.from({ length: size.faults }, () => pick(makers)());
  return { seed, operations: new Map(operations.entries()), faults: new Map(faults.entries()) };
}

const ERRNOS = [1213, 1205, 1062] as const;

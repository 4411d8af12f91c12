import { SeededRandom } from "../chaos/seeded-random.js";
import type { Sandbox } from "../process.js";
import { type CrashPlan, type Fault, FAULTS } from "./boundary.js";
import { type Chain, runChain } from "./chain.js";
import { type CrashCase, livesOf, stackName, stackNamed } from "./cases.js";
import { isOfStop } from "./failing-process.js";
import type { Stack } from "./installation.js";
import { portCalls } from "./points.js";
import { UNREACHED } from "./unreached.js";

export interface CaseResult extends CrashCase {
  readonly isReached: boolean;
  /** Of this case alone. */
  readonly violations: readonly string[];
}

/** How a process without faults comes to a point. */
export interface PointUse {
  /** In its first round of requests. */
  readonly times: number;
  /** And not again in the next one. */
  readonly isOnce: boolean;
}

export interface RunOptions {
  /** Chains at once. */
  readonly lanes: number;
  onResult(result: CaseResult): void;
  /** What is wrong after a chain, before its cases are run alone. */
  onChain(chain: Chain, violations: readonly string[], log: string): void;
}

/** Later ones are left to chance: how often a point is reached differs from run to run. */
const OCCURRENCE_MAX = 3;
const TRIES_MAX = 4;
const CHAIN_MAX = 30;

/** The points of the ports, before and after each call that a run comes to. */
export function allPoints(): string[] {
  return portCalls()
    .filter((call) => !UNREACHED.has(call))
    .flatMap((call) => [`${call}:before`, `${call}:after`]);
}

/** A file has no socket. */
export function faultsOn({ engine }: Stack): readonly Fault[] {
  return engine === "sqlite" ? FAULTS.filter((fault) => fault !== "drop") : FAULTS;
}

/** Every point with every fault on these stacks, in an order that the seed decides. */
export function casesOf(stacks: readonly Stack[], faults: readonly Fault[], seed: number): CrashCase[] {
  const random = new SeededRandom(seed);
  const points = allPoints();
  const cases = stacks.flatMap((stack) =>
    faultsOn(stack)
      .filter((fault) => faults.includes(fault))
      .flatMap((fault) => points.map((point) => ({ stack, fault, point }))),
  );
  return random.shuffled(cases).map(({ stack, ...plan }) => ({
    stack,
    plan: { ...plan, occurrence: Math.ceil(random.between(0, 1) ** 2 * OCCURRENCE_MAX) },
  }));
}

/** What a process without faults comes to. @throws {Error} with what is wrong after it */
export async function measureUse(sandbox: Sandbox, stack: Stack): Promise<Map<string, PointUse>> {
  const { counts, violations } = await runChain(sandbox, { stack, lives: [[]] });
  if (violations.length > 0) throw new Error(`Without a fault: ${violations.join("; ")}`);
  const [first = {}, second = {}] = counts.slice(-2);
  return new Map(
    Object.entries(second).map(([point, times]) => {
      const before = first[point] ?? 0;
      return [point, { times: before, isOnce: before === times && !isOfStop(point) }];
    }),
  );
}

/** Cases as chains of processes, each on one stack, and the stacks in turn. */
export function chainsOf(cases: readonly CrashCase[], use: ReadonlyMap<string, PointUse>): Chain[] {
  const chains: { readonly chain: Chain; readonly start: number }[] = [];
  for (const name of new Set(cases.map(({ stack }) => stackName(stack)))) {
    const own = cases.filter(({ stack }) => stackName(stack) === name).map(({ plan }) => planFor(plan, use));
    for (let start = 0; start < own.length; start += CHAIN_MAX) {
      const lives = livesOf(own.slice(start, start + CHAIN_MAX), use);
      chains.push({ chain: { stack: stackNamed(name), lives }, start });
    }
  }
  return chains.sort((one, other) => one.start - other.start).map(({ chain }) => chain);
}

function planFor(plan: CrashPlan, use: ReadonlyMap<string, PointUse>): CrashPlan {
  const times = use.get(plan.point)?.times ?? 1;
  return { ...plan, occurrence: Math.max(1, Math.min(plan.occurrence, times)) };
}

/** Runs chains. What a chain does not come to is run alone, and so is all of a chain after which something is wrong. */
export async function runChains(
  sandbox: Sandbox,
  chains: Iterable<Chain>,
  { lanes, onResult, onChain }: RunOptions,
): Promise<CaseResult[]> {
  const results: CaseResult[] = [];
  const note = (result: CaseResult): void => {
    results.push(result);
    onResult(result);
  };
  const waiting = chains[Symbol.iterator]();
  const lane = async (): Promise<void> => {
    for (let next = waiting.next(); next.done !== true; next = waiting.next()) {
      const chain = next.value;
      const { stack, lives } = chain;
      const { reached, violations, log } = await runChain(sandbox, chain);
      onChain(chain, violations, log);
      for (const plan of lives.flat()) {
        const isReached = reached.has(plan);
        const isClear = isReached && violations.length === 0;
        note(isClear ? { stack, plan, isReached, violations: [] } : await runAlone(sandbox, stack, plan, isReached));
      }
    }
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  return results;
}

/** Again where its point was not reached, from then on at the first time. */
async function runAlone(sandbox: Sandbox, stack: Stack, plan: CrashPlan, wasReached: boolean): Promise<CaseResult> {
  let own = wasReached ? plan : { ...plan, occurrence: 1 };
  for (let tries = 1; ; tries++) {
    const { reached, violations } = await runChain(sandbox, { stack, lives: [[own]] });
    const isReached = reached.size > 0;
    if (isReached || violations.length > 0 || tries === TRIES_MAX)
      return { stack, plan: own, isReached: isReached || wasReached, violations };
    own = { ...plan, occurrence: 1 };
  }
}

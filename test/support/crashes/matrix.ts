import { SeededRandom } from "../chaos/seeded-random.js";
import type { Sandbox } from "../process.js";
import { type CrashPlan, type Fault, FAULTS } from "./boundary.js";
import { portCalls } from "./points.js";
import { type CrashResult, runCrash, type Stack } from "./run.js";
import { UNREACHED } from "./unreached.js";

export const STACKS: readonly Stack[] = [
  { engine: "sqlite", withBroker: false },
  { engine: "sqlite", withBroker: true },
  { engine: "mysql", withBroker: false },
  { engine: "mysql", withBroker: true },
];

/** A run of the matrix. */
export interface CrashCase {
  readonly stack: Stack;
  readonly plan: CrashPlan;
}

export interface CaseResult extends CrashCase {
  readonly isReached: boolean;
  readonly violations: readonly string[];
  /** Of the process that failed. */
  readonly log: string;
}

/** Later ones are left to chance: how often a point is reached differs from run to run. */
const OCCURRENCE_MAX = 3;
const STARTS_MAX = 3;

/** The points of the ports, before and after each call that a run comes to. */
export function allPoints(): string[] {
  return portCalls()
    .filter((call) => !UNREACHED.has(call))
    .flatMap((call) => [`${call}:before`, `${call}:after`]);
}

/** A file has no socket. */
export function faultsOn({ engine }: Stack): readonly Fault[] {
  return engine === "mysql" ? FAULTS : FAULTS.filter((fault) => fault !== "drop");
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

/** Runs cases, `lanes` at once. @param onResult called with each as it ends */
export async function runCases(
  sandbox: Sandbox,
  cases: Iterable<CrashCase>,
  { lanes, onResult }: { readonly lanes: number; onResult(result: CaseResult): void },
): Promise<CaseResult[]> {
  const results: CaseResult[] = [];
  const waiting = cases[Symbol.iterator]();
  const lane = async (): Promise<void> => {
    for (let next = waiting.next(); next.done !== true; next = waiting.next()) {
      const { stack, plan } = next.value;
      const result = await runOne(sandbox, stack, plan);
      const { isReached, violations, log } = result;
      const ended = { stack, plan, isReached, violations, log };
      results.push(ended);
      onResult(ended);
    }
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  return results;
}

/** Again where the process could not start, and from the first time on where the point is not reached so often. */
async function runOne(sandbox: Sandbox, stack: Stack, plan: CrashPlan): Promise<CrashResult> {
  let result = await runCrash(sandbox, stack, plan);
  for (let starts = 1; !result.isStarted && starts < STARTS_MAX; starts++)
    result = await runCrash(sandbox, stack, plan);
  if (result.isReached || result.violations.length > 0 || plan.occurrence === 1) return result;
  return runOne(sandbox, stack, { ...plan, occurrence: 1 });
}

/** `mysql+broker kill jobs.updateJobs:after 2`: as `FERMATA_TEST_CRASH_CASE` names it. */
export function nameOf({ stack, plan }: CrashCase): string {
  return `${stackName(stack)} ${plan.fault} ${plan.point} ${plan.occurrence}`;
}

/** @returns the case of a name as {@link nameOf} gives it */
export function caseNamed(name: string): CrashCase {
  const [stackPart, fault, point, occurrence] = name.split(" ");
  const stack = STACKS.find((one) => stackName(one) === stackPart);
  const known = FAULTS.find((one) => one === fault);
  if (stack === undefined || known === undefined || point === undefined) throw new Error(`No case is called ${name}.`);
  return { stack, plan: { point, fault: known, occurrence: Number(occurrence ?? 1) } };
}

export function stackName({ engine, withBroker }: Stack): string {
  return withBroker ? `${engine}+broker` : engine;
}

/** The results as a table of Markdown. */
export function tableOf(results: readonly CaseResult[]): string {
  const rows = STACKS.flatMap((stack) =>
    FAULTS.map((fault) => {
      const own = results.filter((one) => stackName(one.stack) === stackName(stack) && one.plan.fault === fault);
      const points = new Set(own.map(({ plan }) => plan.point)).size;
      const reached = own.filter(({ isReached }) => isReached).length;
      const violated = own.filter(({ violations }) => violations.length > 0).length;
      return { name: `| ${stackName(stack)} | ${fault} |`, points, reached, violated };
    }),
  );
  const lines = rows
    .filter(({ points }) => points > 0)
    .map(({ name, points, reached, violated }) => `${name} ${points} | ${reached} | ${violated} |`);
  return ["| Stack | Fault | Points | Reached | Violations |", "|---|---|---|---|---|", ...lines, ""].join("\n");
}

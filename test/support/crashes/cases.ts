import { type CrashPlan, FAULTS } from "./boundary.js";
import type { Chain, Life } from "./chain.js";
import { isOfStop } from "./failing-process.js";
import type { Stack } from "./installation.js";

export const STACKS: readonly Stack[] = (["sqlite", "mysql", "mysql9"] as const).flatMap((engine) => [
  { engine, withBroker: false },
  { engine, withBroker: true },
]);

/** A point and a fault on a stack. */
export interface CrashCase {
  readonly stack: Stack;
  readonly plan: CrashPlan;
}

const LIFE_MAX = 6;

export function stackName({ engine, withBroker }: Stack): string {
  return withBroker ? `${engine}+broker` : engine;
}

/** @throws {Error} there is no such stack */
export function stackNamed(name: string): Stack {
  const stack = STACKS.find((one) => stackName(one) === name);
  if (stack === undefined) throw new Error(`No stack is called ${name}.`);
  return stack;
}

/**
 * Processes that have these points between them. Only the first point of a process can be one that it comes to once, as
 * it starts, and only its last one can be one of its stop, or `kill`.
 */
export function livesOf(plans: readonly CrashPlan[], use: ReadonlyMap<string, { readonly isOnce: boolean }>): Life[] {
  const isFirst = ({ point }: CrashPlan): boolean => use.get(point)?.isOnce === true;
  const isLast = ({ point, fault }: CrashPlan): boolean => fault === "kill" || isOfStop(point);
  const first = plans.filter((plan) => isFirst(plan));
  const last = plans.filter((plan) => !isFirst(plan) && isLast(plan));
  const others = plans.filter((plan) => !isFirst(plan) && !isLast(plan));
  const ends = first.filter(isLast).map((plan) => [plan]);
  const begins = first.filter((plan) => !isLast(plan));
  const count = Math.max(begins.length, last.length, Math.ceil(others.length / (LIFE_MAX - 2)));
  const lives = Array.from({ length: count }, (_, index) => [
    ...begins.slice(index, index + 1),
    ...others.filter((_plan, number) => number % count === index),
    ...last.slice(index, index + 1),
  ]);
  return [...lives.flatMap((life, index) => [life, ...ends.slice(index, index + 1)]), ...ends.slice(lives.length)];
}

/** `mysql+broker kill jobs.updateJobs:after 2`. */
export function nameOf({ stack, plan }: CrashCase): string {
  return `${stackName(stack)} ${nameOfPlan(plan)}`;
}

/** `mysql drop jobs.updateJobs:after 2, kill queue.notify:before 1; stall audio.put:after 1`: processes of a chain. */
export function nameOfChain({ stack, lives }: Chain): string {
  return `${stackName(stack)} ${lives.map((life) => life.map(nameOfPlan).join(", ")).join("; ")}`;
}

function nameOfPlan({ fault, point, occurrence }: CrashPlan): string {
  return `${fault} ${point} ${occurrence}`;
}

/** @returns the chain of a name as {@link nameOfChain} or {@link nameOf} gives it */
export function chainNamed(name: string): Chain {
  const [stack = "", ...words] = name.split(" ");
  const lives = words
    .join(" ")
    .split("; ")
    .map((life) => life.split(", ").map(planNamed));
  return { stack: stackNamed(stack), lives };
}

function planNamed(name: string): CrashPlan {
  const [fault, point, occurrence = "1"] = name.split(" ");
  const known = FAULTS.find((one) => one === fault);
  if (known === undefined || point === undefined) throw new Error(`No fault is called ${name}.`);
  return { point, fault: known, occurrence: Number(occurrence) };
}

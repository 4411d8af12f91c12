import type { Plan } from "./plan.js";

/** Parts of a plan by their names: `o3` is an operation, `f7` a fault. */
export type Parts = readonly string[];

export function partsOf({ operations, faults }: Plan): Parts {
  return [...[...operations.keys()].map((number) => `o${number}`), ...[...faults.keys()].map((number) => `f${number}`)];
}

/** The same plan with these parts alone. */
export function planWith({ seed, operations, faults }: Plan, parts: Parts): Plan {
  const kept = new Set(parts);
  return {
    seed,
    operations: new Map([...operations].filter(([number]) => kept.has(`o${number}`))),
    faults: new Map([...faults].filter(([number]) => kept.has(`f${number}`))),
  };
}

/** Leaves out parts, many at first and then single ones, as long as the plan still fails without them. */
export async function shrink(plan: Plan, fails: (plan: Plan) => Promise<boolean>): Promise<Plan> {
  let parts = partsOf(plan);
  for (let size = Math.ceil(parts.length / 2); ;) {
    let isSmaller = false;
    for (let from = 0; from < parts.length;) {
      const others = parts.filter((_, index) => index < from || index >= from + size);
      if (await fails(planWith(plan, others))) [parts, isSmaller] = [others, true];
      else from += size;
    }
    if (size === 1 && !isSmaller) return planWith(plan, parts);
    size = Math.max(1, Math.floor(size / 2));
  }
}

/** The violation without ids and numbers: a smaller plan fails in the same way when this is the same. */
export function kindOf(violation: string | null): string {
  return (
    (violation ?? "")
      .split("\n")[0]
      ?.replace(/\b\w+_[0-9a-z]{26}\b|\d+/g, "…")
      .slice(0, 60) ?? ""
  );
}

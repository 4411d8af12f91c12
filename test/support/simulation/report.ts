import type { Image } from "./image.js";
import { planOf } from "./plan.js";
import { kindOf, partsOf, planWith, shrink } from "./shrink.js";
import { type Run, type RunOptions, simulate } from "./simulation.js";

/** Lines of the history that a report shows. */
const LINES = 60;

/** Runs a seed again with as little as it fails with, and says how to see it. */
export async function reportOf(failed: Run, image: Image, options: RunOptions = {}): Promise<string> {
  const { seed, violation } = failed;
  const plan = await shrink(planOf(seed), async (smaller) => {
    const run = await simulate(smaller, image, options);
    return run.violation !== null && kindOf(run.violation) === kindOf(violation);
  });
  const run = await simulate(plan, image, { ...options, keepsHistory: true });
  const parts = partsOf(plan);
  return [
    `seed ${seed}: ${violation}`,
    `With ${parts.length} of its ${partsOf(planOf(seed)).length} parts: ${run.violation}`,
    ...[...plan.operations].map(([number, operation]) => `  o${number} ${JSON.stringify(operation)}`),
    ...[...plan.faults].map(([number, fault]) => `  f${number} ${JSON.stringify(fault)}`),
    ...run.history.filter((line) => line.includes(" ms: ")).slice(-LINES),
    `Run it again: npm run simulate -- --seed ${seed} --only ${parts.join(",")}`,
  ].join("\n");
}

/** One run of a seed, with these parts alone where some are named. */
export function runSeed(seed: number, image: Image, only: readonly string[] | null, options: RunOptions): Promise<Run> {
  const plan = planOf(seed);
  return simulate(only === null ? plan : planWith(plan, only), image, options);
}

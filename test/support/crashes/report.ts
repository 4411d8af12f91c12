import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { FAULTS } from "./boundary.js";
import { STACKS, stackName } from "./cases.js";
import type { CaseResult } from "./matrix.js";

/** Results that outlive the process: a line of JSON each. */
export class ResultFile {
  /** @param path null: nothing is kept */
  constructor(private readonly path: string | null) {}

  /** The latest result of each case. */
  read(): CaseResult[] {
    if (this.path === null || !existsSync(this.path)) return [];
    const lines = readFileSync(this.path, "utf8").split("\n");
    const results = lines.filter((line) => line !== "").map((line) => JSON.parse(line) as CaseResult);
    return [...new Map(results.map((result) => [keyOf(result), result])).values()];
  }

  note(result: CaseResult): void {
    if (this.path !== null) appendFileSync(this.path, `${JSON.stringify(result)}\n`);
  }
}

/** A point with a fault on a stack, however often the process came to it. */
export function keyOf({ stack, plan }: Pick<CaseResult, "stack" | "plan">): string {
  return `${stackName(stack)} ${plan.fault} ${plan.point}`;
}

/** The results as a table of Markdown: the points that were reached with each fault. */
export function tableOf(results: readonly CaseResult[], points: number): string {
  const rows = STACKS.map(stackName).flatMap((stack) => {
    const own = results.filter((result) => stackName(result.stack) === stack);
    if (own.length === 0) return [];
    const cells = FAULTS.map((fault) => {
      const reached = own.filter(({ plan, isReached }) => plan.fault === fault && isReached);
      if (fault === "drop" && stack.startsWith("sqlite")) return "–";
      return `${new Set(reached.map(({ plan }) => plan.point)).size} of ${points}`;
    });
    const violated = own.filter(({ violations }) => violations.length > 0).length;
    return [`| ${[stack, ...cells, violated].join(" | ")} |`];
  });
  const head = `| Stack | ${FAULTS.map((fault) => `\`${fault}\``).join(" | ")} | Violations |`;
  return [head, `|${"---|".repeat(FAULTS.length + 2)}`, ...rows, ""].join("\n");
}

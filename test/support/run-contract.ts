import type { AdapterDefinition } from "../../core/ports/adapter.js";
import { adapterContract, type AdapterPlace } from "../contract/adapter.contract.js";

/** How long one test may take, in milliseconds. */
const TEST_MAX_MS = 10_000;

/** What a contract suite found. */
export interface ContractReport {
  readonly passed: number;
  /** `message` is that of the error, in one line. */
  readonly failures: readonly { readonly title: string; readonly message: string }[];
}

/**
 * Runs the contract suite of an adapter to its end, in this process and outside of a run of mocha's own. It writes
 * nothing.
 *
 * @param name of the adapter, as the titles of failures have it
 */
export async function runAdapterContract(
  name: string,
  definition: AdapterDefinition,
  place: AdapterPlace,
): Promise<ContractReport> {
  // Suites that run under mocha already do not need it here.
  const { default: Mocha } = await import("mocha");
  const mocha = new Mocha({ timeout: TEST_MAX_MS, reporter: Mocha.reporters.Base });
  // Defines `describe` and `it` of this run for the suites, which take them from the global scope.
  mocha.suite.emit("pre-require", globalThis, name, mocha);
  adapterContract(name, definition, place);
  let passed = 0;
  const failures: { title: string; message: string }[] = [];
  await new Promise<void>((resolve) => {
    const runner = mocha.run(() => resolve());
    runner.on("pass", () => passed++);
    runner.on("fail", (test, error: unknown) => failures.push({ title: test.fullTitle(), message: firstLine(error) }));
  });
  return { passed, failures };
}

function firstLine(error: unknown): string {
  const [line = ""] = (error instanceof Error ? error.message : String(error)).split("\n");
  return line;
}

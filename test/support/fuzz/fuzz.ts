import fc from "fast-check";

/** `FERMATA_TEST_FUZZ=long` generates many more inputs; `npm run test:fuzz` sets it. */
export const IS_LONG = process.env["FERMATA_TEST_FUZZ"] === "long";

/** The short form tries the same inputs every time, so that `npm test` has the same result for the same code. */
const SHORT_SEED = 20_261_125;
const GIVEN_SEED = process.env["FERMATA_TEST_FUZZ_SEED"];
const GIVEN_PATH = process.env["FERMATA_TEST_FUZZ_PATH"];

/** Inputs of a test in `npm test`, and in `npm run test:fuzz`. */
export interface FuzzRuns {
  readonly short: number;
  readonly long: number;
}

/**
 * A test with generated inputs: `holds` gets each and throws for one that breaks the promise of the title. That one is
 * reduced to a small one, and reported with the command that tries it again.
 *
 * @param inputs called when the test runs, after its hooks
 */
export function fuzzed<T>(
  title: string,
  runs: FuzzRuns,
  inputs: () => fc.Arbitrary<T>,
  holds: (input: T) => Promise<void> | void,
): void {
  it(title, async function () {
    const seed = GIVEN_SEED === undefined ? newSeed() : Number(GIVEN_SEED);
    const name = this.test?.fullTitle() ?? title;
    const details = await fc.check(
      fc.asyncProperty(inputs(), async (input) => {
        await holds(input);
      }),
      {
        numRuns: IS_LONG ? runs.long : runs.short,
        seed,
        ...(GIVEN_PATH === undefined ? {} : { path: GIVEN_PATH, endOnFailure: true }),
      },
    );
    if (IS_LONG) process.stdout.write(`fuzz ${name}: ${details.numRuns} inputs, seed ${seed}\n`);
    if (!details.failed) return;
    const error = new Error(reportOf(name, details));
    // The frames of the property's own assertion are the ones of use.
    if (details.errorInstance instanceof Error) error.stack = framesOf(error, details.errorInstance);
    throw error;
  });
}

function newSeed(): number {
  return IS_LONG ? Math.floor(Math.random() * 0x7fff_ffff) : SHORT_SEED;
}

function framesOf(error: Error, { stack = "" }: Error): string {
  const frames = stack.split("\n").filter((line) => line.startsWith("    at ") && !line.includes("node_modules"));
  return [`${error.name}: ${error.message}`, ...frames].join("\n");
}

const SHOWN_MAX = 3_000;

function reportOf<T>(name: string, details: fc.RunDetails<[input: T]>): string {
  const { seed, counterexamplePath, counterexample, errorInstance } = details;
  const path = counterexamplePath ?? "";
  const why = errorInstance instanceof Error ? errorInstance.message : String(errorInstance);
  return [
    why,
    `Input: ${fc.stringify(counterexample).slice(0, SHOWN_MAX)}`,
    `Again: ${commandOf(name, seed, path)}`,
    `If it needs the inputs before it, leave out FERMATA_TEST_FUZZ_PATH.`,
  ].join("\n");
}

/** The command that tries one input of a test again. */
export function commandOf(name: string, seed: number, path: string): string {
  const pattern = name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&").replaceAll("'", ".");
  return `FERMATA_TEST_FUZZ_SEED=${seed} FERMATA_TEST_FUZZ_PATH=${path} npm run test:fuzz -- --grep '${pattern}'`;
}

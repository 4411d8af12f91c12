import { readdir } from "node:fs/promises";
import { expect } from "chai";
import fc from "fast-check";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { MusicProviderHarness } from "../../contract/music-provider.contract.js";
import { completedIssues } from "../../contract/music-provider/assets.js";
import { type Operation, ProviderUnderTest } from "../../contract/music-provider/tested.js";
import { clampResult } from "../../../core/results/clamp-result.js";
import { fuzzed } from "../../support/fuzz/fuzz.js";
import { HARNESSES } from "../../support/fuzz/harnesses.js";
import { repositoryPath } from "../../support/repository.js";
import { spoiltCalls, spoiltFetch } from "../../support/fuzz/spoilt-fetch.js";

/** Work may run on for ever when a response is not what it should be: it is polled again, at the pace of the host. */
const POLLS_MAX = 8;
const { signal } = new AbortController();

/** Waits take no time. */
const CLOCK = { now: () => Date.now(), sleep: () => nextTurn() };

describe("A plugin whose provider sends spoilt responses", function () {
  this.timeout(900_000);

  it("is tried with every plugin that has a network", async () => {
    const folders = await readdir(repositoryPath("plugins"), { withFileTypes: true });
    const plugins = folders.filter(
      (entry) => entry.isDirectory() && !["sdk", "synth", "template"].includes(entry.name),
    );
    const tried = Object.values(HARNESSES).map(({ definition }) => definition.id);
    expect(plugins.map(({ name }) => name).filter((name) => !tried.includes(name))).to.deep.equal([]);
  });

  for (const [name, harness] of Object.entries<MusicProviderHarness>(HARNESSES)) {
    fuzzed(
      `ends every call with an outcome of the port: ${name}`,
      { short: 8, long: 400 },
      () => fc.record({ operation: fc.nat(2), spoilt: spoiltCalls }),
      async ({ operation, spoilt }) => {
        const tested = await ProviderUnderTest.open(harness, { clock: CLOCK, fetch: spoiltFetch(spoilt) });
        try {
          const operations = tested.operations();
          await work(tested, operations[operation % operations.length] as Operation);
        } finally {
          await tested.close();
        }
      },
    );
  }
});

/** Submits and polls. Whatever is thrown must be a failure of the port. */
async function work(tested: ProviderUnderTest, operation: Operation): Promise<void> {
  await operation.completes(tested.fake);
  try {
    let outcome: { readonly state: string } = clampResult(
      await tested.provider.submit(operation.request(), { signal }),
    );
    let handle = handleOf(outcome);
    for (let polls = 0; outcome.state !== "completed" && polls < POLLS_MAX; polls++) {
      if (handle === null) throw new Error(`no handle in ${JSON.stringify(outcome)}`);
      outcome = clampResult(await tested.poll(handle));
      handle = handleOf(outcome) ?? handle;
    }
    if (outcome.state === "completed") expectWhole(outcome as Parameters<typeof completedIssues>[0], operation);
  } catch (error) {
    tested.failureIn(error);
  }
}

function handleOf(outcome: object) {
  return "handle" in outcome ? (outcome.handle as Parameters<ProviderUnderTest["poll"]>[0]) : null;
}

function expectWhole(completed: Parameters<typeof completedIssues>[0], { name }: Operation): void {
  const issues = completedIssues(completed, name);
  if (issues.length > 0) throw new Error(issues.join("\n"));
}

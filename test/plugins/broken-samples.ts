import { expect } from "chai";
import Mocha from "mocha";
import type {
  Accepted,
  CallContext,
  Completed,
  MusicProvider,
  ProviderHost,
  SubmitRequest,
} from "../../core/ports/music-provider.js";
import { type MusicProviderHarness, musicProviderContract } from "../contract/music-provider.contract.js";
import { nightingaleHarness } from "./sample-harness.js";
import { nightingale, NightingaleProvider } from "./sample-provider.js";

/** A plugin, or a harness, with something wrong: which tests of the suite are run, and what they must say. */
export type Broken = readonly [what: string, harness: MusicProviderHarness, grep: string, says: RegExp];

/** The suite must fail each of them. */
export function describeBroken(title: string, all: readonly Broken[]): void {
  describe(title, () => {
    for (const [what, harness, grep, says] of all) {
      it(`finds out a plugin that ${what}`, async () => {
        expect((await failuresOf(harness, grep)).join("\n")).to.match(says);
      });
    }
  });
}

/** What the suite says of a harness: a line for each test that fails. */
export async function failuresOf(harness: MusicProviderHarness, grep: string): Promise<string[]> {
  const mocha = new Mocha({ timeout: 1_000, grep, reporter: class {} as never });
  const { describe, it, before, beforeEach, after, afterEach } = globalThis;
  // The words of mocha belong to the outer run: the inner one has them while its tests are declared.
  mocha.suite.emit("pre-require", globalThis, null, mocha);
  musicProviderContract("broken", harness);
  Object.assign(globalThis, { describe, it, before, beforeEach, after, afterEach });
  const lines: string[] = [];
  let count = 0;
  await new Promise<void>((resolve) => {
    const runner = mocha.run(() => {
      mocha.dispose();
      resolve();
    });
    runner.on("test", () => (count += 1));
    runner.on("fail", (test, error: Error) => lines.push(`${test.title}: ${error.message}`));
  });
  expect(count, `tests of the suite named ${grep}`).to.be.greaterThan(0);
  return lines;
}

/** The sample with something wrong about it. */
export function broken(change: (host: ProviderHost) => MusicProvider): MusicProviderHarness {
  return { ...nightingaleHarness, definition: { ...nightingale, create: change } };
}

/** The sample with another `submit`. */
export class Changed extends NightingaleProvider {
  override async submit(request: SubmitRequest, context: CallContext): Promise<Completed | Accepted> {
    return this.changed(() => super.submit(request, context), request, context);
  }

  constructor(
    host: ProviderHost,
    private readonly changed: (
      original: () => Promise<Completed | Accepted>,
      request: SubmitRequest,
      context: CallContext,
    ) => Promise<Completed | Accepted>,
  ) {
    super(host);
  }
}

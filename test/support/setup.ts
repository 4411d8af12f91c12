/**
 * Root hooks of every run. Mocha 12 ignores unhandled rejections, and its warnings are easily missed: here one fails
 * the run and names the test before it.
 */
import { setImmediate as nextTurn } from "node:timers/promises";
import sinon from "sinon";

const endings: (() => Promise<void>)[] = [];

/**
 * Calls `end` after the last test of this process, the latest one first: a server ends after its databases. A process
 * without these hooks leaves it undone.
 */
export function afterAllTests(end: () => Promise<void>): void {
  endings.push(end);
}

let current = "before the first test";
const lost: string[] = [];

process.on("unhandledRejection", (reason) => {
  lost.push(`${current}: ${reason instanceof Error ? (reason.stack ?? reason.message) : String(reason)}`);
});

export const mochaHooks: Mocha.RootHookObject = {
  beforeEach(this: Mocha.Context) {
    current = this.currentTest?.fullTitle() ?? current;
  },
  afterEach() {
    sinon.restore();
  },
  async afterAll() {
    for (const end of endings.splice(0).reverse()) await end();
    await nextTurn();
    if (lost.length > 0) throw new Error(`Unhandled rejections:\n${lost.join("\n")}`);
  },
};

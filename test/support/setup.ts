/**
 * Root hooks of every run. Mocha 12 ignores unhandled rejections, and its warnings are easily missed: here one fails
 * the run and names the test before it.
 */
import { setImmediate as nextTurn } from "node:timers/promises";
import sinon from "sinon";

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
    await nextTurn();
    if (lost.length > 0) throw new Error(`Unhandled rejections:\n${lost.join("\n")}`);
  },
};

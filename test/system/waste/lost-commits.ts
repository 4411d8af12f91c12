import { expect } from "chai";
import { sharedServer } from "../../support/shared-mysql.js";
import { openMysqlRelay } from "../../support/mysql-relay.js";
import { HTTP_MODEL, httpModelPlugin } from "../../support/vendor/index.js";
import { expectAllDelivered, inInstallation, prompts, type Scenario } from "./scenario.js";
import type { Timing } from "./timing.js";

const JOBS = 40;
const SLOTS = 8;

/** A transaction that completes a job writes its tracks. */
const COMPLETES = /INSERT INTO fermata_tracks /;
/** A retry of an ending locks the balance, as the first run did. */
const ENDS = /FROM fermata_balances .*FOR UPDATE/;

export const lostCommits: Scenario = {
  name: "lost COMMIT replies",
  promise: "delivers 40 of 40 while the database carries out commits whose replies are lost",
  async run(sandbox, timing) {
    const options = {
      renders: { slots: SLOTS, renderMs: timing.between(100, 50, 400) },
      plugins: (url: string) => ({
        "http-model": httpModelPlugin(url, { shape: "accepts", concurrency: SLOTS, callbacks: true }),
      }),
      storage: "mysql",
    } as const;
    await inInstallation(sandbox, options, async (installation) => {
      const relay = await openMysqlRelay(await sharedServer());
      try {
        await installation.serve("start", {
          FERMATA_STORAGE__URL: relay.through(installation.databaseUrl),
          // Renewed three times a second: a renewal notices the end of a job before its worker does.
          FERMATA_JOBS__LEASE_SECONDS: "1",
        });
        const stop = relay.loseCommits(lossesOf(timing));
        const jobs = await installation.request(HTTP_MODEL, prompts(JOBS));
        await installation.ended(jobs);
        expect(stop(), "lost replies").to.be.above(0);
        await expectAllDelivered(this.name, installation, jobs);
      } finally {
        await sandbox.clear();
        await relay.tcp.close();
      }
    });
  },
};

/**
 * Loses the replies of the first completion and of others, then for a while of all transactions that end jobs; and some
 * more.
 */
function lossesOf(timing: Timing): (transaction: string) => boolean {
  const ofCompletions = timing.between(0.4, 0.1, 0.6);
  const ofOthers = timing.between(0.02, 0, 0.1);
  let losesUntil: number | null = null;
  return (transaction) => {
    const now = performance.now();
    if (COMPLETES.test(transaction) && (losesUntil === null || timing.chance(ofCompletions))) {
      losesUntil = now + timing.between(500, 0, 800);
    }
    return (ENDS.test(transaction) && now < (losesUntil ?? 0)) || timing.chance(ofOthers);
  };
}

import { setTimeout as sleep } from "node:timers/promises";
import { sharedServer } from "../../support/shared-mysql.js";
import { type MysqlRelay, openMysqlRelay } from "../../support/mysql-relay.js";
import { HTTP_MODEL, httpModelPlugin } from "../../support/vendor/index.js";
import type { Installation } from "./installation.js";
import { expectAllDelivered, inInstallation, prompts, type Scenario } from "./scenario.js";

const LEASE_MS = 1_500;
const CALLS = 8;
/** Of each of the two workers: one has free slots for the running jobs of the other. */
const CONCURRENCY = 2 * CALLS;

export const databaseOutage: Scenario = {
  name: "database outage",
  promise: "delivers what two workers have under way at a synchronous vendor while the database is away for a lease",
  async run(sandbox, timing) {
    const options = {
      renders: { slots: CALLS, renderMs: 100 },
      plugins: (url: string) => ({
        "http-model": httpModelPlugin(url, { shape: "returns", concurrency: CONCURRENCY }),
      }),
      jobs: { unknownGraceSeconds: 30 },
      storage: "mysql",
    } as const;
    await inInstallation(sandbox, options, async (installation) => {
      const { vendor } = installation;
      const server = await sharedServer();
      const relays = [await openMysqlRelay(server), await openMysqlRelay(server)] as const;
      const [first, second] = relays;
      try {
        await Promise.all([installation.serve("serve"), installation.work(behind(first, installation))]);
        vendor.hold();
        const jobs = await installation.request(HTTP_MODEL, prompts(CALLS / 2));
        await vendor.bought(jobs.length);
        await installation.work(behind(second, installation));
        jobs.push(...(await installation.request(HTTP_MODEL, prompts(CALLS / 2, "more"))));
        await vendor.bought(CALLS);

        // The second worker reconnects when the leases of the first, which has running calls, have ended.
        const awayMs = timing.between(2.2, 1.2, 5) * LEASE_MS;
        const laterMs = timing.between(0.3, 0, 0.4) * LEASE_MS;
        await Promise.all([first.awayFor(awayMs + laterMs), second.awayFor(awayMs)]);
        await sleep(timing.between(1, 0, 3) * LEASE_MS);
        vendor.release();
        await expectAllDelivered(this.name, installation, jobs);
      } finally {
        await sandbox.clear();
        await Promise.all(relays.map(({ tcp }) => tcp.close()));
      }
    });
  },
};

/** Settings of a worker that reaches the database through this relay. */
function behind(relay: MysqlRelay, { databaseUrl }: Installation): Readonly<Record<string, string>> {
  return { FERMATA_STORAGE__URL: relay.through(databaseUrl), FERMATA_JOBS__LEASE_SECONDS: String(LEASE_MS / 1_000) };
}

import { setTimeout as sleep } from "node:timers/promises";
import { sharedServer } from "../../support/shared-mysql.js";
import { openMysqlRelay } from "../../support/mysql-relay.js";
import { query } from "../../support/mysql-server.js";
import { eventually } from "../../support/process.js";
import { HTTP_MODEL, httpModelPlugin, type VendorCall } from "../../support/vendor/index.js";
import { json } from "../../support/provider-kit/index.js";
import { expectAllDelivered, inInstallation, prompts, type Scenario } from "./scenario.js";

const LEASE = { FERMATA_JOBS__LEASE_SECONDS: "1" };
const JOBS = 2;

export const lateAcceptance: Scenario = {
  name: "late acceptance",
  promise: "delivers work whose acceptance arrives at a worker that has lost the lease meanwhile",
  async run(sandbox, timing) {
    const options = {
      renders: { slots: JOBS, renderMs: timing.between(300, 50, 2_000) },
      plugins: (url: string) => ({ "http-model": httpModelPlugin(url, { shape: "accepts", concurrency: JOBS }) }),
      jobs: { unknownGraceSeconds: 5 },
      storage: "mysql",
    } as const;
    await inInstallation(sandbox, options, async (installation) => {
      const { vendor, databaseUrl } = installation;
      let replyNow = (): void => undefined;
      const after = new Promise<void>((resolve) => {
        replyNow = resolve;
      });
      vendor.script = ({ kind, purchase }: VendorCall) =>
        kind === "create" ? { ...json({ id: purchase.id, status: "queued" }, { status: 202 }), after } : null;
      const relay = await openMysqlRelay(await sharedServer());
      try {
        await installation.serve("serve", LEASE);
        await installation.work({ ...LEASE, FERMATA_STORAGE__URL: relay.through(databaseUrl) });
        const jobs = await installation.request(HTTP_MODEL, prompts(JOBS));
        await vendor.bought(JOBS);
        await installation.work(LEASE);
        await relay.tcp.shut();
        await eventually("the other worker has the jobs", async () => {
          const sql = "SELECT COUNT(*) AS taken FROM fermata_jobs WHERE fence > 1";
          const [row] = await query<{ taken: number }>(databaseUrl, sql);
          return row?.taken === JOBS;
        });
        replyNow();
        await sleep(timing.between(300, 0, 2_000));
        await relay.tcp.reopen();
        await expectAllDelivered(this.name, installation, jobs);
      } finally {
        await sandbox.clear();
        await relay.tcp.close();
      }
    });
  },
};

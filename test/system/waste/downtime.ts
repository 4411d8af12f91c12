import { setTimeout as sleep } from "node:timers/promises";
import { eventually } from "../../support/process.js";
import { HTTP_MODEL, httpModelPlugin, REPLICATE_MODEL, replicatePlugin } from "../../support/vendor/index.js";
import { expectAllDelivered, inInstallation, prompts, type Scenario } from "./scenario.js";

/** Jobs of each provider. */
const JOBS = 3;

export const downtime: Scenario = {
  name: "downtime",
  promise: "delivers what the vendor finished while all workers were down for longer than the deadlines",
  async run(sandbox, timing) {
    const deadlineMs = timing.between(4_000, 4_000, 6_000);
    const options = {
      renders: { slots: 2 * JOBS, renderMs: 100 },
      plugins: (url: string) => ({
        "http-model": httpModelPlugin(url, { shape: "accepts", concurrency: JOBS }),
        replicate: replicatePlugin(url),
      }),
      jobs: { queueDeadlineMinutes: deadlineMs / 60_000, renderDeadlineMinutes: deadlineMs / 60_000 },
      storage: timing.oneOf("sqlite", "mysql"),
    } as const;
    await inInstallation(sandbox, options, async (installation) => {
      const { vendor } = installation;
      const before = await installation.serve("start");
      vendor.callbacks.target = () => null;
      vendor.hold();
      const jobs = [
        ...(await installation.request(HTTP_MODEL, prompts(JOBS, "model"))),
        ...(await installation.request(REPLICATE_MODEL, prompts(JOBS, "prediction"))),
      ];
      // Work that was polled once has its handle in the storage.
      const arePolled = (): boolean => vendor.purchases.filter(({ calls }) => calls.poll > 0).length === jobs.length;
      await eventually("a poll of each", arePolled);
      const downFrom = performance.now();
      await (timing.oneOf("killed", "stopped") === "killed" ? before.kill() : before.stop());
      vendor.release();
      await sleep(downFrom + deadlineMs + timing.between(100, 0, 3_000) - performance.now());
      await installation.serve("start");
      await expectAllDelivered(this.name, installation, jobs);
    });
  },
};

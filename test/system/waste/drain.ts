import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "chai";
import { HTTP_MODEL, httpModelPlugin } from "../../support/vendor/index.js";
import { expectAllDelivered, inInstallation, prompts, type Scenario } from "./scenario.js";

const CALLS = 4;

export const drain: Scenario = {
  name: "drain",
  promise: "delivers the synchronous renders that SIGTERM finds under way, which cannot be repeated, and exits with 0",
  async run(sandbox, timing) {
    const options = {
      renders: { slots: CALLS, renderMs: 100 },
      plugins: (url: string) => ({ "http-model": httpModelPlugin(url, { shape: "returns", concurrency: CALLS }) }),
      jobs: { unknownGraceSeconds: 1 },
      storage: timing.oneOf("sqlite", "mysql"),
    } as const;
    await inInstallation(sandbox, options, async (installation) => {
      const { vendor } = installation;
      const stopping = await installation.serve("start");
      vendor.hold();
      const jobs = await installation.request(HTTP_MODEL, prompts(CALLS));
      await vendor.bought(CALLS);
      stopping.signal("SIGTERM");
      const finishing = sleep(timing.between(6_000, 0, 14_000)).then(() => vendor.release());
      const { code } = await stopping.exited;
      await finishing;
      await installation.serve("start");
      await expectAllDelivered(this.name, installation, jobs);
      expect(code, "exit code").to.equal(0);
    });
  },
};

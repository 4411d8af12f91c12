import { fault } from "../../support/provider-kit/index.js";
import { REPLICATE_MODEL, replicatePlugin } from "../../support/vendor/index.js";
import { expectAllDelivered, inInstallation, prompts, type Scenario } from "./scenario.js";

const JOBS = 2;

export const lostReply: Scenario = {
  name: "lost reply",
  promise: "delivers work whose acceptance was lost, when a signed callback says that it is completed",
  async run(sandbox, timing) {
    const options = {
      renders: { slots: JOBS, renderMs: timing.between(300, 0, 2_000) },
      plugins: (url: string) => ({ replicate: replicatePlugin(url) }),
      jobs: { unknownGraceSeconds: 30 },
      storage: timing.oneOf("sqlite", "mysql"),
    } as const;
    await inInstallation(sandbox, options, async (installation) => {
      installation.vendor.script = ({ kind }) => (kind === "create" ? fault("cut-reply") : null);
      await installation.serve("start");
      const jobs = await installation.request(REPLICATE_MODEL, prompts(JOBS));
      await expectAllDelivered(this.name, installation, jobs);
    });
  },
};

import { type FakeResponse, htmlPage, json } from "../../support/provider-kit/index.js";
import {
  HTTP_MODEL,
  httpModelPlugin,
  REPLICATE_MODEL,
  replicatePlugin,
  type VendorCall,
} from "../../support/vendor/index.js";
import { expectAllDelivered, inInstallation, type Scenario } from "./scenario.js";

/** The unexpected replies to a job's calls, by its prompt. */
const ODD_REPLIES: Readonly<Record<string, (call: VendorCall) => FakeResponse | null>> = {
  "a 404 to the first poll": ({ kind, purchase }) =>
    kind === "poll" && purchase.calls.poll === 1 ? json({ error: { message: "not yet" } }, { status: 404 }) : null,
  "a 404 to the first download": ({ kind, purchase }) =>
    kind === "download" && purchase.calls.download === 1 ? json({}, { status: 404 }) : null,
  "a link that is refused for good": ({ kind, link }) =>
    kind === "download" && link === 1 ? json({}, { status: 403 }) : null,
  "a page instead of the first download": ({ kind, purchase }) =>
    kind === "download" && purchase.calls.download === 1 ? htmlPage(200) : null,
};

export const oddReplies: Scenario = {
  name: "odd replies",
  promise: "delivers although one reply to a poll or a download is odd",
  async run(sandbox, timing) {
    const names = Object.keys(ODD_REPLIES);
    const options = {
      renders: { slots: 2 * names.length, renderMs: timing.between(100, 0, 1_500) },
      plugins: (url: string) => ({
        "http-model": httpModelPlugin(url, { shape: "accepts", concurrency: names.length }),
        replicate: replicatePlugin(url),
      }),
      storage: timing.oneOf("sqlite", "mysql"),
    } as const;
    await inInstallation(sandbox, options, async (installation) => {
      installation.vendor.script = (call) => ODD_REPLIES[call.purchase.prompt]?.(call) ?? null;
      await installation.serve("start");
      // A callback would contain a link as well; this scenario is about the links of polls.
      installation.vendor.callbacks.target = () => null;
      const jobs = [
        ...(await installation.request(HTTP_MODEL, names)),
        ...(await installation.request(REPLICATE_MODEL, names)),
      ];
      await expectAllDelivered(this.name, installation, jobs);
    });
  },
};

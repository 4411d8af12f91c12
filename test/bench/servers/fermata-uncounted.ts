/** The same as `fermata.ts`, without rate limits and without the request log. */
import type { RateDecision, RateLimiter, WindowRule } from "../../../core/ports/rate-limiter.js";
import { RecordRequests } from "../../../core/usage/record-requests.js";
import { openFermata } from "../installation.js";
import { serve } from "./child.js";

const unlimited = (_subject: string, rules: readonly WindowRule[]): Promise<RateDecision> =>
  Promise.resolve({
    allowed: true,
    windows: rules.map((rule) => ({ ...rule, remaining: rule.limit, resetSeconds: rule.windowSeconds })),
  });
const rateLimiter: RateLimiter = {
  consume: unlimited,
  peek: unlimited,
  giveBack: () => undefined,
  close: () => Promise.resolve(),
};
RecordRequests.prototype.add = () => undefined;

const [, , dataDir = ""] = process.argv;
const { app } = await openFermata(dataDir, { rateLimiter });
const { url } = await app.listen();
serve(url, () => app.stop());

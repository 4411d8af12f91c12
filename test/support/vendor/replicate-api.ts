import { KEY, SECRET, signed } from "../../plugins/replicate-support.js";
import { json } from "../provider-kit/index.js";
import { CREDIT_COST, type VendorDesk } from "./desk.js";
import type { Purchase } from "./purchases.js";

const STATUSES = {
  queued: "starting",
  rendering: "processing",
  finished: "succeeded",
  cancelled: "canceled",
  lost: "failed",
} as const;

/** One of the plugin's own models. */
export const REPLICATE_MODEL = "replicate/musicgen";

/** `plugins.replicate` for this vendor. */
export function replicatePlugin(vendorUrl: string, { splits = false, timeoutMs = 30_000 } = {}): object {
  const models = [{ id: REPLICATE_MODEL, creditCost: CREDIT_COST }];
  // A job whose worker was lost in a call waits until the longest possible call is over, an upload included.
  const times = { pollMs: 500, timeoutMs, uploadTimeoutMs: timeoutMs };
  return { enabled: true, apiKey: KEY, baseUrl: `${vendorUrl}/v1`, ...times, splits, models };
}

interface PredictionRequest {
  /** `prompt` of music; the URL of a track in `audio`, of which stems are made. */
  readonly input: { readonly prompt?: string; readonly audio?: string };
  readonly webhook?: string;
}

/** Adds the predictions API: work is polled, and reported by a signed callback. */
export function addReplicateApi({ fake, purchases, refusal, reply, callbacks, linkTo }: VendorDesk): void {
  const splits = new Set<Purchase>();
  const outputOf = (purchase: Purchase): unknown =>
    splits.has(purchase) ? { vocals: linkTo(purchase), other: linkTo(purchase) } : linkTo(purchase);
  const prediction = (purchase: Purchase): object => ({
    id: purchase.id,
    status: STATUSES[purchase.state],
    output: purchase.state === "finished" ? outputOf(purchase) : null,
    error: purchase.state === "lost" ? "The machine of this prediction was lost." : null,
    data_removed: false,
  });

  fake.on("POST", "/v1/predictions", (request) => {
    const { input, webhook } = request.json as PredictionRequest;
    const [, jobId = null] = /\/callbacks\/replicate\/(job_\w+)\//.exec(webhook ?? "") ?? [];
    const bought = { jobId, idempotencyKey: null, prompt: input.prompt ?? "" };
    const refused = refusal(bought);
    if (refused !== null) return refused;
    const purchase = purchases.accept(bought);
    if (input.audio !== undefined) splits.add(purchase);
    if (webhook !== undefined) {
      const report = (): ReturnType<typeof signed> => signed(JSON.stringify(prediction(purchase)), Date.now());
      void purchase.ended.then(() => callbacks.send(webhook, report));
    }
    return reply({ kind: "create", purchase }) ?? json(prediction(purchase), { status: 201 });
  });

  fake.on("GET", "/v1/predictions/:id", ({ params }) => {
    const purchase = purchases.find(params["id"]);
    if (purchase === undefined) return json({ detail: "There is no such prediction." }, { status: 404 });
    purchase.calls.poll += 1;
    return reply({ kind: "poll", purchase }) ?? json(prediction(purchase));
  });

  fake.on("POST", "/v1/predictions/:id/cancel", ({ params }) => {
    const purchase = purchases.find(params["id"]);
    if (purchase === undefined) return json({ detail: "There is no such prediction." }, { status: 404 });
    purchase.calls.cancel += 1;
    purchases.cancel(purchase);
    return reply({ kind: "cancel", purchase }) ?? json(prediction(purchase));
  });

  fake.on("GET", "/v1/webhooks/default/secret", json({ key: SECRET }));
  fake.on("GET", "/v1/account", json({ type: "organization", username: "acme" }));
}

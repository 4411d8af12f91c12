import { bytes, type FakeResponse, type FakeRequest, json } from "../provider-kit/index.js";
import { CREDIT_COST, type VendorDesk } from "./desk.js";
import type { Purchase, PurchaseRequest } from "./purchases.js";

const WORDS = {
  queued: "queued",
  rendering: "running",
  finished: "succeeded",
  cancelled: "cancelled",
  lost: "failed",
} as const;

/** The path that accepts work and is polled afterwards. */
const ACCEPTING_PATH = "/v1/generations";
/** The path that returns the file itself, once it is rendered. */
const RETURNING_PATH = "/v1/files";

export interface HttpModelOptions {
  /** `accepts`: asynchronous, the work is polled. `returns`: synchronous, the creating call returns the file. */
  readonly shape: "accepts" | "returns";
  /** Creating calls of one process at once. */
  readonly concurrency: number;
  readonly maxInFlight?: number;
  /** Of one call; by default as the plugin says. */
  readonly timeoutSeconds?: number;
  /** Whether the vendor knows repeated calls by their idempotency key. */
  readonly idempotent?: boolean;
  /** Whether the vendor reports finished work. */
  readonly callbacks?: boolean;
}

export const HTTP_MODEL = "http-model/song";

/** `plugins.http-model` for this vendor. */
export function httpModelPlugin(vendorUrl: string, { shape, callbacks = false, ...options }: HttpModelOptions): object {
  return {
    enabled: true,
    baseUrl: vendorUrl,
    submitPath: shape === "accepts" ? ACCEPTING_PATH : RETURNING_PATH,
    models: [
      { id: HTTP_MODEL, name: "Song", creditCost: CREDIT_COST, supportsLyrics: false, supportsInstrumental: true },
    ],
    pollSeconds: 1,
    callbacks,
    ...options,
  };
}

/** Adds the protocol of plugins/http-model/README.md, in both shapes. */
export function addHttpModelApi({ fake, purchases, refusal, reply, callbacks, linkTo }: VendorDesk): void {
  const requestIn = ({ json: body, headers }: FakeRequest): PurchaseRequest => {
    const { job_id, prompt } = body as Readonly<Record<string, string | undefined>>;
    return { jobId: job_id ?? null, idempotencyKey: headers["idempotency-key"] ?? null, prompt: prompt ?? "" };
  };
  const accept = (request: FakeRequest): Purchase => {
    const { callback_url } = request.json as Readonly<Record<string, string | undefined>>;
    const purchase = purchases.accept(requestIn(request));
    if (callback_url !== undefined) {
      const report = (): { body: string } => ({ body: JSON.stringify({ id: purchase.id }) });
      void purchase.ended.then(() => callbacks.send(callback_url, report));
    }
    return purchase;
  };

  fake.on("POST", ACCEPTING_PATH, (request) => {
    const refused = refusal(requestIn(request));
    if (refused !== null) return refused;
    const purchase = accept(request);
    return reply({ kind: "create", purchase }) ?? json({ id: purchase.id, status: "queued" }, { status: 202 });
  });

  fake.on("POST", RETURNING_PATH, async (request): Promise<FakeResponse> => {
    const refused = refusal(requestIn(request));
    if (refused !== null) return refused;
    const purchase = accept(request);
    await purchase.ended;
    return reply({ kind: "create", purchase }) ?? bytes(purchase.audio, "audio/mpeg");
  });

  fake.on("GET", `${ACCEPTING_PATH}/:id`, ({ params }) => {
    const purchase = purchases.find(params["id"]);
    if (purchase === undefined) return json({ error: { message: "There is no such work." } }, { status: 404 });
    purchase.calls.poll += 1;
    const tracks = purchase.state === "finished" ? { tracks: [{ audio_url: linkTo(purchase) }] } : {};
    return reply({ kind: "poll", purchase }) ?? json({ id: purchase.id, status: WORDS[purchase.state], ...tracks });
  });
}

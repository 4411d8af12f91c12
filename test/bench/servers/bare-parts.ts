import { createHash } from "node:crypto";
import http from "node:http";
import type { AddressInfo } from "node:net";
import express, { type Express } from "express";

/** Express without unneeded features, so that Fermata is compared with a fast server. */
export function bareExpress(): Express {
  const app = express();
  app.disable("x-powered-by");
  app.disable("etag");
  return app;
}

/** Serves the app with the prototypes set beforehand: Express on Node 20 is several times faster this way. */
export async function listenFast(app: Express): Promise<string> {
  class Request extends http.IncomingMessage {}
  class Response extends http.ServerResponse {}
  Object.setPrototypeOf(Request.prototype, app.request);
  Object.setPrototypeOf(Response.prototype, app.response);
  app.request = Request.prototype as Express["request"];
  app.response = Response.prototype as unknown as Express["response"];
  const server = http.createServer(
    { IncomingMessage: Request, ServerResponse: Response } as http.ServerOptions,
    app as http.RequestListener,
  );
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

export function sha256(text: string): string {
  return createHash("sha256").update(text, "utf8").digest("hex");
}

export interface BareHolder {
  readonly account_id: string;
  readonly scopes: string;
  readonly revoked_at: number | null;
  readonly terms_accepted_at: number | null;
}

/** As long as Fermata caches a key. */
const CACHE_MS = 900;

/** Looks up bearer keys, and caches them for as long as Fermata does. */
export class BareKeys {
  private readonly cache = new Map<string, { readonly holder: BareHolder; readonly readAt: number }>();

  constructor(private readonly read: (tokenHash: string) => Promise<BareHolder | undefined> | BareHolder | undefined) {}

  async holderOf(header: string | undefined, scope: string): Promise<BareHolder | null> {
    if (header?.startsWith("Bearer ") !== true) return null;
    const hash = sha256(header.slice(7));
    const now = Date.now();
    const cached = this.cache.get(hash);
    if (cached !== undefined && now < cached.readAt + CACHE_MS) return cached.holder;
    const holder = await this.read(hash);
    if (
      holder === undefined ||
      holder.revoked_at !== null ||
      holder.terms_accepted_at === null ||
      !holder.scopes.includes(scope)
    )
      return null;
    this.cache.set(hash, { holder, readAt: now });
    return holder;
  }
}

/** The body of a request to create a generation, as far as a hand-written endpoint reads it. */
export interface BareOrder {
  readonly model_id: string;
  readonly prompt: string;
}

export const COST = 3;
const DAY_MS = 86_400_000;

/** The rows that an accepted generation consists of, with all columns that Fermata fills. */
export function rowsOf(
  balance: Readonly<Record<string, number>>,
  accountId: string,
  keyHash: string,
  order: BareOrder,
  ids: { readonly job: string; readonly request: string },
): {
  readonly response: string;
  readonly record: object;
  readonly job: object;
  readonly entry: object;
  readonly after: Record<string, number>;
} {
  const now = Date.now();
  const monthly = Math.min(COST, balance["monthly"] ?? 0);
  const pack = COST - monthly;
  const seq = (balance["ledger_seq"] ?? 0) + 1;
  const result = JSON.stringify({
    data: {
      id: ids.job,
      status: "queued",
      model_id: order.model_id,
      credits_reserved: COST,
      created_at: new Date(now),
    },
  });
  return {
    response: result,
    record: {
      account_id: accountId,
      key_hash: keyHash,
      shape_hash: sha256(Object.keys(order).sort().join()),
      body_hash: sha256(JSON.stringify(order)),
      job_id: ids.job,
      status: 202,
      response: result,
      created_at: now,
      expires_at: now + DAY_MS,
    },
    job: {
      id: ids.job,
      account_id: accountId,
      kind: "music",
      operation: "music_scripted_full",
      provider_id: "scripted",
      model_id: order.model_id,
      request_id: ids.request,
      reserved_monthly: monthly,
      reserved_pack: pack,
      credits_charged: COST,
      status: "queued",
      phase: "waiting",
      attempt: 0,
      refusals: 0,
      crashes: 0,
      fence: 0,
      lease_owner: null,
      due_at: now,
      created_at: now,
      completed_at: null,
      requested_at: now,
      error: null,
      request: JSON.stringify(order),
    },
    entry: {
      account_id: accountId,
      seq,
      kind: "reserve",
      job_id: ids.job,
      phase: "open",
      monthly: -monthly,
      pack: -pack,
      reserved_monthly: monthly,
      reserved_pack: pack,
      spent: 0,
      external_ref: null,
      created_at: now,
    },
    after: {
      monthly: (balance["monthly"] ?? 0) - monthly,
      pack: (balance["pack"] ?? 0) - pack,
      reserved_monthly: (balance["reserved_monthly"] ?? 0) + monthly,
      reserved_pack: (balance["reserved_pack"] ?? 0) + pack,
      running_jobs: (balance["running_jobs"] ?? 0) + 1,
      ledger_seq: seq,
    },
  };
}

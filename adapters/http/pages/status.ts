import type { Router } from "express";
import { ServiceUnavailableError } from "../../../core/errors.js";
import type { HttpDeps } from "../deps.js";
import { sendBytes, sendJson } from "../send.js";

/** Requests cannot be served: a part that they need is not fine. */
class NotReadyError extends ServiceUnavailableError {
  override readonly details: { readonly not_ready: readonly string[] };
  constructor(names: readonly string[]) {
    super(`Not ready: ${names.join(", ")}.`);
    this.details = { not_ready: names };
  }
}

/** Parts without which requests are still served: workers find jobs in the storage when no notification comes. */
const DISPENSABLE: ReadonlySet<string> = new Set(["queue"]);

/**
 * `GET /healthz`: the process is up. `GET /readyz`: storage and schema work; `degraded` while only the queue does not.
 * `GET /metrics`, where there are any.
 */
export function statusPages(router: Router, deps: HttpDeps): void {
  const { metricsPage } = deps;
  const fine = JSON.stringify({ status: "ok" });
  router.get("/healthz", (_request, response) => sendJson(response, 200, fine));
  router.get("/readyz", async (_request, response) => {
    const notReady = await deps.readiness();
    if (notReady.some((name) => !DISPENSABLE.has(name))) throw new NotReadyError(notReady);
    sendJson(response, 200, notReady.length === 0 ? fine : JSON.stringify({ status: "degraded", not_ready: notReady }));
  });
  if (metricsPage === undefined) return;
  let rendered: { readonly text: string; readonly bytes: Buffer } | undefined;
  router.get("/metrics", async (_request, response) => {
    const text = await metricsPage.text();
    if (rendered?.text !== text) rendered = { text, bytes: Buffer.from(text) };
    response.setHeader("Content-Type", metricsPage.contentType);
    sendBytes(response, rendered.bytes);
  });
}

import type { Router } from "express";
import { ServiceUnavailableError } from "../../../core/errors.js";
import type { HttpDeps } from "../deps.js";
import { sendBytes, sendJson } from "../send.js";

/** A part of the service is not fine. */
class NotReadyError extends ServiceUnavailableError {
  override readonly details: { readonly not_ready: readonly string[] };
  constructor(names: readonly string[]) {
    super(`Not ready: ${names.join(", ")}.`);
    this.details = { not_ready: names };
  }
}

/**
 * `GET /healthz`: the process is up. `GET /readyz`: storage, queue and all other dependencies work. `GET /metrics`,
 * where there are any.
 */
export function statusPages(router: Router, deps: HttpDeps): void {
  const { metricsPage } = deps;
  const fine = JSON.stringify({ status: "ok" });
  router.get("/healthz", (_request, response) => sendJson(response, 200, fine));
  router.get("/readyz", async (_request, response) => {
    const notReady = await deps.readiness();
    if (notReady.length > 0) throw new NotReadyError(notReady);
    sendJson(response, 200, fine);
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

import type { Router } from "express";
import { describeApi } from "../openapi/document.js";
import type { HttpDeps } from "../deps.js";
import { sendBytes } from "../send.js";

/** `GET /openapi.json`: the description of the API. */
export function apiDescription(router: Router, { publicUrl, settings }: HttpDeps): void {
  let described: { readonly url: string; readonly bytes: Buffer } | undefined;
  router.get("/openapi.json", (_request, response) => {
    const url = publicUrl.current;
    if (described?.url !== url) {
      described = { url, bytes: Buffer.from(JSON.stringify(describeApi(url, settings.version))) };
    }
    response.setHeader("Access-Control-Allow-Origin", "*");
    response.setHeader("Content-Type", "application/json; charset=utf-8");
    sendBytes(response, described.bytes);
  });
}

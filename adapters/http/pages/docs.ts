import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import type { Response, Router } from "express";
import { describeApi } from "../openapi/document.js";
import type { HttpDeps } from "../deps.js";
import { sendBytes } from "../send.js";

/** Everything comes from here, and nothing else can be reached: no other host, no inline script. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

const PAGE = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Fermata API</title>
    <link rel="icon" type="image/png" href="docs/favicon-32x32.png">
    <link rel="stylesheet" href="docs/swagger-ui.css">
    <link rel="stylesheet" href="docs/page.css">
  </head>
  <body>
    <noscript>This page needs JavaScript. The description itself is <a href="openapi.json">openapi.json</a>.</noscript>
    <div id="docs"></div>
    <script src="docs/swagger-ui-bundle.js"></script>
    <script src="docs/page.js"></script>
  </body>
</html>
`;

/**
 * The description names the public URL; requests from this page go to where the page came from, since it may reach
 * nothing else.
 */
const PAGE_SCRIPT = `"use strict";
fetch("openapi.json")
  .then((response) => response.json())
  .then((spec) => {
    spec.servers = [{ url: new URL(".", document.baseURI).href.replace(/\\/$/, "") }];
    SwaggerUIBundle({
      spec,
      dom_id: "#docs",
      deepLinking: true,
      persistAuthorization: false,
      validatorUrl: null,
      presets: [SwaggerUIBundle.presets.apis],
    });
  });
`;

const PAGE_STYLE = "body { margin: 0; background: #fafafa; }\n";

const SCRIPT_TYPE = "text/javascript; charset=utf-8";
const STYLE_TYPE = "text/css; charset=utf-8";

/** Files of Swagger UI that the page uses, and their types; `npm run gen` and `npm run build` copy them. */
const LIBRARY_FILES: Readonly<Record<string, string>> = {
  "swagger-ui-bundle.js": SCRIPT_TYPE,
  "swagger-ui.css": STYLE_TYPE,
  "favicon-32x32.png": "image/png",
};

/** `GET /openapi.json`: the description of the API. `GET /docs`: the same to read and to try out. */
export function docsPages(router: Router, { publicUrl, settings }: HttpDeps): void {
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

  router.get("/docs", (request, response) => {
    // The page's links are relative to an address without a slash at its end.
    if (request.path.endsWith("/")) return response.redirect(308, "../docs");
    response.setHeader("Content-Security-Policy", POLICY);
    response.setHeader("Referrer-Policy", "no-referrer");
    send(response, "text/html; charset=utf-8", PAGE);
  });
  router.get("/docs/page.js", (_request, response) => send(response, SCRIPT_TYPE, PAGE_SCRIPT));
  router.get("/docs/page.css", (_request, response) => send(response, STYLE_TYPE, PAGE_STYLE));

  for (const [name, type] of Object.entries(LIBRARY_FILES)) {
    let bytes: Promise<Buffer> | undefined;
    router.get(`/docs/${name}`, async (_request, response) => {
      bytes ??= readFile(fileURLToPath(new URL(`../generated/swagger-ui/${name}`, import.meta.url)));
      response.setHeader("Cache-Control", "public, max-age=3600");
      send(response, type, await bytes);
    });
  }
}

function send(response: Response, type: string, body: string | Buffer): void {
  response.setHeader("Content-Type", type);
  sendBytes(response, typeof body === "string" ? Buffer.from(body) : body);
}

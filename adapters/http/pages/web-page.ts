import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import type { Response, Router } from "express";
import { NotFoundError } from "../../../core/errors.js";
import type { HttpDeps } from "../deps.js";
import { networkBudget } from "../middleware/network-budget.js";
import { sendBytes } from "../send.js";
import { html, type Markup } from "./share/html.js";
import { ICON } from "./share/icon.js";

/** A page of adapters/web. */
export interface WebPage {
  /** Of its files, in generated/web. */
  readonly name: string;
  /** Without a slash at its end, but for the page at the root. */
  readonly path: string;
  readonly title: string;
  /** What is read without JavaScript, in addition to that it needs it. */
  readonly withoutScript?: Markup;
  /** Whether it plays stored audio, which may be in a bucket: then the bucket can be reached too. */
  readonly playsAudio?: boolean;
}

export const CONSOLE: WebPage = { name: "console", path: "/console", title: "Fermata console" };
export const DOCS: WebPage = {
  name: "docs",
  path: "/docs",
  title: "Fermata API",
  withoutScript: html` The description itself is <a href="openapi.json">openapi.json</a>.`,
};
export const STUDIO: WebPage = { name: "studio", path: "/", title: "Fermata studio", playsAudio: true };

/**
 * Everything comes from here; there is no inline script or style, and nothing else can be reached.
 *
 * @param store empty, or the origin of the bucket that links to audio and covers lead to
 */
function policyFor(store: string): string {
  const own = `'self' ${store}`.trim();
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    `img-src ${own} data:`,
    `media-src ${own}`,
    `connect-src ${own}`,
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join("; ");
}

/** Empty where this server sends the files itself. */
async function originOf({ audioStore, clock }: Pick<HttpDeps, "audioStore" | "clock">): Promise<string> {
  if (audioStore.linkTo === undefined) return "";
  const link = { expiresAt: clock.now() + 60_000, contentType: "audio/mpeg" };
  return new URL(await audioStore.linkTo("studio", link)).origin;
}

const TYPES = { js: "text/javascript; charset=utf-8", css: "text/css; charset=utf-8" } as const;
/** They are named by their contents. */
const FOREVER = "public, max-age=31536000, immutable";

interface PageFile {
  readonly type: string;
  readonly bytes: Buffer;
  readonly link: string;
}

/**
 * The page, at its path, and its script and style at `/pages/NAME.js` and `/pages/NAME.css`. What the script loads when
 * it needs it is at `/pages/NAME-….js`, named by its contents.
 */
export function webPage(
  router: Router,
  deps: Pick<HttpDeps, "settings" | "publicUrl" | "audioStore" | "clock" | "studio">,
  { name, path, title, withoutScript, playsAudio = false }: WebPage,
): void {
  const studio = deps.studio === undefined ? null : html` data-studio`;
  const files = new Map<string, Promise<PageFile>>();
  const fileOf = (file: string, extension: keyof typeof TYPES): Promise<PageFile> => {
    const read = files.get(file) ?? readPageFile(file, TYPES[extension]);
    files.set(file, read);
    return read;
  };
  router.get(path, networkBudget, async (request, response) => {
    // The page's links are relative to its address.
    const [, pathname = "", search = ""] = /^([^?]*)(.*)$/s.exec(request.originalUrl) ?? [];
    if (path === "/" ? !pathname.endsWith("/") : pathname.endsWith("/")) {
      const last = pathname.split("/").findLast((part) => part !== "") ?? "";
      return response.redirect(308, `${path === "/" ? `${last}/` : `../${last}`}${search}`);
    }
    response.setHeader("Content-Security-Policy", policyFor(playsAudio ? await originOf(deps) : ""));
    response.setHeader("Referrer-Policy", "no-referrer");
    response.setHeader("X-Frame-Options", "DENY");
    const [script, style] = await Promise.all([fileOf(`${name}.js`, "js"), fileOf(`${name}.css`, "css")]);
    const { text: body } = html`<!doctype html>
<html lang="en" data-version="${deps.settings.version}" data-public-url="${deps.publicUrl.current}"${studio}>
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <meta name="robots" content="noindex">
    <title>${title}</title>
    <link rel="icon" type="image/svg+xml" href="pages/icon.svg">
    <link rel="stylesheet" href="${style.link}">
    <script type="module" src="${script.link}"></script>
  </head>
  <body>
    <noscript>This page needs JavaScript.${withoutScript ?? null}</noscript>
    <div id="page"></div>
  </body>
</html>
`;
    send(response, "text/html; charset=utf-8", Buffer.from(body));
  });
  for (const extension of ["js", "css"] as const) {
    router.get(`/pages/${name}.${extension}`, networkBudget, async (_request, response) => {
      const { type, bytes } = await fileOf(`${name}.${extension}`, extension);
      response.setHeader("Cache-Control", FOREVER);
      send(response, type, bytes);
    });
  }
  let parts: Promise<ReadonlySet<string>> | undefined;
  router.get(`/pages/${name}-:part.js`, networkBudget, async (request, response) => {
    const file = `${name}-${String(request.params["part"])}.js`;
    parts ??= readdir(pathOf(".")).then((names) => new Set(names));
    if (!(await parts).has(file)) throw new NotFoundError();
    const { type, bytes } = await fileOf(file, "js");
    response.setHeader("Cache-Control", FOREVER);
    send(response, type, bytes);
  });
  router.get("/pages/icon.svg", networkBudget, (_request, response) =>
    send(response, "image/svg+xml", Buffer.from(ICON)),
  );
  router.get("/pages/licences.txt", networkBudget, async (_request, response) =>
    send(response, "text/plain; charset=utf-8", await readFile(pathOf("licences.txt"))),
  );
}

async function readPageFile(name: string, type: string): Promise<PageFile> {
  const bytes = await readFile(pathOf(name));
  const version = createHash("sha256").update(bytes).digest("hex").slice(0, 16);
  return { type, bytes, link: `pages/${name}?v=${version}` };
}

function pathOf(name: string): string {
  return fileURLToPath(new URL(`../generated/web/${name}`, import.meta.url));
}

function send(response: Response, type: string, bytes: Buffer): void {
  response.setHeader("Content-Type", type);
  sendBytes(response, bytes);
}

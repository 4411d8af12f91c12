import type { Router } from "express";
import { NotFoundError } from "../../../core/errors.js";
import type { LinkCheck } from "../../../core/library/audio-urls.js";
import { refuse } from "../middleware/handle-error.js";
import type { HttpDeps } from "../deps.js";
import { sendStoredFile } from "./stored-file.js";

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  mp3: "audio/mpeg",
  wav: "audio/wav",
  flac: "audio/flac",
  ogg: "audio/ogg",
  m4a: "audio/mp4",
  png: "image/png",
  jpg: "image/jpeg",
  webp: "image/webp",
};

/** What is said of a link that gives nothing. */
const REFUSALS: Readonly<Record<Exclude<LinkCheck["state"], "valid">, { status: number; message: string }>> = {
  forged: { status: 403, message: "The link is not valid." },
  revoked: { status: 403, message: "The link is not valid any more." },
  gone: { status: 404, message: "The file was deleted." },
  expired: { status: 410, message: "The link has expired." },
};

/**
 * How long a link of the store lives that a link of ours leads to: what is unshared is not served any more by this
 * server at once, and by the store after this time.
 */
const STORE_LINK_MS_MAX = 15 * 60_000;

/** How long a browser may go by a redirect: the credentials behind a store's link may end before the link does. */
const REDIRECT_SECONDS_MAX = 300;

/**
 * Stored audio and images behind signed links, which need no API key: the link alone grants access until it expires.
 */
export function audioFiles(router: Router, deps: HttpDeps): void {
  router.get("/audio/*key", async (request, response) => {
    // Players on other pages may read what a link gives them.
    response.setHeader("Access-Control-Allow-Origin", "*");
    response.setHeader("Access-Control-Expose-Headers", "Accept-Ranges, Content-Length, Content-Range, ETag");
    const key = request.params.key.join("/");
    const link = await deps.audioUrls.check({ audioKey: key, parameters: request.query });
    if (link.state !== "valid") {
      const { status, message } = REFUSALS[link.state];
      return refuse(request, response, new NotFoundError(message), status);
    }
    if (await deps.publicLinks.isSuspended(link.audioKey)) throw new NotFoundError();
    const expiresAt = Number(request.query["expires"]) * 1000;
    const leftSeconds = Math.max(0, Math.floor((expiresAt - deps.clock.now()) / 1000));
    const contentType = CONTENT_TYPES[key.slice(key.lastIndexOf(".") + 1)] ?? "application/octet-stream";
    const { linkTo } = deps.audioStore;
    // A link of the store is for GET alone; HEAD gets its response from this server.
    if (linkTo !== undefined && request.method === "GET") {
      const storeLink = { expiresAt: Math.min(expiresAt, deps.clock.now() + STORE_LINK_MS_MAX), contentType };
      response.setHeader("Cache-Control", `private, max-age=${Math.min(leftSeconds, REDIRECT_SECONDS_MAX)}`);
      response.setHeader("Cross-Origin-Resource-Policy", "cross-origin");
      return response.redirect(302, await linkTo(link.audioKey, storeLink));
    }
    const stored = await deps.audioStore.stat(link.audioKey);
    if (stored === null) throw new NotFoundError();
    response.setHeader("Cache-Control", `private, max-age=${leftSeconds}`);
    response.setHeader("Content-Type", contentType);
    await sendStoredFile(request, response, deps, key, stored);
  });
}

import type { Router } from "express";
import { NotFoundError } from "../../../core/errors.js";
import { refuse } from "../middleware/handle-error.js";
import type { HttpParts } from "../parts.js";
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

/** How long a browser may go by a redirect: the credentials behind a store's link may end before the link does. */
const REDIRECT_SECONDS_MAX = 300;

/** Stored audio and images behind signed links, which need no API key: whoever has the link may listen until it expires. */
export function audioFiles(router: Router, parts: HttpParts): void {
  router.get("/audio/*key", async (request, response) => {
    // Players on other pages may read what a link gives them.
    response.setHeader("Access-Control-Allow-Origin", "*");
    response.setHeader("Access-Control-Expose-Headers", "Accept-Ranges, Content-Length, Content-Range, ETag");
    const key = request.params.key.join("/");
    const { expires, signature } = request.query;
    const link = parts.audioUrls.check(key, expires, signature);
    if (link.state !== "valid") {
      const isExpired = link.state === "expired";
      const error = new NotFoundError(isExpired ? "The link has expired." : "The link is not valid.");
      return refuse(request, response, error, isExpired ? 410 : 403);
    }
    if (await parts.publicLinks.isSuspended(link.audioKey)) throw new NotFoundError();
    const expiresAt = Number(expires) * 1000;
    const leftSeconds = Math.max(0, Math.floor((expiresAt - parts.clock.now()) / 1000));
    const contentType = CONTENT_TYPES[key.slice(key.lastIndexOf(".") + 1)] ?? "application/octet-stream";
    const { linkTo } = parts.audioStore;
    // A link of the store is for GET alone; who only asks about the file is answered here.
    if (linkTo !== undefined && request.method === "GET") {
      response.setHeader("Cache-Control", `private, max-age=${Math.min(leftSeconds, REDIRECT_SECONDS_MAX)}`);
      response.setHeader("Cross-Origin-Resource-Policy", "cross-origin");
      return response.redirect(302, await linkTo(link.audioKey, { expiresAt, contentType }));
    }
    const stored = await parts.audioStore.stat(link.audioKey);
    if (stored === null) throw new NotFoundError();
    response.setHeader("Cache-Control", `private, max-age=${leftSeconds}`);
    response.setHeader("Content-Type", contentType);
    await sendStoredFile(request, response, parts, key, stored);
  });
}

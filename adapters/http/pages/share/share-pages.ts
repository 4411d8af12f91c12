import { createHash } from "node:crypto";
import type { Request, Response, Router } from "express";
import { NotFoundError } from "../../../../core/errors.js";
import { isShareToken } from "../../../../core/library/share-urls.js";
import { assetOf, type Track, type TrackAsset } from "../../../../core/library/track.js";
import type { HttpDeps } from "../../deps.js";
import { sendStoredFile } from "../stored-file.js";
import { ICON } from "./icon.js";
import { notSharedPage, type SharedTrackView, trackPage } from "./page.js";
import { PLAYER_SCRIPT } from "./player-script.js";
import { PAGE_STYLE } from "./style.js";

/** Everything comes from here; there is no inline script or style, and nothing else can be reached. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "media-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

interface StaticFile {
  readonly name: string;
  readonly type: string;
  readonly text: string;
  /** Names these very bytes. */
  readonly version: string;
}

const SCRIPT = aFile("player.js", "text/javascript; charset=utf-8", PLAYER_SCRIPT);
const STYLE = aFile("page.css", "text/css; charset=utf-8", PAGE_STYLE);
const SIGN = aFile("icon.svg", "image/svg+xml", ICON);
const FILES = { script: linkTo(SCRIPT), style: linkTo(STYLE), icon: linkTo(SIGN) };

/**
 * `GET /share/{token}`: the page of a shared track, with a player; `/audio` and `/cover` below it: its files. Whether
 * the track is still shared is asked at each request, and nothing of it is kept by caches: what is taken back is gone
 * at once.
 */
export function sharePages(router: Router, deps: HttpDeps): void {
  for (const file of [SCRIPT, STYLE, SIGN])
    router.get(`/share/${file.name}`, (request, response) => sendStatic(request, response, file));

  router.get("/share/:token", async (request, response) => {
    // The page's links are relative to an address without a slash at its end.
    if (request.path.endsWith("/")) return response.redirect(308, `../${encodeURIComponent(request.params.token)}`);
    const track = await sharedTrack(deps, request.params.token);
    response.setHeader("Content-Security-Policy", POLICY);
    setPrivacyHeaders(response);
    if (track === null) response.status(404);
    send(
      response,
      "text/html; charset=utf-8",
      track === null ? notSharedPage(FILES) : trackPage(view(track, deps), FILES),
    );
  });
  router.get("/share/:token/audio", (request, response) => sendAsset(request, response, deps, "mix"));
  router.get("/share/:token/cover", (request, response) => sendAsset(request, response, deps, "cover"));
}

async function sharedTrack({ publicLinks }: HttpDeps, token: string): Promise<Track | null> {
  return isShareToken(token) ? publicLinks.findSharedTrack(token) : null;
}

async function sendAsset(
  request: Request<{ token: string }>,
  response: Response,
  deps: HttpDeps,
  role: TrackAsset["role"],
): Promise<void> {
  const track = await sharedTrack(deps, request.params.token);
  const asset = track === null ? null : assetOf(track, role);
  const stored = asset === null ? null : await deps.audioStore.stat(asset.audioKey);
  if (asset === null || stored === null) throw new NotFoundError();
  response.setHeader("Content-Type", asset.contentType);
  setPrivacyHeaders(response);
  await sendStoredFile(request, response, deps, asset.audioKey, stored);
}

function view(track: Track, { shareUrls }: HttpDeps): SharedTrackView {
  const mix = assetOf(track, "mix");
  return {
    token: track.shareToken ?? "",
    title: track.title,
    artist: track.artistLabel,
    // Rows of before lengths were checked may hold what is no time.
    durationSeconds: Number.isFinite(mix?.durationSeconds) ? (mix?.durationSeconds ?? null) : null,
    waveform: track.waveform === null ? null : [...track.waveform],
    audioType: mix?.contentType ?? null,
    coverType: assetOf(track, "cover")?.contentType ?? null,
    url: shareUrls.urlOf(track) ?? "",
  };
}

/** The link alone grants access: no referrer reveals it, and no search engine lists it. */
function setPrivacyHeaders(response: Response): void {
  response.setHeader("Referrer-Policy", "no-referrer");
  response.setHeader("X-Robots-Tag", "noindex, nofollow");
}

/** Under the address that names its version a file never changes. */
function sendStatic(request: Request, response: Response, { type, text, version }: StaticFile): void {
  const etag = `"${version}"`;
  response.setHeader("ETag", etag);
  response.setHeader(
    "Cache-Control",
    request.query["v"] === version ? "public, max-age=31536000, immutable" : "public, no-cache",
  );
  if (request.headers["if-none-match"] === etag) response.status(304).end();
  else send(response, type, text);
}

function send(response: Response, type: string, text: string): void {
  response.setHeader("Content-Type", type);
  response.setHeader("Content-Length", Buffer.byteLength(text));
  response.end(text);
}

function aFile(name: string, type: string, text: string): StaticFile {
  return { name, type, text, version: createHash("sha256").update(text).digest("hex").slice(0, 16) };
}

function linkTo({ name, version }: StaticFile): string {
  return `${name}?v=${version}`;
}

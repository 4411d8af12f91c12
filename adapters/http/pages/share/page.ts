import { html, type Markup } from "./html.js";
import { drawWaveform } from "./waveform.js";

/** What the page of a track shows. */
export interface SharedTrackView {
  readonly token: string;
  readonly title: string;
  readonly artist: string;
  readonly durationSeconds: number | null;
  readonly waveform: readonly number[] | null;
  /** null: there is nothing to play. */
  readonly audioType: string | null;
  readonly coverType: string | null;
  /** The address of this page, as callers reach it. */
  readonly url: string;
}

/** Where the page's own files are, relative to it. */
export interface PageFiles {
  readonly script: string;
  readonly style: string;
  readonly icon: string;
}

/**
 * The page of a shared track. It works without its script: the browser's own player is there until the script puts its
 * own in place.
 */
export function trackPage(track: SharedTrackView, files: PageFiles): string {
  const { token, title, artist, audioType, coverType } = track;
  const cover = coverType === null ? null : `${token}/cover`;
  const body = html`
    ${cover === null ? null : html`<img class="backdrop" src="${cover}" alt="">`}
    <main class="card">
      ${cover === null ? BLANK_COVER : coverOf(cover)}
      <div class="about">
        <h1>${title}</h1>
        <p class="artist">${artist}</p>
        ${audioType === null ? SILENT : player(track, audioType)}
      </div>
    </main>
    ${audioType === null ? null : html`<script src="${files.script}"></script>`}`;
  return page(joined(title, artist), files, linkPreview(track), body);
}

/** The page of a link to no track, or to one that is no longer shared. */
export function notSharedPage(files: PageFiles): string {
  const body = html`
    <main class="card empty">
      ${BLANK_COVER}
      <div class="about">
        <h1>Nothing is shared here</h1>
        <p class="artist">The link may be mistyped, or the owner of the track has taken it back.</p>
      </div>
    </main>`;
  return page("Nothing is shared here", files, html``, body);
}

/** `1:05`, or `1:02:03` from an hour on, rounded to the nearest second as the player and `music:duration` do. */
export function clockTime(seconds: number): string {
  const whole = Math.round(seconds);
  const [hours, minutes, rest] = [
    Math.floor(whole / 3600),
    Math.floor(whole / 60) % 60,
    String(whole % 60).padStart(2, "0"),
  ];
  return hours === 0 ? `${minutes}:${rest}` : `${hours}:${String(minutes).padStart(2, "0")}:${rest}`;
}

function joined(...texts: readonly string[]): string {
  return texts.filter((text) => text !== "").join(" · ");
}

function player({ token, title, durationSeconds, waveform }: SharedTrackView, audioType: string): Markup {
  const total = durationSeconds === null ? "–:––" : clockTime(durationSeconds);
  return html`<div class="player" data-player data-duration="${durationSeconds}">
          <button class="play" type="button" aria-label="Play" hidden>
            <svg viewBox="0 0 24 24" aria-hidden="true" focusable="false">
              <path class="icon-play"
                d="M8 5.2v13.6a.9.9 0 0 0 1.4.8l10.2-6.8a1 1 0 0 0 0-1.6L9.4 4.4A.9.9 0 0 0 8 5.2z"/>
              <path class="icon-pause"
                d="M7.5 4.5h2A1 1 0 0 1 10.5 5.5v13a1 1 0 0 1-1 1h-2a1 1 0 0 1-1-1v-13a1 1 0 0 1 1-1z
                m7 0h2a1 1 0 0 1 1 1v13a1 1 0 0 1-1 1h-2a1 1 0 0 1-1-1v-13a1 1 0 0 1 1-1z"/>
            </svg>
          </button>
          <div class="track">
            <div class="wave" data-seek>
          ${drawWaveform(waveform)}
            </div>
            <div class="times" hidden><span data-now>0:00</span><span data-total>${total}</span></div>
          </div>
          <audio controls preload="metadata" src="${token}/audio" type="${audioType}" aria-label="${title}"></audio>
          <p class="problem" role="status"></p>
        </div>`;
}

/** What other sites and messengers show of a link. Addresses are whole ones, as they have to be there. */
function linkPreview({ url, title, artist, durationSeconds, audioType, coverType }: SharedTrackView): Markup {
  const about = joined(artist, durationSeconds === null ? "" : clockTime(durationSeconds));
  const properties: readonly (readonly [name: string, content: string | null])[] = [
    ["og:type", "music.song"],
    ["og:site_name", "Fermata"],
    ["og:title", title],
    ["og:description", about],
    ["og:url", url],
    ["og:image", coverType === null ? null : `${url}/cover`],
    ["og:image:type", coverType],
    ["og:image:alt", coverType === null ? null : `Cover of ${title}`],
    ["og:audio", audioType === null ? null : `${url}/audio`],
    ["og:audio:type", audioType],
    ["music:duration", durationSeconds === null ? null : String(Math.round(durationSeconds))],
  ];
  const names: readonly (readonly [name: string, content: string | null])[] = [
    ["description", about],
    ["twitter:card", "summary"],
    ["twitter:title", title],
    ["twitter:description", about],
    ["twitter:image", coverType === null ? null : `${url}/cover`],
  ];
  return html`<link rel="canonical" href="${url}">
    ${present(properties).map(([name, content]) => html`<meta property="${name}" content="${content}">\n    `)}
    ${present(names).map(([name, content]) => html`<meta name="${name}" content="${content}">\n    `)}`;
}

function present(pairs: readonly (readonly [string, string | null])[]): readonly (readonly [string, string])[] {
  return pairs.flatMap(([name, content]) => (content === null ? [] : [[name, content] as const]));
}

function coverOf(url: string): Markup {
  return html`<div class="cover"><img src="${url}" alt="" width="512" height="512"></div>`;
}

function page(title: string, { style, icon }: PageFiles, head: Markup, body: Markup): string {
  return html`<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <meta name="robots" content="noindex">
    <title>${title}</title>
    ${head}
    <link rel="icon" type="image/svg+xml" href="${icon}">
    <link rel="stylesheet" href="${style}">
  </head>
  <body>${body}
  </body>
</html>
`.text;
}

const SILENT = html`<p class="silent">There is nothing to play here yet.</p>`;

const BLANK_COVER = html`<div class="cover blank">
      <svg class="fermata" viewBox="0 0 64 64" aria-hidden="true" focusable="false">
        <path d="M8 44a24 24 0 0 1 48 0h-3.5a20.5 17.5 0 0 0-41 0z"/><circle cx="32" cy="40" r="4.5"/>
      </svg></div>`;

import { expect } from "chai";
import express from "express";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import type { TrackId } from "../../core/ids.js";
import { type ApiResponse, ApiClient, refusalOf } from "../support/api-client.js";
import { aChord, mp3File } from "../support/audio-files.js";
import { importTrack } from "../support/library-import.js";
import { startTestApp, type TestApp } from "../support/test-app.js";

const HOSTILE = `"><script>alert('1')</script>&lt;`;
const UNKNOWN = "0".repeat(22);

/** The content of a page's meta tag: `og:title`. */
function metaOf({ text }: ApiResponse, name: string): string | undefined {
  return new RegExp(`<meta (?:property|name)="${name}" content="([^"]*)">`).exec(text)?.[1];
}

describe("GET /share/{token}", function () {
  this.timeout(40_000);
  let test: TestApp;
  let mp3: Uint8Array;
  let trackId: TrackId;
  let path: string;

  const share = async (id: TrackId): Promise<string> => {
    const { shareToken } = await test.app.library.manage.share(id);
    return `/share/${shareToken}`;
  };
  const get = (url: string, headers: Readonly<Record<string, string>> = {}): Promise<ApiResponse> =>
    test.anonymous.get(url, headers);

  before(async () => {
    test = await startTestApp();
    mp3 = await mp3File(aChord(65, (second) => (second < 30 ? 0.2 : 0.8), { sampleRate: 32_000, channelCount: 1 }));
    trackId = await importTrack(test.app, { title: "Rain on a tin roof", artist_label: "Nightingale", audio: mp3 });
    path = await share(trackId);
  });
  after(() => test.close());

  it("serves a page with the track's title, artist, duration, cover and audio", async () => {
    const page = await get(path);
    expect([page.status, page.headers.get("content-type")]).to.deep.equal([200, "text/html; charset=utf-8"]);
    const token = path.slice("/share/".length);
    expect(page.text).to.include("<title>Rain on a tin roof · Nightingale</title>");
    expect(page.text).to.include("<h1>Rain on a tin roof</h1>").and.to.include(">1:05<");
    expect(page.text).to.include(`<audio controls preload="metadata" src="${token}/audio" type="audio/mpeg"`);
    expect(page.text).to.include(`<img src="${token}/cover"`);
  });

  it("returns one page for all concurrent requests to share the track", async () => {
    const id = await importTrack(test.app, { title: "Shared twice", artist_label: "Nightingale", audio: mp3 });
    const paths = await Promise.all([share(id), share(id), share(id)]);
    expect(new Set(paths).size).to.equal(1);
    for (const shared of paths) expect((await get(shared)).status).to.equal(200);
  });

  it("draws the track's waveform without a script", async () => {
    const bars =
      [...((await get(path)).text.match(/<path d="([^"]+)"/g) ?? [])].find((drawn) => drawn.split("M").length > 80) ??
      "";
    const heights = [...bars.matchAll(/v(\d+)/g)].map(([, height]) => Number(height));
    expect(heights).to.have.length(88);
    expect(heights[10]).to.be.below((heights[70] ?? 0) / 2);
  });

  it("has link preview metadata with absolute URLs", async () => {
    const page = await get(path);
    const url = `${test.url}${path}`;
    expect(page.text).to.include(`<link rel="canonical" href="${url}">`);
    const expected: Readonly<Record<string, string>> = {
      "og:type": "music.song",
      "og:title": "Rain on a tin roof",
      "og:description": "Nightingale · 1:05",
      "og:url": url,
      "og:image": `${url}/cover`,
      "og:image:type": "image/png",
      "og:audio": `${url}/audio`,
      "og:audio:type": "audio/mpeg",
      "music:duration": "65",
      "twitter:card": "summary",
      "twitter:title": "Rain on a tin roof",
      "twitter:image": `${url}/cover`,
    };
    expect(Object.fromEntries(Object.keys(expected).map((name) => [name, metaOf(page, name)]))).to.deep.equal(expected);
    expect((await get(`${path}/cover`)).headers.get("content-type")).to.equal("image/png");
  });

  it("allows only its own files by its policy, and is not cached", async () => {
    const { headers, text } = await get(path);
    const policy = headers.get("content-security-policy") ?? "";
    expect(policy.split("; ").sort()).to.deep.equal([
      "base-uri 'none'",
      "default-src 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
      "img-src 'self'",
      "media-src 'self'",
      "script-src 'self'",
      "style-src 'self'",
    ]);
    expect(text).not.to.match(/<script(?! src="player\.js\?v=\w+"><\/script>)|<style|\sstyle=|\son\w+=/);
    expect([
      headers.get("cache-control"),
      headers.get("x-content-type-options"),
      headers.get("referrer-policy"),
    ]).to.deep.equal(["no-store", "nosniff", "no-referrer"]);
    expect(headers.get("x-robots-tag")).to.equal("noindex, nofollow");
  });

  it("names its assets by content hash, so that they are cached forever", async () => {
    const named = (await get(path)).text.matchAll(/(?:src|href)="((?:player\.js|page\.css|icon\.svg)\?v=\w+)"/g);
    const links = [...named].map(([, link]) => link as string);
    expect(links).to.have.length(3);
    for (const link of links) {
      const file = await get(`/share/${link}`);
      expect([file.status, file.headers.get("cache-control")], link).to.deep.equal([
        200,
        "public, max-age=31536000, immutable",
      ]);
      expect((await get(`/share/${link}`, { "If-None-Match": file.headers.get("etag") ?? "" })).status).to.equal(304);
      expect((await get(`/share/${link}x`)).headers.get("cache-control")).to.equal("public, no-cache");
    }
  });

  it("escapes hostile titles", async () => {
    const page = await get(await share(await importTrack(test.app, { title: HOSTILE, artist_label: HOSTILE })));
    const escaped = "&quot;&gt;&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt;&amp;lt;";
    expect(page.text).to.include(`<h1>${escaped}</h1>`);
    expect(metaOf(page, "og:title")).to.equal(escaped);
    expect(page.text).to.include("</h1>").and.not.include("alert('1')");
  });

  it("shows a track without audio, and no player", async () => {
    const silent = await share(await importTrack(test.app, { title: "Still to come" }));
    const page = await get(silent);
    expect(page.text).to.include("<h1>Still to come</h1>").and.to.include("nothing to play");
    expect(page.text)
      .to.match(/<\/main>/)
      .and.not.match(/<audio|<script|<img|og:audio|og:image|music:duration/);
    expect(refusalOf(await get(`${silent}/audio`))).to.equal("404 not_found");
    expect(refusalOf(await get(`${silent}/cover`))).to.equal("404 not_found");
  });

  it("serves the audio and ranges of it, uncached", async () => {
    const response = await fetch(`${test.url}${path}/audio`);
    expect(Buffer.from(await response.arrayBuffer()).equals(Buffer.from(mp3))).to.equal(true);
    expect([response.headers.get("content-type"), response.headers.get("cache-control")]).to.deep.equal([
      "audio/mpeg",
      "no-store",
    ]);
    const part = await fetch(`${test.url}${path}/audio`, { headers: { Range: "bytes=100-199" } });
    expect([part.status, part.headers.get("content-range")]).to.deep.equal([206, `bytes 100-199/${mp3.length}`]);
    expect(Buffer.from(await part.arrayBuffer()).equals(Buffer.from(mp3.subarray(100, 200)))).to.equal(true);
    expect((await get(`${path}/audio`, { Range: `bytes=${mp3.length}-` })).status).to.equal(416);
  });

  it("serves HEAD without a body, and no other method", async () => {
    for (const below of ["", "/audio", "/cover"]) {
      const head = await test.anonymous.send("HEAD", `${path}${below}`);
      expect([head.status, head.text, Number(head.headers.get("content-length")) > 100], below).to.deep.equal([
        200,
        "",
        true,
      ]);
      expect(refusalOf(await test.anonymous.send("POST", `${path}${below}`))).to.equal("405 method_not_allowed");
      expect((await test.anonymous.send("DELETE", `${path}${below}`)).headers.get("allow")).to.equal(
        "GET, HEAD, OPTIONS",
      );
    }
  });

  it("is also served with a trailing slash", async () => {
    const response = await get(`${path}/`);
    expect(response.status).to.equal(308);
    expect(new URL(response.headers.get("location") ?? "", `${test.url}${path}/`).pathname).to.equal(path);
  });

  it("returns a 404 page for an unknown link", async () => {
    for (const token of [
      UNKNOWN,
      "x",
      "trk_1",
      `${path.slice(7)}0`,
      path.slice(7).toLowerCase(),
      "%3Cscript%3E",
      encodeURIComponent("../me"),
    ]) {
      const page = await get(`/share/${token}`);
      expect([page.status, page.headers.get("content-type")], token).to.deep.equal([404, "text/html; charset=utf-8"]);
      expect(page.text).to.include("Nothing is shared here").and.not.include("Nightingale");
      expect(page.headers.get("content-security-policy")).to.include("default-src 'none'");
      expect(refusalOf(await get(`/share/${token}/audio`))).to.equal("404 not_found");
      expect(refusalOf(await get(`/share/${token}/cover`))).to.equal("404 not_found");
    }
  });

  it("returns 404 after the track is unshared, and gets a new URL when it is shared again", async () => {
    const audio = await fetch(`${test.url}${path}/audio`);
    await audio.arrayBuffer();
    await test.app.library.manage.unshare(trackId);
    const page = await get(path);
    expect(page.status).to.equal(404);
    expect(page.text)
      .to.include("Nothing is shared here")
      .and.not.match(/Rain|Nightingale|1:05|\/cover|\/audio|<meta property/);
    expect(refusalOf(await get(`${path}/audio`, { "If-None-Match": audio.headers.get("etag") ?? "" }))).to.equal(
      "404 not_found",
    );
    expect(refusalOf(await get(`${path}/audio`, { Range: "bytes=0-1" }))).to.equal("404 not_found");
    expect(refusalOf(await get(`${path}/cover`))).to.equal("404 not_found");
    const again = await share(trackId);
    expect(again).not.to.equal(path);
    expect([(await get(again)).status, (await get(path)).status]).to.deep.equal([200, 404]);
  });
});

describe("GET /share/{token} in another Express app", function () {
  this.timeout(40_000);

  it("links to its files relative to its mount path, and uses the public URL in link previews", async () => {
    const test = await startTestApp({ listen: false, settings: { http: { publicUrl: "https://example.com/music" } } });
    const server = express().use("/music", test.app.router).listen(0, "127.0.0.1");
    try {
      await once(server, "listening");
      const client = new ApiClient(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, null);
      const id = await importTrack(test.app, { audio: await mp3File(aChord(1, () => 0.5)) });
      const { shareToken } = await test.app.library.manage.share(id);
      const page = await client.get(`/music/share/${shareToken}`);
      expect(metaOf(page, "og:image")).to.equal(`https://example.com/music/share/${shareToken}/cover`);
      const all = [...page.text.matchAll(/ (?:src|href)="([^"]+)"/g)].map(([, link]) => link as string);
      const links = all.filter((link) => !link.startsWith("https:"));
      expect(links).to.have.length(6);
      for (const link of links) {
        const { pathname, search } = new URL(link, `http://x/music/share/${shareToken}`);
        expect((await client.get(`${pathname}${search}`)).status, link).to.equal(200);
      }
      const redirect = await client.get(`/music/share/${shareToken}/`);
      const target = new URL(redirect.headers.get("location") ?? "", `http://x/music/share/${shareToken}/`);
      expect(target.pathname).to.equal(`/music/share/${shareToken}`);
    } finally {
      server.close();
      server.closeAllConnections();
      await test.close();
    }
  });
});

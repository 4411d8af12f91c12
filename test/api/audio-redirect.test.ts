import { expect } from "chai";
import type { AudioLink, AudioStore } from "../../core/ports/audio-store.js";
import { ManualClock } from "../support/doubles/manual-clock.js";
import { startTestApp, type TestApp } from "../support/test-app.js";

const KEY = "job_x/1/0-mix.mp3";

/** A store that has one file, and signs URLs to it. */
class LinkingStore implements Pick<AudioStore, "stat" | "read" | "linkTo"> {
  readonly asked: (readonly [key: string, link: AudioLink])[] = [];

  async stat(key: string) {
    return key === KEY ? { sizeBytes: 4, etag: "e", modifiedAt: 0 } : null;
  }

  async *read(): AsyncGenerator<Uint8Array> {
    yield Buffer.from("file");
  }

  readonly linkTo = async (key: string, link: AudioLink): Promise<string> => {
    this.asked.push([key, link]);
    return `https://bucket.example/${key}?signature=theirs`;
  };
}

describe("GET /audio/{key} with a store that signs its own URLs", () => {
  const clock = new ManualClock();
  const store = new LinkingStore();
  let test: TestApp;
  before(async () => {
    test = await startTestApp({ clock, audio: store as unknown as AudioStore });
  });
  after(() => test.close());

  const load = (url: string, init: RequestInit = {}): Promise<Response> => fetch(url, { redirect: "manual", ...init });

  it("redirects to a URL of the store that is valid for 15 minutes", async () => {
    const response = await load(test.app.audioUrls.sign(KEY, { ttlMs: 3_600_000 }), {
      headers: { Range: "bytes=1-2" },
    });
    expect(response.status).to.equal(302);
    expect(response.headers.get("location")).to.equal(`https://bucket.example/${KEY}?signature=theirs`);
    expect(response.headers.get("cache-control")).to.equal("private, max-age=300");
    expect(response.headers.get("access-control-allow-origin")).to.equal("*");
    expect(response.headers.get("cross-origin-resource-policy")).to.equal("cross-origin");
    expect(store.asked.at(-1)).to.deep.equal([
      KEY,
      { expiresAt: clock.now() + 15 * 60_000, contentType: "audio/mpeg" },
    ]);
  });

  it("signs the store's URL for no longer than the link's own validity", async () => {
    await load(test.app.audioUrls.sign(KEY, { ttlMs: 60_000 }));
    const expiresAt = Math.ceil((clock.now() + 60_000) / 1000) * 1000;
    expect(store.asked.at(-1)).to.deep.equal([KEY, { expiresAt, contentType: "audio/mpeg" }]);
  });

  it("limits the caching of the redirect to the validity of the store's URL", async () => {
    const response = await load(test.app.audioUrls.sign(KEY, { ttlMs: 60_000 }));
    expect(response.headers.get("cache-control")).to.match(/^private, max-age=(59|60)$/);
  });

  it("serves HEAD itself: the store's URL is valid for GET only", async () => {
    const response = await load(test.app.audioUrls.sign(KEY), { method: "HEAD" });
    expect([
      response.status,
      response.headers.get("content-length"),
      response.headers.get("content-type"),
    ]).to.deep.equal([200, "4", "audio/mpeg"]);
  });

  it("does not redirect an invalid link", async () => {
    const before = store.asked.length;
    const link = test.app.audioUrls.sign(KEY, { ttlMs: 1_000 });
    expect(
      (await load(link.replace(/signature=(.)/, (_, first) => `signature=${first === "A" ? "B" : "A"}`))).status,
    ).to.equal(403);
    clock.set(clock.now() + 2_000);
    expect((await load(link)).status).to.equal(410);
    expect(store.asked).to.have.lengthOf(before);
  });
});

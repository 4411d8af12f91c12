import { expect } from "chai";
import { once } from "node:events";
import { connect } from "node:net";
import type { AudioStore } from "../../core/ports/audio-store.js";
import { type ApiResponse, dataOf, refusalOf } from "../support/api-client.js";
import { ManualClock } from "../support/doubles/manual-clock.js";
import { SCRIPTED_AUDIO } from "../support/doubles/scripted-provider.js";
import { startTestApp, type TestApp } from "../support/test-app.js";

const WHOLE = Buffer.from(SCRIPTED_AUDIO);

interface Fetched {
  readonly status: number;
  readonly headers: Headers;
  readonly bytes: Buffer;
}

/** The link with another first letter of its signature. */
function withOtherSignature(link: string): string {
  return link.replace(/signature=(.)/, (_, first) => `signature=${first === "A" ? "B" : "A"}`);
}

describe("GET /audio/{key}", () => {
  const clock = new ManualClock();
  let test: TestApp;
  let link: string;
  let cover: string;
  before(async () => {
    test = await startTestApp({ work: true, clock });
    const { api } = await test.account();
    const { id } = dataOf<{ readonly id: string }>(await api.generate(undefined, { Prefer: "wait=20" }));
    const { tracks } = dataOf<{
      readonly tracks: readonly { readonly play_url: string; readonly thumbnail_url: string }[];
    }>(await api.get(`/api/v1/generations/${id}`));
    link = tracks[0]?.play_url ?? "";
    cover = tracks[0]?.thumbnail_url ?? "";
  });
  after(() => test.close());

  const load = async (
    url: string,
    headers: Readonly<Record<string, string>> = {},
    method = "GET",
  ): Promise<Fetched> => {
    const response = await fetch(url, { method, headers });
    return { status: response.status, headers: response.headers, bytes: Buffer.from(await response.arrayBuffer()) };
  };
  const path = (url: string): string => url.slice(test.url.length);
  const ask = (url: string, headers: Readonly<Record<string, string>> = {}): Promise<ApiResponse> =>
    test.anonymous.get(path(url), headers);

  it("serves the file to a client with the link, without an API key", async () => {
    const { status, headers, bytes } = await load(link);
    expect(status).to.equal(200);
    expect(bytes.equals(WHOLE)).to.equal(true);
    expect(headers.get("content-type")).to.equal("audio/mpeg");
    expect(headers.get("content-length")).to.equal("1000");
    expect(headers.get("accept-ranges")).to.equal("bytes");
    expect(headers.get("etag")).to.match(/^"[^"]+"$/);
    // At half past, so that it ends with the hour after a day.
    expect(headers.get("cache-control")).to.equal("private, max-age=88200");
    expect(headers.get("access-control-allow-origin")).to.equal("*");
    expect(headers.get("x-content-type-options")).to.equal("nosniff");
    expect((await load(cover)).headers.get("content-type")).to.equal("image/png");
  });

  it("returns the same headers for HEAD, and no bytes", async () => {
    const [get, head] = [await load(link), await load(link, {}, "HEAD")];
    expect([head.status, head.bytes.length, head.headers.get("content-length")]).to.deep.equal([200, 0, "1000"]);
    expect(head.headers.get("etag")).to.equal(get.headers.get("etag"));
  });

  const ranges: readonly (readonly [header: string, start: number, end: number])[] = [
    ["bytes=0-0", 0, 0],
    ["bytes=0-499", 0, 499],
    ["bytes=500-", 500, 999],
    ["bytes=-10", 990, 999],
    ["bytes=-5000", 0, 999],
    ["bytes=990-5000", 990, 999],
    ["BYTES=1-2", 1, 2],
  ];
  for (const [header, start, end] of ranges) {
    it(`serves the requested part for Range: ${header}`, async () => {
      const { status, headers, bytes } = await load(link, { Range: header });
      expect(status).to.equal(206);
      expect(headers.get("content-range")).to.equal(`bytes ${start}-${end}/1000`);
      expect(headers.get("content-length")).to.equal(String(end - start + 1));
      expect(bytes.equals(WHOLE.subarray(start, end + 1))).to.equal(true);
    });
  }

  for (const header of [
    "bytes=0-1,5-6",
    "bytes=5-2",
    "bytes=",
    "bytes=-",
    "bytes=a-b",
    "items=0-1",
    "bytes=1-2-3",
    "0-1",
  ]) {
    it(`serves the whole file for Range: ${header}`, async () => {
      const { status, bytes } = await load(link, { Range: header });
      expect([status, bytes.length]).to.deep.equal([200, 1_000]);
    });
  }

  for (const header of ["bytes=1000-", "bytes=5000-6000", "bytes=-0", "bytes=99999999999999999999-"]) {
    it(`returns 416 for Range: ${header}`, async () => {
      const response = await ask(link, { Range: header });
      expect(response.status).to.equal(416);
      expect(response.headers.get("content-range")).to.equal("bytes */1000");
      expect(response.headers.get("content-type")).to.match(/^application\/json/);
    });
  }

  it("honours If-Range: a part if the file is unchanged, else the whole file", async () => {
    const { headers } = await load(link);
    const part = { Range: "bytes=0-9" };
    const statusFor = async (condition: string): Promise<number> =>
      (await load(link, { ...part, "If-Range": condition })).status;
    expect(await statusFor(headers.get("etag") ?? "")).to.equal(206);
    expect(await statusFor(headers.get("last-modified") ?? "")).to.equal(206);
    expect(await statusFor('"other"')).to.equal(200);
    expect(await statusFor(`W/${headers.get("etag")}`)).to.equal(200);
    expect(await statusFor("Sat, 01 Jan 2000 00:00:00 GMT")).to.equal(200);
    expect(await statusFor("nonsense")).to.equal(200);
  });

  it("returns 304 to a client that has the file cached", async () => {
    const { headers } = await load(link);
    const etag = headers.get("etag") ?? "";
    for (const known of [etag, `W/${etag}`, `"other", ${etag}`, "*"]) {
      const response = await load(link, { "If-None-Match": known });
      expect([response.status, response.bytes.length, response.headers.get("etag")]).to.deep.equal([304, 0, etag]);
    }
    expect((await load(link, { "If-Modified-Since": headers.get("last-modified") ?? "" })).status).to.equal(304);
    expect(
      (await load(link, { "If-None-Match": '"other"', "If-Modified-Since": headers.get("last-modified") ?? "" }))
        .status,
    ).to.equal(200);
    expect((await load(link, { "If-Modified-Since": "Sat, 01 Jan 2000 00:00:00 GMT" })).status).to.equal(200);
  });

  it("returns 403 for a link with a wrong signature", async () => {
    const forged = [
      withOtherSignature(link),
      link.replace(/expires=\d+/, "expires=9999999999"),
      link.replace("0-mix.mp3", "0-master.wav"),
      link.replace(/&signature=.*/, ""),
      link.replace(/\?.*/, ""),
      `${link}&signature=x`,
      link.replace("/audio/", "/audio/../audio/x/").replace("0-mix", "..%2f..%2fsecret"),
      link.replace("/audio/", "/audio/%2e%2e%2f"),
      link.replace("/audio/", "/audio/%00"),
    ];
    for (const url of forged) expect((await ask(url)).status, url).to.equal(403);
  });

  it("returns 404 when the file is missing, and 400 when the path cannot be decoded", async () => {
    expect(refusalOf(await ask(test.app.audioUrls.sign("job_x/1/0-mix.mp3")))).to.equal("404 not_found");
    expect(refusalOf(await ask(`${test.url}/audio/%zz`))).to.equal("400 invalid_request");
    expect(refusalOf(await ask(`${test.url}/audio/`))).to.equal("404 not_found");
  });

  it("returns 410 after the link has expired, without any bytes of the file", async () => {
    const { headers } = await load(link);
    clock.set(clock.now() + 25 * 3_600_000);
    const response = await ask(link);
    expect(response.status).to.equal(410);
    expect(response.headers.get("cache-control")).to.equal("no-store");
    expect(response.headers.get("etag")).to.equal(null);
    expect(response.text).not.to.include(headers.get("etag"));
    expect((await ask(withOtherSignature(link))).status).to.equal(403);
  });
});

/** An endless file that reports when its reader stops. */
class EndlessStore implements Pick<AudioStore, "stat" | "read"> {
  private notifyClosed: () => void = () => undefined;
  readonly closed = new Promise<void>((resolve) => (this.notifyClosed = resolve));

  stat() {
    return Promise.resolve({ sizeBytes: 1e12, etag: "endless", modifiedAt: 0 });
  }

  async *read(): AsyncGenerator<Uint8Array> {
    try {
      for (;;) yield await Promise.resolve(new Uint8Array(65_536));
    } finally {
      this.notifyClosed();
    }
  }
}

describe("GET /audio/{key} when the client disconnects", () => {
  it("closes the file, and logs no error", async () => {
    const store = new EndlessStore();
    const test = await startTestApp({ audio: store as unknown as AudioStore });
    try {
      const { hostname, port, pathname, search } = new URL(test.app.audioUrls.sign("job_x/1/0-mix.mp3"));
      const socket = connect({ host: hostname, port: Number(port) });
      socket.write(`GET ${pathname}${search} HTTP/1.1\r\nHost: x\r\n\r\n`);
      await once(socket, "data");
      socket.destroy();
      await store.closed;
    } finally {
      await test.close();
    }
    expect(test.logger.lines.filter(({ level }) => level === "error")).to.deep.equal([]);
  });
});

import { gzipSync, brotliCompressSync } from "node:zlib";
import { expect } from "chai";
import { assetOpenerContract, contentOf, failureOf } from "../contract/asset-opener.contract.js";
import type { AssetOpenerParts } from "../../adapters/downloads/asset-opener.js";
import type { ProviderFailure, UrlSource } from "../../core/ports/music-provider.js";
import { CertificateAuthority } from "../support/fault-receiver/certificates.js";
import { answering, cutting, FileHost, type Handler, serving } from "../support/file-host.js";
import { tinyMp3, tinyWav } from "../support/provider-kit/sounds.js";
import { openerFor, openWith } from "./downloads-support.js";

assetOpenerContract("GuardedAssetOpener", async () => {
  const [opener, host] = [openerFor(), await FileHost.open()];
  return {
    opener,
    host,
    async close() {
      await opener.close();
      await host.close();
    },
  };
});

const FILE = tinyMp3("downloads");
const LONG = Buffer.concat([tinyWav(), Buffer.alloc(400_000, "sound")]);
const RANGES = { "Accept-Ranges": "bytes", ETag: '"v1"' };

describe("GuardedAssetOpener with URLs", () => {
  let host: FileHost;
  beforeEach(async () => {
    host = await FileHost.open();
  });
  afterEach(() => host.close());

  interface Asking extends Partial<Omit<UrlSource, "kind" | "url">> {
    readonly maxBytes?: number;
    readonly signal?: AbortSignal;
    readonly parts?: Partial<AssetOpenerParts>;
    readonly ca?: readonly string[];
  }

  async function load(url: string, { parts, ca, maxBytes, signal, ...source }: Asking = {}): Promise<Buffer> {
    const opener = openerFor(parts, ca);
    try {
      const options = { ...(maxBytes === undefined ? {} : { maxBytes }), ...(signal === undefined ? {} : { signal }) };
      return await contentOf(await openWith(opener, { kind: "url", url, ...source }, options));
    } finally {
      await opener.close();
    }
  }
  const refusal = (url: string, asking?: Asking): Promise<ProviderFailure> => failureOf(load(url, asking));

  it("asks for the file as it is, and says who asks", async () => {
    await load(host.on("/a.mp3", serving(FILE)), { headers: { Authorization: "Bearer k", Range: "bytes=5-", "Accept-Encoding": "gzip" } });
    const { headers } = host.requests[0] ?? {};
    expect(headers).to.include({ "accept-encoding": "identity", "user-agent": "Fermata/1.2.3", authorization: "Bearer k" });
    expect(headers).to.not.have.property("range");
  });

  describe("on the way", () => {
    it("refuses addresses that are not public, however they are reached", async () => {
      for (const url of ["http://169.254.169.254/latest", "http://10.0.0.1/a.mp3", "http://[::ffff:10.0.0.1]/a.mp3", "http://0x0a000001/a.mp3", "http://intranet/a.mp3"]) {
        expect(await refusal(url), url).to.include({ kind: "failed" });
        const redirected = await refusal(host.on("/r", answering(302, { Location: url })));
        expect(redirected, url).to.include({ kind: "failed" });
        expect(redirected.message).to.include("may not be connected to");
      }
    });

    it("follows five redirects and no more", async () => {
      for (const [index, status] of [301, 302, 303, 307, 308].entries()) host.on(`/${index}`, answering(status, { Location: `${index + 1}` }));
      host.on("/5", serving(FILE));
      expect((await load(host.url("/0"))).equals(FILE)).to.equal(true);
      host.on("/5", answering(302, { Location: "/6" }));
      host.on("/6", serving(FILE));
      expect(await refusal(host.url("/0"))).to.include({ kind: "failed" });
      expect(host.of("/6")).to.have.lengthOf(0);
    });

    it("refuses a loop, and redirects that lead nowhere or to other schemes", async () => {
      expect(await refusal(host.on("/loop", answering(302, { Location: "/loop" })))).to.include({ kind: "failed" });
      const leading: readonly Readonly<Record<string, string>>[] = [{}, { Location: "file:///etc/passwd" }, { Location: "data:audio/mpeg;base64,SUQz" }, { Location: "http://[" }, { Location: "http://user:pw@127.0.0.1/" }];
      for (const headers of leading) expect(await refusal(host.on("/r", answering(302, headers)))).to.include({ kind: "failed" });
      for (const url of ["ftp://127.0.0.1/a.mp3", "file:///etc/passwd", "no url", ""]) expect(await refusal(url)).to.include({ kind: "failed" });
    });

    it("keeps the plugin's headers from every other origin, and from what such an origin chooses", async () => {
      host.on("/start", answering(302, { Location: host.url("/other", "localhost") }));
      host.on("/other", answering(302, { Location: host.url("/back") }));
      host.on("/back", serving(FILE));
      await load(host.url("/start"), { headers: { "X-Key": "secret" } });
      expect(host.requests.map(({ url, headers }) => [url, headers["x-key"]])).to.deep.equal([["/start", "secret"], ["/other", undefined], ["/back", undefined]]);
    });

    it("goes along with the headers within the origin", async () => {
      host.on("/start", answering(302, { Location: "/end" }));
      host.on("/end", serving(FILE));
      await load(host.url("/start"), { headers: { "X-Key": "secret" } });
      expect(host.of("/end")[0]?.headers["x-key"]).to.equal("secret");
    });

    it("goes from https to plain http only where that is allowed", async () => {
      const authority = new CertificateAuthority();
      const secure = await FileHost.open(authority.issue({ names: ["localhost"] }));
      try {
        const url = secure.on("/start", answering(302, { Location: host.on("/plain", serving(FILE)) }));
        const refused = await refusal(url, { ca: [authority.cert] });
        expect(refused).to.include({ kind: "failed" });
        expect(refused.message).to.include("plain http");
        expect(host.requests).to.have.lengthOf(0);
        expect(await load(url, { ca: [authority.cert], parts: { allowHttp: true } })).to.have.lengthOf(FILE.length);
        expect(await refusal(url), "an authority that is not trusted").to.include({ kind: "unavailable" });
      } finally {
        await secure.close();
      }
    });
  });

  describe("by its answer", () => {
    const said = (status: number, body: string): string => host.on("/x", answering(status, { "Content-Type": "application/xml" }, body));

    it("knows a link whose time is over", async () => {
      const bodies = [
        [403, "<Error><Code>AccessDenied</Code><Message>Request has expired</Message></Error>"],
        [400, "<Error><Code>ExpiredToken</Code><Message>The provided token has expired.</Message></Error>"],
        [403, "<Error><AuthenticationErrorDetail>Signature not valid in the specified time frame</AuthenticationErrorDetail></Error>"],
      ] as const;
      for (const [status, body] of bodies) expect(await refusal(said(status, body)), body).to.include({ kind: "gone" });
      expect(await refusal(said(403, "<Error><Code>AccessDenied</Code></Error>"))).to.include({ kind: "failed" });
      expect(await refusal(said(403, ""), { expiresAt: Date.now() - 1 })).to.include({ kind: "gone" });
      expect(await refusal(said(403, ""), { expiresAt: Date.now() + 60_000 })).to.include({ kind: "failed" });
    });

    it("keeps what Retry-After asks for", async () => {
      expect(await refusal(host.on("/x", answering(429, { "Retry-After": "7" })))).to.include({ kind: "unavailable", retryAfterMs: 7_000 });
      expect(await refusal(host.on("/x", answering(503)))).to.include({ kind: "unavailable", retryAfterMs: null });
    });

    it("refuses other statuses", async () => {
      for (const status of [204, 206, 304, 400, 401, 402, 405, 418]) expect(await refusal(host.on("/x", answering(status))), String(status)).to.include({ kind: "failed" });
    });

    it("refuses pages and answers for programs, but no other type that is wrong", async () => {
      for (const type of ["text/html", "TEXT/HTML; charset=utf-8", "application/json", "application/problem+json", "application/xhtml+xml"]) {
        const refused = await refusal(host.on("/x", answering(200, { "Content-Type": type }, FILE)));
        expect(refused, type).to.include({ kind: "failed" });
      }
      for (const type of ["application/octet-stream", "binary/octet-stream", "application/xml", "video/mp4", ""]) {
        expect(await load(host.on("/x", answering(200, { "Content-Type": type }, FILE))), type).to.have.lengthOf(FILE.length);
      }
    });

    it("refuses a file that says it is too large before it reads it, and one that does not say so while it reads", async () => {
      const endless: Handler = (_request, response) => {
        response.writeHead(200);
        const more = (): void => {
          while (response.writable && response.write(LONG));
        };
        response.on("drain", more);
        more();
      };
      expect(await refusal(host.on("/x", (_request, response) => void response.writeHead(200, { "Content-Length": "2000000" }).flushHeaders()))).to.include({ kind: "failed" });
      expect(await refusal(host.on("/x", endless))).to.include({ kind: "failed" });
      await host.quiet();
    });

    it("unpacks what came packed without being asked, within its bounds", async () => {
      expect((await load(host.on("/x", answering(200, { "Content-Encoding": "gzip" }, gzipSync(FILE))))).equals(FILE)).to.equal(true);
      expect((await load(host.on("/x", answering(200, { "Content-Encoding": "br" }, brotliCompressSync(FILE))))).equals(FILE)).to.equal(true);
      expect((await load(host.on("/x", answering(200, { "Content-Encoding": "aws-chunked" }, FILE)))).equals(FILE)).to.equal(true);
      const bomb = gzipSync(Buffer.concat([FILE, Buffer.alloc(20_000_000)]));
      for (const [coding, body] of [["gzip", bomb], ["gzip", FILE], ["gzip, br", FILE], ["compress", FILE]] as const) {
        expect(await refusal(host.on("/x", answering(200, { "Content-Encoding": coding }, body))), coding).to.include({ kind: "failed" });
      }
    });
  });

  describe("when it breaks off", () => {
    it("asks for the rest of the same file", async () => {
      const url = host.on("/x", cutting(LONG, [100_000, 100_000, 300_000], RANGES));
      expect((await load(url)).equals(LONG)).to.equal(true);
      const rests = host.requests.slice(1).map(({ headers }) => [headers.range, headers["if-range"]]);
      expect(rests).to.deep.equal([["bytes=100000-", '"v1"'], ["bytes=100000-", '"v1"'], ["bytes=300000-", '"v1"']]);
    });

    it("goes by the date where there is no strong tag", async () => {
      const dated = { "Accept-Ranges": "bytes", ETag: 'W/"v1"', "Last-Modified": "Sat, 21 Nov 2026 06:30:00 GMT" };
      expect((await load(host.on("/x", cutting(LONG, [100_000], dated)))).equals(LONG)).to.equal(true);
      expect(host.requests[1]?.headers["if-range"]).to.equal("Sat, 21 Nov 2026 06:30:00 GMT");
    });

    it("goes on with a packed file, too", async () => {
      const packed = gzipSync(Buffer.concat([FILE, Buffer.from(Array.from({ length: 300_000 }, (_, index) => (index * 2_654_435_761) >>> 24))]));
      const url = host.on("/x", cutting(packed, [Math.floor(packed.length / 2)], { ...RANGES, "Content-Encoding": "gzip" }));
      expect(await load(url)).to.have.lengthOf(FILE.length + 300_000);
      expect(host.requests).to.have.lengthOf(2);
    });

    it("goes on after a moment's refusal, but not for ever", async () => {
      const once = cutting(LONG, [100_000], RANGES);
      expect((await load(host.on("/x", once, answering(503), once))).equals(LONG)).to.equal(true);
      const refused = await refusal(host.on("/y", cutting(LONG, [100_000], RANGES), answering(503, { "Retry-After": "9" })));
      expect(refused).to.include({ kind: "unavailable", retryAfterMs: 9_000 });
      expect(host.of("/y")).to.have.lengthOf(6);
    });

    it("never joins two files: what has changed meanwhile is fetched anew by whoever asked", async () => {
      const changed = cutting(LONG, [], { ...RANGES, ETag: '"v2"' });
      expect(await refusal(host.on("/x", cutting(LONG, [100_000], RANGES), changed))).to.include({ kind: "unavailable" });
      expect(await refusal(host.on("/z", cutting(LONG, [100_000], RANGES), answering(416)))).to.include({ kind: "unavailable" });
      const shifted: Handler = (_request, response) => void response.writeHead(206, { "Content-Range": `bytes 0-9/${LONG.length}`, "Content-Length": "10" }).end(LONG.subarray(0, 10));
      expect(await refusal(host.on("/y", cutting(LONG, [100_000], RANGES), shifted))).to.include({ kind: "unavailable" });
      expect(host.requests).to.have.lengthOf(6);
    });

    it("says so when the file is gone by then", async () => {
      expect(await refusal(host.on("/x", cutting(LONG, [100_000], RANGES), answering(404)))).to.include({ kind: "gone" });
    });

    it("is `unavailable` where the rest cannot be asked for, and names how much came", async () => {
      const unfit: readonly Readonly<Record<string, string>>[] = [{}, { "Accept-Ranges": "none", ETag: '"v1"' }, { "Accept-Ranges": "bytes" }, { ...RANGES, ETag: 'W/"v1"' }];
      for (const headers of unfit) {
        const refused = await refusal(host.on("/x", cutting(LONG, [100_000], headers)));
        expect(refused).to.include({ kind: "unavailable" });
        expect(refused.message).to.match(/broke off after 100000 of \d+ bytes/);
      }
      const unsaid: Handler = (_request, response) => response.writeHead(200).write(LONG.subarray(0, 100_000), () => response.socket?.end());
      expect(await refusal(host.on("/chunked", unsaid))).to.include({ kind: "unavailable" });
    });
  });

  describe("when it takes too long", () => {
    const nothing: Handler = () => undefined;
    const standing: Handler = (_request, response) => void response.writeHead(200, { "Content-Length": String(LONG.length) }).write(LONG.subarray(0, 1_000));

    it("is `unavailable`: no first byte, standing still, or not over in time", async () => {
      expect(await refusal(host.on("/x", nothing), { parts: { limits: { firstByteMs: 50 } } })).to.include({ kind: "unavailable" });
      expect(await refusal(host.on("/y", standing), { parts: { limits: { idleMs: 50 } } })).to.include({ kind: "unavailable" });
      const late = await refusal(host.on("/z", standing), { parts: { limits: { totalMs: 50 } } });
      expect(late).to.include({ kind: "unavailable" });
      expect(late.message).to.include("not over in time");
      await host.quiet();
    });

    it("ends at once when it is broken off or the opener closes", async () => {
      const breakOff = new AbortController();
      const url = host.on("/x", (request, response) => {
        standing(request, response);
        breakOff.abort();
      });
      expect(await refusal(url, { signal: breakOff.signal })).to.include({ kind: "unavailable" });
      const opener = openerFor();
      const { bytes } = await openWith(opener, { kind: "url", url: host.on("/y", standing) });
      const reading = failureOf(contentOf({ bytes }));
      await opener.close();
      expect(await reading).to.include({ kind: "unavailable" });
      await host.quiet();
    });
  });

  it("never shows a query or a header", async () => {
    const secret = "X-Amz-Signature=c0ffee&token=hidden";
    const redirect = (to: string): string => host.on("/r", answering(302, { Location: to }));
    const urls = [
      host.on("/x", answering(404)),
      host.on("/html", answering(200, { "Content-Type": "text/html" })),
      host.on("/cut", cutting(LONG, [1_000])),
      redirect(`http://10.0.0.1/a?${secret}`),
      redirect(`ftp://10.0.0.1/a?${secret}`),
      redirect(`http://[?${secret}`),
      "http://127.0.0.1:1/closed",
      "http://no-such-name.invalid/x",
      "nothing",
    ];
    for (const url of urls) {
      const refused = await refusal(`${url}?${secret}`, { headers: { Authorization: "Bearer c0ffee-hidden" } });
      for (let error: unknown = refused; error instanceof Error; error = error.cause) expect(`${error.message} ${error.stack}`, url).to.not.match(/c0ffee|hidden/);
    }
    expect((await refusal(host.url("/x?token=hidden"))).message).to.equal(`The download of ${new URL(host.url("/x")).host}/x failed: it was answered with 404.`);
    const badHeader = await refusal(host.url("/x"), { headers: { "X-Key": "hidden\r\nX: y" } });
    expect(badHeader).to.include({ kind: "failed" });
    expect(badHeader.message).to.not.include("hidden");
  });
});

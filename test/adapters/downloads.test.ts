import { gzipSync, brotliCompressSync } from "node:zlib";
import { expect } from "chai";
import { assetOpenerContract } from "../contract/asset-opener.contract.js";
import { responding, cutting, FileHost, type Handler, serving } from "../support/file-host.js";
import { tinyMp3, tinyWav } from "../support/provider-kit/sounds.js";
import { loadUrl as load, openerFor, refusalOf as refusal } from "./downloads-support.js";

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

describe("GuardedAssetOpener with URLs", () => {
  let host: FileHost;
  beforeEach(async () => {
    host = await FileHost.open();
  });
  afterEach(() => host.close());

  it("asks for the file as it is, and says who asks", async () => {
    await load(host.on("/a.mp3", serving(FILE)), {
      headers: { Authorization: "Bearer k", Range: "bytes=5-", "Accept-Encoding": "gzip" },
    });
    const { headers } = host.requests[0] ?? {};
    expect(headers).to.include({
      "accept-encoding": "identity",
      "user-agent": "Fermata/1.2.3",
      authorization: "Bearer k",
    });
    expect(headers).to.not.have.property("range");
  });

  describe("by its answer", () => {
    const said = (status: number, body: string): string =>
      host.on("/x", responding(status, { "Content-Type": "application/xml" }, body));

    it("knows a link whose time is over", async () => {
      const bodies = [
        [403, "<Error><Code>AccessDenied</Code><Message>Request has expired</Message></Error>"],
        [400, "<Error><Code>ExpiredToken</Code><Message>The provided token has expired.</Message></Error>"],
        [
          403,
          "<Error><AuthenticationErrorDetail>Signature not valid in the specified time " +
            "frame</AuthenticationErrorDetail></Error>",
        ],
      ] as const;
      for (const [status, body] of bodies) expect(await refusal(said(status, body)), body).to.include({ kind: "gone" });
      expect(await refusal(said(403, "<Error><Code>AccessDenied</Code></Error>"))).to.include({ kind: "failed" });
      expect(await refusal(said(403, ""), { expiresAt: Date.now() - 1 })).to.include({ kind: "gone" });
      expect(await refusal(said(403, ""), { expiresAt: Date.now() + 60_000 })).to.include({ kind: "failed" });
    });

    it("keeps what Retry-After asks for", async () => {
      expect(await refusal(host.on("/x", responding(429, { "Retry-After": "7" })))).to.include({
        kind: "unavailable",
        retryAfterMs: 7_000,
      });
      expect(await refusal(host.on("/x", responding(503)))).to.include({ kind: "unavailable", retryAfterMs: null });
    });

    it("refuses other statuses", async () => {
      for (const status of [204, 206, 304, 400, 401, 402, 405, 418])
        expect(await refusal(host.on("/x", responding(status))), String(status)).to.include({ kind: "failed" });
    });

    it("refuses pages and answers for programs, but no other type that is wrong", async () => {
      for (const type of [
        "text/html",
        "TEXT/HTML; charset=utf-8",
        "application/json",
        "application/problem+json",
        "application/xhtml+xml",
      ]) {
        const refused = await refusal(host.on("/x", responding(200, { "Content-Type": type }, FILE)));
        expect(refused, type).to.include({ kind: "failed" });
      }
      for (const type of ["application/octet-stream", "binary/octet-stream", "application/xml", "video/mp4", ""]) {
        expect(await load(host.on("/x", responding(200, { "Content-Type": type }, FILE))), type).to.have.lengthOf(
          FILE.length,
        );
      }
    });

    it("refuses a file whose stated size is too large before it reads it, and any other while it reads", async () => {
      const endless: Handler = (_request, response) => {
        response.writeHead(200);
        const more = (): void => {
          while (response.writable && response.write(LONG));
        };
        response.on("drain", more);
        more();
      };
      expect(
        await refusal(
          host.on(
            "/x",
            (_request, response) => void response.writeHead(200, { "Content-Length": "2000000" }).flushHeaders(),
          ),
        ),
      ).to.include({ kind: "failed" });
      expect(await refusal(host.on("/x", endless))).to.include({ kind: "failed" });
      await host.quiet();
    });

    it("unpacks what came packed without being asked, within its bounds", async () => {
      expect(
        (await load(host.on("/x", responding(200, { "Content-Encoding": "gzip" }, gzipSync(FILE))))).equals(FILE),
      ).to.equal(true);
      expect(
        (await load(host.on("/x", responding(200, { "Content-Encoding": "br" }, brotliCompressSync(FILE))))).equals(
          FILE,
        ),
      ).to.equal(true);
      expect(
        (await load(host.on("/x", responding(200, { "Content-Encoding": "aws-chunked" }, FILE)))).equals(FILE),
      ).to.equal(true);
      const bomb = gzipSync(Buffer.concat([FILE, Buffer.alloc(20_000_000)]));
      for (const [coding, body] of [
        ["gzip", bomb],
        ["gzip", FILE],
        ["gzip, br", FILE],
        ["compress", FILE],
        ["__proto__", FILE],
        ["constructor", FILE],
      ] as const) {
        expect(await refusal(host.on("/x", responding(200, { "Content-Encoding": coding }, body))), coding).to.include({
          kind: "failed",
        });
      }
    });
  });

  it("never shows a query or a header", async () => {
    const secret = "X-Amz-Signature=c0ffee&token=hidden";
    const redirect = (to: string): string => host.on("/r", responding(302, { Location: to }));
    const urls = [
      host.on("/x", responding(404)),
      host.on("/html", responding(200, { "Content-Type": "text/html" })),
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
      for (let error: unknown = refused; error instanceof Error; error = error.cause)
        expect(`${error.message} ${error.stack}`, url).to.not.match(/c0ffee|hidden/);
    }
    expect((await refusal(host.url("/x?token=hidden"))).message).to.equal(
      `The download of ${new URL(host.url("/x")).host}/x failed: the server returned 404.`,
    );
    const badHeader = await refusal(host.url("/x"), { headers: { "X-Key": "hidden\r\nX: y" } });
    expect(badHeader).to.include({ kind: "failed" });
    expect(badHeader.message).to.not.include("hidden");
  });
});

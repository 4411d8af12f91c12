import { gzipSync } from "node:zlib";
import { expect } from "chai";
import { contentOf, failureOf } from "../contract/asset-opener.contract.js";
import { responding, cutting, FileHost, type Handler } from "../support/file-host.js";
import { tinyMp3, tinyWav } from "../support/provider-kit/sounds.js";
import { loadUrl as load, openerFor, openWith, refusalOf as refusal } from "./downloads-support.js";

const FILE = tinyMp3("downloads");
const LONG = Buffer.concat([tinyWav(), Buffer.alloc(400_000, "sound")]);
const RANGES = { "Accept-Ranges": "bytes", ETag: '"v1"' };

describe("GuardedAssetOpener with URLs, when the connection is interrupted", () => {
  let host: FileHost;
  beforeEach(async () => {
    host = await FileHost.open();
  });
  afterEach(() => host.close());

  it("asks for the rest of the same file", async () => {
    const url = host.on("/x", cutting(LONG, [100_000, 100_000, 300_000], RANGES));
    expect((await load(url)).equals(LONG)).to.equal(true);
    const rests = host.requests.slice(1).map(({ headers }) => [headers.range, headers["if-range"]]);
    expect(rests).to.deep.equal([
      ["bytes=100000-", '"v1"'],
      ["bytes=100000-", '"v1"'],
      ["bytes=300000-", '"v1"'],
    ]);
  });

  it("goes by the date where there is no strong tag", async () => {
    const dated = { "Accept-Ranges": "bytes", ETag: 'W/"v1"', "Last-Modified": "Sat, 21 Nov 2026 06:30:00 GMT" };
    expect((await load(host.on("/x", cutting(LONG, [100_000], dated)))).equals(LONG)).to.equal(true);
    expect(host.requests[1]?.headers["if-range"]).to.equal("Sat, 21 Nov 2026 06:30:00 GMT");
  });

  it("goes on with a packed file, too", async () => {
    const packed = gzipSync(
      Buffer.concat([FILE, Buffer.from(Array.from({ length: 300_000 }, (_, index) => (index * 2_654_435_761) >>> 24))]),
    );
    const url = host.on(
      "/x",
      cutting(packed, [Math.floor(packed.length / 2)], { ...RANGES, "Content-Encoding": "gzip" }),
    );
    expect(await load(url)).to.have.lengthOf(FILE.length + 300_000);
    expect(host.requests).to.have.lengthOf(2);
  });

  it("goes on after a moment's refusal, but not for ever", async () => {
    const once = cutting(LONG, [100_000], RANGES);
    expect((await load(host.on("/x", once, responding(503), once))).equals(LONG)).to.equal(true);
    const refused = await refusal(
      host.on("/y", cutting(LONG, [100_000], RANGES), responding(503, { "Retry-After": "9" })),
    );
    expect(refused).to.include({ kind: "unavailable", retryAfterMs: 9_000 });
    expect(host.of("/y")).to.have.lengthOf(6);
  });

  it("never joins two files: the caller fetches a changed file again", async () => {
    const changed = cutting(LONG, [], { ...RANGES, ETag: '"v2"' });
    expect(await refusal(host.on("/x", cutting(LONG, [100_000], RANGES), changed))).to.include({ kind: "unavailable" });
    expect(await refusal(host.on("/z", cutting(LONG, [100_000], RANGES), responding(416)))).to.include({
      kind: "unavailable",
    });
    const shifted: Handler = (_request, response) =>
      void response
        .writeHead(206, { "Content-Range": `bytes 0-9/${LONG.length}`, "Content-Length": "10" })
        .end(LONG.subarray(0, 10));
    expect(await refusal(host.on("/y", cutting(LONG, [100_000], RANGES), shifted))).to.include({ kind: "unavailable" });
    expect(host.requests).to.have.lengthOf(6);
  });

  it("says so when the file is gone by then", async () => {
    expect(await refusal(host.on("/x", cutting(LONG, [100_000], RANGES), responding(404)))).to.include({
      kind: "gone",
    });
  });

  it("is `unavailable` where the rest cannot be asked for, and names how much came", async () => {
    const unfit: readonly Readonly<Record<string, string>>[] = [
      {},
      { "Accept-Ranges": "none", ETag: '"v1"' },
      { "Accept-Ranges": "bytes" },
      { ...RANGES, ETag: 'W/"v1"' },
    ];
    for (const headers of unfit) {
      const refused = await refusal(host.on("/x", cutting(LONG, [100_000], headers)));
      expect(refused).to.include({ kind: "unavailable" });
      expect(refused.message).to.match(/interrupted after 100000 of \d+ bytes/);
    }
    const unsaid: Handler = (_request, response) =>
      response.writeHead(200).write(LONG.subarray(0, 100_000), () => response.socket?.end());
    expect(await refusal(host.on("/chunked", unsaid))).to.include({ kind: "unavailable" });
  });
});

describe("GuardedAssetOpener with URLs, when it takes too long", () => {
  let host: FileHost;
  beforeEach(async () => {
    host = await FileHost.open();
  });
  afterEach(() => host.close());

  const nothing: Handler = () => undefined;
  const standing: Handler = (_request, response) =>
    void response.writeHead(200, { "Content-Length": String(LONG.length) }).write(LONG.subarray(0, 1_000));

  it("is `unavailable`: no first byte, no progress, or a timeout", async () => {
    expect(await refusal(host.on("/x", nothing), { parts: { limits: { firstByteMs: 50 } } })).to.include({
      kind: "unavailable",
    });
    expect(await refusal(host.on("/y", standing), { parts: { limits: { idleMs: 50 } } })).to.include({
      kind: "unavailable",
    });
    const late = await refusal(host.on("/z", standing), { parts: { limits: { totalMs: 50 } } });
    expect(late).to.include({ kind: "unavailable" });
    expect(late.message).to.include("it timed out");
    await host.quiet();
  });

  it("ends at once when it is aborted or the opener closes", async () => {
    const interrupt = new AbortController();
    const url = host.on("/x", (request, response) => {
      standing(request, response);
      interrupt.abort();
    });
    expect(await refusal(url, { signal: interrupt.signal })).to.include({ kind: "unavailable" });
    const opener = openerFor();
    const { bytes } = await openWith(opener, { kind: "url", url: host.on("/y", standing) });
    const reading = failureOf(contentOf({ bytes }));
    await opener.close();
    expect(await reading).to.include({ kind: "unavailable" });
    await host.quiet();
  });
});

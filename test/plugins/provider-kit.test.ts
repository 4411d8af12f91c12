import { expect } from "chai";
import { unzipSync } from "fflate";
import { PNG } from "pngjs";
import {
  chunks,
  FakeApi,
  fault,
  json,
  providerHost,
  text,
  tinyMp3,
  tinyPng,
  tinyWav,
  tinyZip,
} from "../support/provider-kit/index.js";
import { decodeMp3 } from "../support/audio-analysis.js";

describe("FakeApi", () => {
  let fake: FakeApi;
  beforeEach(async () => {
    fake = await FakeApi.open();
  });
  afterEach(() => fake.close());

  const get = async (path: string): Promise<string> => (await fetch(fake.url + path)).text();

  it("sends each of the one-time responses once, then the lasting one", async () => {
    fake.on("GET", "/a", text("last")).once("GET", "/a", text("first"), text("second"));
    expect([await get("/a"), await get("/a"), await get("/a"), await get("/a")]).to.deep.equal([
      "first",
      "second",
      "last",
      "last",
    ]);
  });

  it("responds in place of a route once, and keeps the scripted response for the next call", async () => {
    fake.once("GET", "/a/:id", text("scripted")).instead({ method: "GET", path: "/a/:id" }, text("instead"));
    expect([await get("/a/1"), await get("/a/1")]).to.deep.equal(["instead", "scripted"]);
  });

  it("finds routes with names in them after those that are spelled out", async () => {
    fake
      .on("GET", "/tasks/:id", ({ params, query }) => json({ ...params, ...query }))
      .on("GET", "/tasks/all", text("all"))
      .on("GET", "/files/*", text("file"));
    expect([await get("/tasks/a%20b?full=1"), await get("/tasks/all"), await get("/files/x/y.mp3")]).to.deep.equal([
      '{"id":"a%20b","full":"1"}',
      "all",
      "file",
    ]);
  });

  it("records a request without a route, and responds with 501", async () => {
    const response = await fetch(`${fake.url}/nowhere`, { method: "PUT", body: "x" });
    expect([response.status, fake.unexpected, fake.requests[0]?.text]).to.deep.equal([501, ["PUT /nowhere"], "x"]);
  });

  it("cuts a response before it, within it, and before the request was read", async () => {
    const route = { method: "POST", path: "/a" };
    fake.on("POST", "/a", text("a whole answer"));
    for (const kind of ["cut-request", "cut-reply", "cut-body"] as const) {
      fake.spoil(route, kind);
      const result = fetch(`${fake.url}/a`, { method: "POST", body: "hello" }).then((response) => response.text());
      expect(
        await result.then(
          () => "whole",
          () => "cut",
        ),
      ).to.equal("cut");
    }
    expect(fake.calls(route).map((request) => request.text)).to.deep.equal(["", "hello", "hello"]);
  });

  it("hangs until the client goes away, and says when nothing is open", async () => {
    fake.on("GET", "/a", fault("hang"));
    const stop = new AbortController();
    const asked = fetch(`${fake.url}/a`, { signal: stop.signal }).catch(() => "gone");
    await fake.received({ method: "GET", path: "/a" });
    expect(fake.openRequests).to.equal(1);
    stop.abort();
    expect(await asked).to.equal("gone");
    await fake.idle();
  });

  it("responds when a test says so, and in chunks", async () => {
    let release = (): void => undefined;
    fake
      .on("GET", "/a", { after: new Promise<void>((resolve) => (release = resolve)), body: "late" })
      .on("GET", "/b", chunks(["one ", "two"], "text/plain"));
    const late = get("/a");
    await fake.received({ method: "GET", path: "/a" });
    expect(await get("/b")).to.equal("one two");
    release();
    expect(await late).to.equal("late");
  });

  it("reads the fields of forms", async () => {
    fake.on("POST", "/a", json({}));
    await fetch(`${fake.url}/a`, { method: "POST", body: new URLSearchParams({ q: "a b" }) });
    expect(fake.requests[0]?.fields).to.deep.equal([{ name: "q", value: "a b" }]);
  });

  it("refuses connections once it is closed, also a second time", async () => {
    await fake.close();
    await fake.close();
    expect(await get("/a").catch((error: Error) => (error.cause as NodeJS.ErrnoException).code)).to.equal(
      "ECONNREFUSED",
    );
  });
});

describe("Small files for tests", () => {
  it("are an MP3 that decodes, each mark another file", async () => {
    const { left } = await decodeMp3(tinyMp3("one", 0.5));
    expect(left.length / 44_100).to.be.closeTo(0.5, 0.06);
    expect(Buffer.compare(tinyMp3("one"), tinyMp3("two"))).to.not.equal(0);
    expect(tinyMp3("one").length).to.equal(tinyMp3("two").length);
  });

  it("are a PNG, a ZIP, and a WAV that says its size", () => {
    const png = PNG.sync.read(Buffer.from(tinyPng()));
    expect([png.width, png.height]).to.deep.equal([1, 1]);
    const wav = tinyWav(440, 0.1);
    expect(Buffer.from(unzipSync(tinyZip({ "stems/vocals.wav": wav }))["stems/vocals.wav"] ?? []).equals(wav)).to.equal(
      true,
    );
    expect([Buffer.from(wav).readUInt32LE(4), wav.length]).to.deep.equal([1_636, 1_644]);
  });
});

describe("providerHost", () => {
  it("keeps log lines as they were given, and the URLs that were fetched", async () => {
    const host = providerHost({ fetch: () => Promise.resolve(new Response("ok")) });
    await host.fetch("http://a.example/x");
    host.logger.warn("odd", { apiKey: "abc" });
    expect([host.fetched, host.lines]).to.deep.equal([
      ["http://a.example/x"],
      [{ level: "warn", message: "odd", fields: { apiKey: "abc" } }],
    ]);
  });
});

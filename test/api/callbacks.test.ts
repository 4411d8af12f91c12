import { expect } from "chai";
import { type MusicProvider, type ReceivedCallback } from "../../core/ports/music-provider.js";
import { dataOf, rawRequest } from "../support/api-client.js";
import { submitAccepts, SCRIPTED_TRACK, ScriptedProvider } from "../support/doubles/scripted-provider.js";
import { startTestApp, type TestApp } from "../support/test-app.js";

const HOUR = 3_600_000;
const PUBLIC_URL = "https://music.example.com/base";

/** Sends unsigned callbacks to the URL that it was given; later polls return completion. */
class Reporting extends ScriptedProvider {
  readonly heard: ReceivedCallback[] = [];
  override readonly definition = {
    ...this.define("scripted"),
    capabilities: { idempotentSubmit: true, lookup: false, cancel: false, callbacks: "hints" as const },
  };

  readonly parseCallback: MusicProvider["parseCallback"] = (callback) => {
    this.heard.push(callback);
    return Promise.resolve({ trust: "hint" });
  };
}

describe("POST /callbacks/{provider}/{job}/{token}", () => {
  let provider: Reporting;
  let testApp: TestApp;
  before(async () => {
    provider = new Reporting();
    provider.behaviour = submitAccepts(HOUR);
    provider.pollBehaviour = () =>
      Promise.resolve(
        provider.heard.length === 0
          ? { state: "running", nextPollMs: HOUR }
          : { state: "completed", tracks: [SCRIPTED_TRACK] },
      );
    testApp = await startTestApp({
      work: true,
      plugins: [provider.definition],
      settings: { http: { port: 0, publicUrl: PUBLIC_URL } },
    });
  });
  after(() => testApp.close());

  /** Creates a generation and waits until its provider got it. @returns its id, and the path of its callbacks */
  async function submitted(): Promise<{ readonly id: string; readonly path: string; status(): Promise<string> }> {
    const { api } = await testApp.account();
    const before = provider.submissions.length;
    const { id } = dataOf<{ id: string }>(
      await api.generate({ model_id: "scripted/song", prompt: "rain", instrumental: true }),
    );
    await provider.submitted(before + 1);
    const url = provider.submissions[before]?.callbackUrl ?? "";
    expect(url.slice(0, PUBLIC_URL.length)).to.equal(PUBLIC_URL);
    const ended = new Promise<void>((resolve) =>
      testApp.app.events.on("job.ended", ({ generation }) => (generation.id === id ? resolve() : undefined)),
    );
    return {
      id,
      path: url.slice(PUBLIC_URL.length),
      status: async () => {
        await ended;
        return dataOf<{ status: string }>(await api.get(`/api/v1/generations/${id}`)).status;
      },
    };
  }

  const send = (
    path: string,
    body: Uint8Array<ArrayBuffer> | string,
    headers: Record<string, string> = {},
  ): Promise<Response> => fetch(`${testApp.url}${path}`, { method: "POST", body, headers });

  it("stores the callback, returns 200, passes the raw bytes to the provider and polls the job at once", async () => {
    const { path, status } = await submitted();
    const bytes = new Uint8Array([0, 255, 10, 13, 123]);
    const response = await send(`${path}?stage=first`, bytes, { "X-Signature": "v1,abc", Cookie: "secret" });
    expect([response.status, await response.json()]).to.deep.equal([200, { received: true }]);
    expect(response.headers.get("cache-control")).to.equal("no-store");
    expect(await status()).to.equal("completed");
    const [heard] = provider.heard;
    expect(heard?.body).to.deep.equal(bytes);
    expect(heard?.query).to.deep.equal({ stage: "first" });
    expect(heard?.headers).to.include({ "x-signature": "v1,abc" }).and.not.have.property("cookie");
  });

  it("accepts any content type, and none", async () => {
    const { path } = await submitted();
    for (const type of ["application/json", "text/plain", "application/x-www-form-urlencoded", "multipart/form-data"]) {
      expect((await send(path, `body of ${type}`, { "Content-Type": type })).status, type).to.equal(200);
    }
    expect((await send(path, "")).status).to.equal(200);
  });

  it("returns 200 for a duplicate, and for a job that has ended", async () => {
    const { path, status } = await submitted();
    const responses = await Promise.all([send(path, "done"), send(path, "done")]);
    await status();
    responses.push(await send(path, "done"), await send(path, "late"));
    expect(responses.map((response) => response.status)).to.deep.equal([200, 200, 200, 200]);
  });

  it("returns 404 for an unknown address, the same for existing and missing jobs", async () => {
    const [{ path, id }, other] = [await submitted(), await submitted()];
    const wrong = [
      `${path}x`,
      path.replace(id, other.id),
      path.replace("/scripted/", "/synth/"),
      "/callbacks/scripted/job_1/t",
      path.replace(id, "job_01j00000000000000000000000"),
    ];
    for (const address of wrong) {
      const response = await send(address, "done");
      expect(
        [response.status, ((await response.json()) as { error: { code: string } }).error.code],
        address,
      ).to.deep.equal([404, "not_found"]);
    }
    await Promise.all([send(path, "done"), send(other.path, "done")]);
  });

  it("returns 404 with Connection: close for an unknown address before the body arrives", async () => {
    const { path } = await submitted();
    const head = (address: string): string => `POST ${address} HTTP/1.1\r\nHost: x\r\nContent-Length: 1048576\r\n\r\n`;
    const response = await rawRequest(testApp.url, head(`${path}x`));
    expect(response)
      .to.match(/^HTTP\/1\.1 404 /)
      .and.match(/\r\nConnection: close\r\n/)
      .and.include('"not_found"');
    await send(path, "done");
  });

  it("returns 413 for a body above one mebibyte, and 405 for other methods", async () => {
    const { path } = await submitted();
    expect((await send(path, new Uint8Array(1024 * 1024 + 1))).status).to.equal(413);
    expect((await send(path, new Uint8Array(1024 * 1024))).status).to.equal(200);
    const response = await fetch(`${testApp.url}${path}`);
    expect([response.status, response.headers.get("allow")]).to.deep.equal([405, "OPTIONS, POST"]);
  });
});

describe("A provider while http.publicUrl is not set", () => {
  it("gets no callback URL, and is polled", async () => {
    const provider = new Reporting();
    const testApp = await startTestApp({ work: true, plugins: [provider.definition] });
    const { api } = await testApp.account();
    await api.generate({ model_id: "scripted/song", prompt: "rain", instrumental: true });
    await provider.submitted();
    expect(provider.submissions[0]?.callbackUrl).to.equal(null);
    await testApp.close();
  });
});

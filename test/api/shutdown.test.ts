import { expect } from "chai";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { dataOf, refusalOf } from "../support/api-client.js";
import { submitHolds } from "../support/doubles/scripted-provider.js";
import { startTestApp, type TestApp } from "../support/test-app.js";

describe("Stopping", () => {
  let test: TestApp;
  beforeEach(async () => {
    test = await startTestApp({ work: true });
  });
  afterEach(() => test.close());

  it("ends waiting requests at once with the current state, and closes their connections", async () => {
    const { behaviour } = submitHolds();
    test.provider.behaviour = behaviour;
    const { api } = await test.account();
    const waiting = api.generate(undefined, { Prefer: "wait=60" });
    await test.provider.submitted();
    const [response] = await Promise.all([waiting, test.app.stop()]);
    expect(dataOf(response)["status"]).to.equal("processing");
    expect(response.headers.get("connection")).to.equal("close");
  });

  it("returns 503 to requests that arrive on open connections, and closes them", async () => {
    const { behaviour } = submitHolds();
    test.provider.behaviour = behaviour;
    const { key } = await test.account();
    const kept = await openConnection(test.url);
    // Half a request has arrived when the stop begins, so its connection is not idle.
    kept.write("GET /api/v1/me HTTP/1.1\r\nHost: x\r\n");
    await test.anonymous.get("/healthz"); // after this response the server has received the half
    const stopped = test.app.stop();
    kept.write(`Authorization: Bearer ${key}\r\n\r\n`);
    const response = await readToEnd(kept);
    await stopped;
    expect(response).to.match(/^HTTP\/1\.1 503 /);
    expect(response).to.match(/\r\nConnection: close\r\n/i);
    expect(response).to.match(/\r\nRetry-After: 1\r\n/i);
    expect(response).to.include('"code":"service_unavailable"');
  });

  it("closes idle connections and accepts no new ones", async () => {
    const idle = await openConnection(test.url);
    const ended = once(idle, "close");
    await test.app.stop();
    await ended;
    const refused = await openConnection(test.url).catch((error: NodeJS.ErrnoException) => error.code);
    expect(refused).to.equal("ECONNREFUSED");
  });
});

describe("Listening", () => {
  it("reports that a port is in use", async () => {
    const test = await startTestApp();
    const port = Number(new URL(test.url).port);
    try {
      const error = await startTestApp({ settings: { http: { port } } }).then(
        () => null,
        (thrown: Error) => thrown,
      );
      expect(error?.message).to.equal(`Cannot listen on 127.0.0.1:${port} (http.host, http.port): the port is in use.`);
    } finally {
      await test.close();
    }
  });

  it("determines the base of URLs in responses, unless settings name another", async () => {
    const test = await startTestApp({ settings: { http: { port: 0, publicUrl: "https://music.example.com" } } });
    try {
      const { api } = await test.account();
      const response = await api.generate(undefined, { Host: "evil.example.com" });
      expect(dataOf<{ readonly status_url: string }>(response).status_url).to.match(
        /^https:\/\/music\.example\.com\/api\/v1\/generations\/job_/,
      );
      expect(refusalOf(await test.anonymous.get("/nothing"))).to.equal("404 not_found");
    } finally {
      await test.close();
    }
  });
});

async function openConnection(url: string): Promise<Socket> {
  const socket = connect({ host: "127.0.0.1", port: Number(new URL(url).port) });
  await once(socket, "connect");
  return socket;
}

async function readToEnd(socket: Socket): Promise<string> {
  const chunks: Buffer[] = [];
  socket.on("data", (chunk) => chunks.push(chunk));
  await once(socket, "close");
  return Buffer.concat(chunks).toString();
}

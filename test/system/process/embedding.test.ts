import { once } from "node:events";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { expect } from "chai";
import express from "express";
import { ApiClient, dataOf, refusalOf } from "../../support/api-client.js";
import { SCRIPTED_AUDIO } from "../../support/doubles/scripted-provider.js";
import { startTestApp, type TestApp } from "../../support/test-app.js";

describe("Two apps in one process", () => {
  const apps: TestApp[] = [];
  afterEach(() => Promise.all(apps.splice(0).map((app) => app.close())));

  it("share neither accounts nor jobs nor events, and one keeps running when the other stops", async () => {
    const [left, right] = await Promise.all([startTestApp({ work: true }), startTestApp({ work: true })]);
    apps.push(left, right);
    const ended: string[] = [];
    const isHeard = new Promise<void>((resolve) =>
      right.app.events.on("job.ended", ({ generation }) => {
        ended.push(generation.id);
        resolve();
      }),
    );
    const [ofLeft, ofRight] = await Promise.all([left.account(), right.account()]);
    const { id } = dataOf<{ id: string }>(
      await ofLeft.api.generate(undefined, { Prefer: "wait=5", "Idempotency-Key": "one" }),
    );
    const { id: other } = dataOf<{ id: string }>(
      await ofRight.api.generate(undefined, { Prefer: "wait=5", "Idempotency-Key": "one" }),
    );

    expect(refusalOf(await new ApiClient(right.url, ofLeft.key).get("/api/v1/me"))).to.equal("401 invalid_api_key");
    expect(refusalOf(await ofRight.api.get(`/api/v1/generations/${id}`))).to.equal("404 job_not_found");
    await isHeard;
    expect(ended).to.deep.equal([other]);
    await left.app.stop();
    expect((await ofRight.api.get("/api/v1/me")).status).to.equal(200);
  });
});

describe("The router mounted in another Express app", () => {
  let server: Server;
  let test: TestApp;
  let url: string;
  before(async () => {
    const foreign = express();
    server = foreign.listen(0, "127.0.0.1");
    await once(server, "listening");
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    test = await startTestApp({ listen: false, work: true, settings: { http: { publicUrl: `${url}/music` } } });
    foreign.get("/", (_request, response) => void response.send("Nightingale Radio"));
    foreign.use("/music", test.app.router);
  });
  after(async () => {
    await test.close();
    server.close();
    server.closeAllConnections();
  });

  it("serves the API under the prefix, generates music, and returns links under the prefix", async () => {
    const api = new ApiClient(`${url}/music`, (await test.account()).key);
    expect(dataOf(await api.get("/api/v1/me"))).to.include({ account_tier: "pro" });
    const created = dataOf<{ id: string; status: string; status_url: string }>(
      await api.generate(undefined, { Prefer: "wait=5" }),
    );
    expect(created).to.include({ status: "completed", status_url: `${url}/music/api/v1/generations/${created.id}` });
    const { tracks } = dataOf<{ tracks: { play_url: string }[] }>(await api.get(`/api/v1/generations/${created.id}`));
    const link = tracks[0]?.play_url ?? "";
    expect(link).to.match(new RegExp(`^${url}/music/`));
    const played = await fetch(link);
    const bytes = new Uint8Array(await played.arrayBuffer());
    expect([played.status, played.headers.get("content-type"), bytes]).to.deep.equal([
      200,
      "audio/mpeg",
      SCRIPTED_AUDIO,
    ]);
  });

  it("leaves every other path to the host app", async () => {
    expect(await (await fetch(`${url}/`)).text()).to.equal("Nightingale Radio");
    expect((await fetch(`${url}/api/v1/me`)).status).to.equal(404);
  });

  it("returns 503 after the app has stopped, while the host app keeps running", async () => {
    const api = new ApiClient(`${url}/music`, (await test.account()).key);
    await test.app.stop();
    expect(refusalOf(await api.get("/api/v1/me"))).to.equal("503 service_unavailable");
    expect((await fetch(`${url}/`)).status).to.equal(200);
  });
});

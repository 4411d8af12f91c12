import { expect } from "chai";
import express from "express";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { A_GENERATION, ApiClient, dataOf, refusalOf } from "../support/api-client.js";
import { startTestApp, type TestApp } from "../support/test-app.js";

describe("The router mounted in another Express app", () => {
  let one: TestApp;
  let other: TestApp;
  let url: string;
  let close: () => void;
  before(async () => {
    one = await startTestApp({ listen: false, settings: { http: { publicUrl: "https://example.com/music" } } });
    other = await startTestApp({ listen: false });
    const app = express();
    app.use("/music", one.app.router);
    app.use("/parsed", express.json(), other.app.router);
    app.get("/own", (_request, response) => void response.json({ own: true }));
    const server = app.listen(0, "127.0.0.1");
    await once(server, "listening");
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    close = () => {
      server.close();
      server.closeAllConnections();
    };
  });
  after(async () => {
    close();
    await one.close();
    await other.close();
  });

  it("serves everything under its prefix, and ignores other paths", async () => {
    const { account, key } = await one.account();
    const api = new ApiClient(`${url}/music`, key);
    expect(dataOf(await api.get("/api/v1/me"))["id"]).to.equal(account.id);
    expect(refusalOf(await api.get("/api/v1/nothing"))).to.equal("404 not_found");
    expect(refusalOf(await api.send("PUT", "/api/v1/me"))).to.equal("405 method_not_allowed");
    expect((await api.get("/docs")).status).to.equal(200);
    const own = await new ApiClient(url, null).get("/own");
    expect([own.json, own.headers.get("x-request-id")]).to.deep.equal([{ own: true }, null]);
  });

  it("builds URLs from the configured public URL, not from the Host header", async () => {
    const { key } = await one.account();
    const response = await new ApiClient(`${url}/music`, key).generate();
    const { id, status_url } = dataOf<{ readonly id: string; readonly status_url: string }>(response);
    expect(status_url).to.equal(`https://example.com/music/api/v1/generations/${id}`);
    const description = (await new ApiClient(`${url}/music`, null).get("/openapi.json")).json as {
      readonly servers: unknown;
    };
    expect(description.servers).to.deep.equal([{ url: "https://example.com/music" }]);
  });

  it("works for two independent apps in one process", async () => {
    const [mine, theirs] = [await one.account(), await other.account()];
    const at = (prefix: string, key: string) => new ApiClient(`${url}${prefix}`, key).get("/api/v1/me");
    expect(dataOf(await at("/music", mine.key))["id"]).to.equal(mine.account.id);
    expect(dataOf(await at("/parsed", theirs.key))["id"]).to.equal(theirs.account.id);
    expect(refusalOf(await at("/parsed", mine.key))).to.equal("401 invalid_api_key");
    expect(refusalOf(await at("/music", theirs.key))).to.equal("401 invalid_api_key");
  });

  it("accepts a body that the host app has already parsed", async () => {
    const { key } = await other.account();
    const api = new ApiClient(`${url}/parsed`, key);
    expect((await api.generate(A_GENERATION)).status).to.equal(202);
    expect(refusalOf(await api.generate([]))).to.equal("400 invalid_request");
  });
});

import { once } from "node:events";
import { readdir } from "node:fs/promises";
import type { AddressInfo } from "node:net";
import { expect } from "chai";
import express from "express";
import { ApiClient } from "../support/api-client.js";
import { startTestApp, type TestApp } from "../support/test-app.js";
import { OWNER_TOKEN } from "./admin/admin-client.js";

const PAGES = { console: "/console", studio: "/" } as const;

describe("The pages", () => {
  let test: TestApp;
  let mounted: ApiClient;
  let close: () => void;
  before(async () => {
    test = await startTestApp({ settings: { admin: { token: OWNER_TOKEN } } });
    const app = express();
    app.use("/music", test.app.router);
    const server = app.listen(0, "127.0.0.1");
    await once(server, "listening");
    mounted = new ApiClient(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, null);
    close = () => {
      server.close();
      server.closeAllConnections();
    };
  });
  after(async () => {
    close();
    await test.close();
  });

  for (const [name, path] of Object.entries(PAGES)) {
    it(`are served without a key, under a policy that lets them reach this server alone: ${name}`, async () => {
      const page = await test.anonymous.get(path);
      expect([page.status, page.headers.get("content-type")]).to.deep.equal([200, "text/html; charset=utf-8"]);
      const policy = page.headers.get("content-security-policy") ?? "";
      expect(policy)
        .to.include("default-src 'none'")
        .and.include("script-src 'self'")
        .and.include("frame-ancestors 'none'");
      expect(policy).not.to.match(/unsafe|https?:|\*/);
      expect([page.headers.get("cache-control"), page.headers.get("referrer-policy")]).to.deep.equal([
        "no-store",
        "no-referrer",
      ]);
      expect(page.text).not.to.match(/<script(?![^>]* src=)|<style|style=/);
    });

    it(`load files that caches may keep, since their address names their contents: ${name}`, async () => {
      const { text } = await test.anonymous.get(path);
      const links = [...text.matchAll(/(?:src|href)="(pages\/[^"]+\?v=\w+)"/g)].map(([, link]) => link ?? "");
      expect(links.map((link) => link.split("?")[0])).to.deep.equal([`pages/${name}.css`, `pages/${name}.js`]);
      for (const [index, type] of ["text/css; charset=utf-8", "text/javascript; charset=utf-8"].entries()) {
        const file = await test.anonymous.get(`/${links[index]}`);
        expect([file.status, file.headers.get("content-type")]).to.deep.equal([200, type]);
        expect(file.headers.get("cache-control")).to.equal("public, max-age=31536000, immutable");
        expect(file.text).not.to.match(/https?:\/\/(?!www\.w3\.org\/)[a-z]/);
      }
    });

    it(`load what the script imports from here too, and only files of theirs: ${name}`, async () => {
      for (const script of await scriptsOf(name)) {
        const { status, headers, text } = await test.anonymous.get(`/pages/${script}`);
        expect([status, headers.get("cache-control")]).to.deep.equal([200, "public, max-age=31536000, immutable"]);
        expect(text).not.to.match(/https?:\/\/(?!www\.w3\.org\/)[a-z]/);
      }
      for (const strange of [`${name}-none.js`, `${name}-..%2F${name}.js`, `${name}-..%2F..%2Froutes.js`])
        expect((await test.anonymous.get(`/pages/${strange}`)).status).to.equal(404);
    });

    it(`have relative links that hold under a prefix: ${name}`, async () => {
      const [right, wrong] = name === "console" ? ["/music/console", "/music/console/"] : ["/music/", "/music"];
      const page = await mounted.get(right);
      expect(page.status).to.equal(200);
      const link = /src="([^"]+)"/.exec(page.text)?.[1] ?? "";
      expect((await mounted.get(new URL(link, `http://host${right}`).pathname)).status).to.equal(200);
      const moved = await mounted.get(`${wrong}?from=mail`);
      expect(moved.status).to.equal(308);
      const to = new URL(moved.headers.get("location") ?? "", `http://host${wrong}`);
      expect(to.pathname + to.search).to.equal(`${right}?from=mail`);
    });
  }

  /** All files of script of a page; the console's has parts. */
  async function scriptsOf(name: string): Promise<string[]> {
    const files = await readdir(new URL("../../adapters/http/generated/web/", import.meta.url));
    const own = files.filter((file) => file.startsWith(name) && file.endsWith(".js"));
    expect(own.length).to.be.greaterThan(name === "console" ? 6 : 0);
    return own;
  }

  it("name the licences of what they contain", async () => {
    const { status, text } = await test.anonymous.get("/pages/licences.txt");
    expect(status).to.equal(200);
    for (const name of ["preact", "openapi-fetch"])
      expect(text).to.match(new RegExp(`^${name} \\d+\\.\\d+\\.\\d+ \\(MIT\\)`, "m"));
  });

  it("are served at the port of the admin API, where that has one: the console there alone", async () => {
    const own = await startTestApp({ settings: { admin: { port: 0 } } });
    try {
      const admin = new ApiClient(own.adminUrl?.replace("/admin/v1", "") ?? "", null);
      expect((await admin.get("/console")).status).to.equal(200);
      expect((await admin.get("/")).status).to.equal(404);
      expect((await own.anonymous.get("/console")).status).to.equal(404);
      expect((await own.anonymous.get("/")).status).to.equal(200);
    } finally {
      await own.close();
    }
  });
});

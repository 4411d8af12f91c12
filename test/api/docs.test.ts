import { expect } from "chai";
import { startTestApp, type TestApp } from "../support/test-app.js";

describe("GET /docs", () => {
  let test: TestApp;
  before(async () => {
    test = await startTestApp();
  });
  after(() => test.close());

  it("serves a page whose files all come from the same origin", async () => {
    const page = await test.anonymous.get("/docs");
    expect(page.status).to.equal(200);
    expect(page.headers.get("content-type")).to.equal("text/html; charset=utf-8");
    const links = [...page.text.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, link]) => link as string);
    expect(links).to.have.length.above(4);
    for (const link of links) {
      const file = await test.anonymous.get(new URL(link, `${test.url}/docs`).href.slice(test.url.length));
      expect([file.status, new URL(link, `${test.url}/docs`).origin], link).to.deep.equal([200, test.url]);
      const expected = { js: "text/javascript", css: "text/css", png: "image/png", json: "application/json" }[
        link.split(".").at(-1) ?? ""
      ];
      expect(file.headers.get("content-type")?.split(";")[0], link).to.equal(expected);
    }
  });

  it("allows only this server as a source by its policy, and no inline script", async () => {
    const page = await test.anonymous.get("/docs");
    const policy = page.headers.get("content-security-policy") ?? "";
    expect(policy)
      .to.include("default-src 'none'")
      .and.to.include("script-src 'self'")
      .and.to.include("connect-src 'self'");
    expect(policy).not.to.include("unsafe");
    expect(policy).not.to.match(/https?:/);
    expect(page.text).not.to.match(/<script(?! src="docs\/[\w.-]+"><)/);
    expect(page.text).not.to.match(/<style|\son\w+=/);
  });

  it("is also served with a trailing slash", async () => {
    const response = await test.anonymous.get("/docs/");
    expect([response.status, response.headers.get("location")]).to.deep.equal([308, "../docs"]);
  });
});

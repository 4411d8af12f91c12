import { expect } from "chai";
import { startTestApp, type TestApp } from "../support/test-app.js";

const TYPES: Readonly<Record<string, string>> = {
  js: "text/javascript",
  css: "text/css",
  svg: "image/svg+xml",
  json: "application/json",
};

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
    expect(links).to.have.length(4);
    for (const link of links) {
      const { href, origin, pathname } = new URL(link, `${test.url}/docs`);
      const file = await test.anonymous.get(href.slice(test.url.length));
      expect([file.status, origin], link).to.deep.equal([200, test.url]);
      expect(file.headers.get("content-type")?.split(";")[0], link).to.equal(TYPES[pathname.split(".").at(-1) ?? ""]);
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
    expect(page.text).not.to.match(/<script(?! type="module" src="pages\/[\w.?=-]+"><)/);
    expect(page.text).not.to.match(/<style|\son\w+=/);
  });

  it("is also served with a trailing slash", async () => {
    const response = await test.anonymous.get("/docs/");
    expect([response.status, response.headers.get("location")]).to.deep.equal([308, "../docs"]);
  });

  it("is there without the studio, and then asks for no session of it", async () => {
    expect((await test.anonymous.get("/docs")).text).to.include(" data-studio>");
    const without = await startTestApp({ settings: { studio: { enabled: false } } });
    try {
      const page = await without.anonymous.get("/docs");
      expect([page.status, page.text.includes("data-studio")]).to.deep.equal([200, false]);
    } finally {
      await without.close();
    }
  });
});

describe("GET /openapi.json", () => {
  it("says which limit each operation counts in, and names its tags with generations first", async () => {
    const test = await startTestApp();
    try {
      const { text } = await test.anonymous.get("/openapi.json");
      const { tags, paths } = JSON.parse(text) as {
        readonly tags: readonly { readonly name: string }[];
        readonly paths: Readonly<
          Record<string, Record<string, { readonly tags: readonly string[]; readonly "x-rate-limit": string }>>
        >;
      };
      const operations = Object.values(paths).flatMap((methods) => Object.values(methods));
      expect(tags[0]?.name).to.equal("Generations");
      expect([...new Set(operations.flatMap((each) => each.tags))]).to.have.members(tags.map(({ name }) => name));
      expect(paths["/api/v1/models"]?.["get"]?.["x-rate-limit"]).to.equal("read");
      expect(paths["/api/v1/generations"]?.["post"]?.["x-rate-limit"]).to.equal("generation");
      expect(paths["/api/v1/tracks/{id}/stems"]?.["post"]?.["x-rate-limit"]).to.equal("generation");
      expect(paths["/api/v1/webhook-endpoints/{id}"]?.["delete"]?.["x-rate-limit"]).to.equal("write");
    } finally {
      await test.close();
    }
  });
});

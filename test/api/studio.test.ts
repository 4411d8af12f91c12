import { expect } from "chai";
import type { AudioStore } from "../../core/ports/audio-store.js";
import { ManualClock } from "../support/doubles/manual-clock.js";
import { startTestApp, type TestApp } from "../support/test-app.js";

const OWN_PAGE = { "Sec-Fetch-Site": "same-origin" };

describe("The page of the studio and its session", () => {
  const clock = new ManualClock(Date.parse("2026-11-25T04:00:00Z"));
  let test: TestApp;
  before(async () => {
    test = await startTestApp({ clock });
  });
  after(() => test.close());

  const session = (method: string, headers: Record<string, string> = OWN_PAGE, body?: object): Promise<Response> =>
    fetch(`${test.url}/api/v1/session`, {
      method,
      headers: { ...headers, ...(body === undefined ? {} : { "Content-Type": "application/json" }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  const isOpen = async (headers: Record<string, string>): Promise<unknown> => {
    const response = await session("GET", headers);
    expect([response.status, response.headers.get("cache-control")]).to.deep.equal([200, "no-store"]);
    return ((await response.json()) as { data: { is_open: boolean } }).data.is_open;
  };

  it("may load nothing from elsewhere, and names the public URL", async () => {
    const response = await fetch(`${test.url}/`);
    const policy = response.headers.get("content-security-policy");
    expect(policy).to.include("script-src 'self';").and.include("media-src 'self';").and.include("connect-src 'self';");
    expect(response.headers.get("referrer-policy")).to.equal("no-referrer");
    expect(await response.text()).to.include(`data-public-url="${test.url}"`);
  });

  it("has an address that may be written in odd ways", async () => {
    for (const path of ["//", "/?x=%", "/?code=x"])
      expect((await fetch(test.url + path)).status, path).to.be.below(500);
  });

  it("says whether there is a session, to its own page alone, and counts no failed authentication", async () => {
    const { account, key, keyId } = await test.account();
    const cookieOf = (response: Response): Record<string, string> => ({
      ...OWN_PAGE,
      Cookie: response.headers.get("set-cookie")?.split(";")[0] ?? "",
    });
    expect(await isOpen(OWN_PAGE)).to.equal(false);
    const byKey = cookieOf(await session("POST", OWN_PAGE, { api_key: key }));
    expect(await isOpen(byKey)).to.equal(true);
    expect(await isOpen({ ...byKey, "Sec-Fetch-Site": "cross-site" })).to.equal(false);
    expect(await isOpen({ ...OWN_PAGE, Cookie: "fermata_studio=forged" })).to.equal(false);

    const link = await test.app.studioLink(account.id);
    const [recorded] = await test.app.audit.list({ limit: 1 });
    expect(recorded).to.deep.include({
      action: "studio.link",
      accountId: account.id,
      fields: { expires_at: link?.expiresAt },
    });
    const code = new URLSearchParams(new URL(link?.url ?? "").hash.slice(1)).get("code");
    const byLink = cookieOf(await session("POST", OWN_PAGE, { code }));
    expect(await isOpen(byLink)).to.equal(true);
    await test.app.accounts.revokeKey(keyId);
    clock.set(clock.now() + 2_000);
    expect(await isOpen(byKey)).to.equal(false);
    for (let each = 0; each < 150; each += 1) await isOpen(OWN_PAGE);
    clock.set(link?.expiresAt ?? 0);
    const refused = await session("POST", OWN_PAGE, { code });
    expect(refused.status).to.equal(401);
    expect(await isOpen(byLink), "a session outlives its link").to.equal(true);
    clock.set(clock.now() + 7 * 24 * 3_600_000);
    expect(await isOpen(byLink)).to.equal(false);
  });
});

describe("The page of the studio where audio is in a bucket", () => {
  const store: Pick<AudioStore, "linkTo"> = {
    linkTo: (key) => Promise.resolve(`https://bucket.example:9000/music/${key}?signature=theirs`),
  };
  let test: TestApp;
  before(async () => {
    test = await startTestApp({ audio: store as AudioStore, settings: { admin: { token: "t".repeat(32) } } });
  });
  after(() => test.close());

  const policyOf = async (path: string): Promise<string> =>
    (await fetch(`${test.url}${path}`)).headers.get("content-security-policy") ?? "";

  it("may load audio and covers from there, and scripts and styles not", async () => {
    const policy = await policyOf("/");
    for (const source of ["img-src", "media-src", "connect-src"])
      expect(policy).to.include(`${source} 'self' https://bucket.example:9000`);
    expect(policy).to.include("script-src 'self';").and.include("style-src 'self';");
  });

  it("is alone in that", async () => {
    expect(await policyOf("/console"))
      .to.include("media-src 'self';")
      .and.not.include("bucket");
  });
});

describe("Where studio.enabled is false", () => {
  let test: TestApp;
  before(async () => {
    test = await startTestApp({ settings: { studio: { enabled: false } } });
  });
  after(() => test.close());

  it("there is no page, no session and no link", async () => {
    for (const path of ["/", "/pages/studio.js", "/api/v1/session"])
      expect((await fetch(`${test.url}${path}`)).status, path).to.equal(404);
    expect(await test.app.studioLink((await test.account()).account.id)).to.equal(null);
  });
});

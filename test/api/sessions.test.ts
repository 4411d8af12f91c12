import { expect } from "chai";
import { AesSecretBox } from "../../adapters/crypto/secret-box.js";
import { studioCode } from "../../adapters/http/sessions/studio-session.js";
import type { ApiClient } from "../support/api-client.js";
import { type ApiResponse, dataOf, issuePaths, refusalOf } from "../support/api-client.js";
import { FixedKeyring } from "../support/doubles/fixed-keyring.js";
import { ManualClock } from "../support/doubles/manual-clock.js";
import { eventually } from "../support/process.js";
import { startTestApp, type TestAccount, type TestApp } from "../support/test-app.js";
import { AdminClient, OWNER_TOKEN } from "./admin/admin-client.js";

const JSON_BODY = { "Content-Type": "application/json" };
/** What a browser says of the requests of the server's own pages. */
const OWN_PAGE = { "Sec-Fetch-Site": "same-origin" };
const HOUR_MS = 3_600_000;

describe("The sessions of the pages", () => {
  const clock = new ManualClock();
  const secretBox = new AesSecretBox(new FixedKeyring());
  let test: TestApp;
  let caller: TestAccount;
  let admin: AdminClient;
  let publicUrl: string;

  before(async () => {
    test = await startTestApp({
      clock,
      secretBox,
      settings: { admin: { token: OWNER_TOKEN }, rateLimits: { authFailures: { perMinute: 10_000 } } },
    });
    caller = await test.account();
    admin = new AdminClient(`${test.url}/admin/v1`, OWNER_TOKEN);
    publicUrl = test.url;
  });
  after(() => test.close());

  const api = (): ApiClient => test.anonymous;
  const post = (
    path: string,
    body: unknown,
    headers: Readonly<Record<string, string>> = OWN_PAGE,
  ): Promise<ApiResponse> => api().send("POST", path, { headers: { ...JSON_BODY, ...headers }, body });
  const cookieIn = (response: ApiResponse): string => (response.headers.get("set-cookie") ?? "").split(";")[0] ?? "";
  const codeOf = (account: string): string =>
    studioCode({ secretBox, clock, publicUrl: { current: publicUrl } }, account).code;

  const consoleCookie = async (token = OWNER_TOKEN): Promise<string> =>
    cookieIn(await post("/admin/v1/session", { token }));
  const studioCookie = async (): Promise<string> => cookieIn(await post("/api/v1/session", { api_key: caller.key }));

  const PAGES = {
    console: { cookie: () => consoleCookie(), session: "/admin/v1/session", me: "/admin/v1/me" },
    studio: { cookie: () => studioCookie(), session: "/api/v1/session", me: "/api/v1/me" },
  } as const;

  for (const [page, { cookie, session, me }] of Object.entries(PAGES)) {
    describe(`of the ${page}`, () => {
      it("are a cookie that scripts cannot read, other sites cannot send, and only the API gets", async () => {
        const body = page === "console" ? { token: OWNER_TOKEN } : { api_key: caller.key };
        const response = await post(session, body);
        const [pair = "", ...attributes] = (response.headers.get("set-cookie") ?? "").split("; ");
        expect(pair).to.match(new RegExp(`^fermata_${page}=v2\\.[\\w.-]+$`));
        expect(pair).not.to.include(Object.values(body)[0]);
        expect(attributes.filter((one) => !one.startsWith("Max-Age="))).to.deep.equal(["HttpOnly", "SameSite=Strict"]);
        expect((await api().get(me, { Cookie: pair, ...OWN_PAGE })).status).to.equal(200);
      });

      it("count for requests of the server's own pages alone", async () => {
        const Cookie = await cookie();
        const get = async (headers: Readonly<Record<string, string>>): Promise<number> =>
          (await api().get(me, { Cookie, ...headers })).status;
        expect(await get(OWN_PAGE)).to.equal(200);
        for (const site of ["cross-site", "same-site", "none"])
          expect(await get({ "Sec-Fetch-Site": site })).to.equal(401);
        // What a browser sends over plain http: Origin with every method but GET.
        expect(await get({})).to.equal(200);
        const change = async (headers: Readonly<Record<string, string>>): Promise<number> =>
          (await api().send("DELETE", session, { headers })).status;
        expect(await change({ Origin: test.url })).to.equal(200);
        expect(await change({})).to.equal(401);
        for (const origin of ["null", "http://evil.example", test.url.replace(/:\d+$/, ":1")])
          expect(await change({ Origin: origin }), origin).to.equal(401);
        expect(await change({ Origin: test.url, "Sec-Fetch-Site": "cross-site" })).to.equal(401);
      });

      it("end when they are ended, and after a time", async () => {
        const Cookie = await cookie();
        const ended = await api().send("DELETE", session, { headers: OWN_PAGE });
        expect(ended.headers.get("set-cookie")).to.match(new RegExp(`^fermata_${page}=; Max-Age=0; HttpOnly`));
        expect((await api().get(me, { Cookie, ...OWN_PAGE })).status).to.equal(200);
        clock.set(clock.now() + (page === "console" ? 12 : 7 * 24) * HOUR_MS);
        expect(refusalOf(await api().get(me, { Cookie, ...OWN_PAGE }))).to.equal("401 authentication_required");
      });

      it("cannot be forged, changed, or used at the other page", async () => {
        const Cookie = await cookie();
        const other = page === "console" ? "fermata_studio" : "fermata_console";
        const at = page === "console" ? "/api/v1/me" : "/admin/v1/me";
        const value = Cookie.slice(Cookie.indexOf("=") + 1);
        for (const wrong of ["", "v2.x.y", value.slice(0, -2), `${value}x`, secretBox.seal("{}", "else")])
          expect((await api().get(me, { Cookie: `fermata_${page}=${wrong}`, ...OWN_PAGE })).status).to.equal(401);
        expect((await api().get(at, { Cookie: `${other}=${value}`, ...OWN_PAGE })).status).to.equal(401);
      });

      it("need a body of the right shape, and a secret that is right", async () => {
        const secret = page === "console" ? "token" : "api_key";
        expect(issuePaths(await post(session, {}))).to.deep.equal([`body.${secret}`]);
        expect(issuePaths(await post(session, { [secret]: 7 }))).to.deep.equal([`body.${secret}`]);
        expect(issuePaths(await post(session, { [secret]: "x", remember: true }))).to.deep.equal(["body.remember"]);
        expect(refusalOf(await post(session, []))).to.equal("400 invalid_request");
        const wrong = await post(session, { [secret]: "wrong" });
        expect([refusalOf(wrong), wrong.headers.get("set-cookie")]).to.deep.equal(["401 invalid_api_key", null]);
        expect((await post(session, { [secret]: "wrong" }, { "Sec-Fetch-Site": "cross-site" })).status).to.equal(401);
      });
    });
  }

  it("of the console are the token's: its role, its name in the audit log, and its end", async () => {
    const issued = dataOf<{ id: string; token: string }>(
      await admin.send("POST", "/tokens", { name: "night shift", role: "operate" }),
    );
    const headers = { Cookie: await consoleCookie(issued.token), ...OWN_PAGE };
    expect(dataOf(await api().get("/admin/v1/me", headers))).to.deep.equal({ name: "night shift", role: "operate" });
    const suspend = await api().send("POST", `/admin/v1/accounts/${caller.account.id}/suspend`, {
      headers: { ...headers, ...JSON_BODY },
      body: {},
    });
    expect(suspend.status).to.equal(200);
    await admin.send("POST", `/accounts/${caller.account.id}/resume`);
    const { records } = dataOf<{ records: { actor: string }[] }>(await admin.get("/audit?action=accounts.suspend"));
    expect(records[0]?.actor).to.equal("night shift (admin API)");
    expect(refusalOf(await api().get("/admin/v1/tokens", headers))).to.equal("403 insufficient_scope");
    await admin.delete(`/tokens/${issued.id}`);
    await clock.advance(2_000);
    expect(refusalOf(await api().get("/admin/v1/me", headers))).to.equal("401 revoked_api_key");
  });

  it("of the studio are the key's: its scopes, and its end", async () => {
    const { key, token } = await test.app.accounts.issueKey(caller.account.id, { scopes: ["profile:read"] });
    const headers = { Cookie: cookieIn(await post("/api/v1/session", { api_key: token })), ...OWN_PAGE };
    expect(dataOf(await api().get("/api/v1/me", headers))["id"]).to.equal(caller.account.id);
    expect(refusalOf(await api().get("/api/v1/credits", headers))).to.equal("403 insufficient_scope");
    await test.app.accounts.revokeKey(key.id);
    await eventually("the session has ended", async () => {
      await clock.advance(1_000);
      return (await api().get("/api/v1/me", headers)).status === 401;
    });
  });

  it("of the studio come from the code of a link too, for 12 hours", async () => {
    const code = codeOf(caller.account.id);
    const headers = { Cookie: cookieIn(await post("/api/v1/session", { code })), ...OWN_PAGE };
    expect(dataOf(await api().get("/api/v1/me", headers))["id"]).to.equal(caller.account.id);
    expect((await api().generate(undefined, headers)).status).to.equal(202);
    clock.set(clock.now() + 12 * HOUR_MS);
    expect(refusalOf(await post("/api/v1/session", { code }))).to.equal("401 invalid_api_key");
    expect(refusalOf(await post("/api/v1/session", { code: secretBox.seal("{}", "else") }))).to.equal(
      "401 invalid_api_key",
    );
    expect(issuePaths(await post("/api/v1/session", { code, api_key: caller.key }))).to.deep.equal(["body.code"]);
  });

  it("are refused to an account that is suspended meanwhile", async () => {
    const { account, key } = await test.account();
    const headers = { Cookie: cookieIn(await post("/api/v1/session", { api_key: key })), ...OWN_PAGE };
    await test.app.accounts.suspend(account.id);
    await clock.advance(2_000);
    expect(refusalOf(await api().get("/api/v1/me", headers))).to.equal("403 account_suspended");
  });

  it("are sent over https alone where the public URL is https", async () => {
    const secure = await startTestApp({ settings: { http: { publicUrl: "https://example.com/music" } } });
    try {
      const { key } = await secure.account();
      const send = (Origin: string): Promise<ApiResponse> =>
        secure.anonymous.send("POST", "/api/v1/session", { headers: { ...JSON_BODY, Origin }, body: { api_key: key } });
      expect((await send("https://example.com")).headers.get("set-cookie")).to.include("; Secure");
      expect((await send("https://example.com:8443")).status).to.equal(401);
    } finally {
      await secure.close();
    }
  });

  it("are not there where their page is switched off", async () => {
    const off = await startTestApp({
      settings: { studio: { enabled: false }, admin: { token: OWNER_TOKEN, console: false } },
    });
    try {
      const send = (path: string, body: object): Promise<ApiResponse> =>
        off.anonymous.send("POST", path, { headers: { ...JSON_BODY, ...OWN_PAGE }, body });
      expect(refusalOf(await send("/api/v1/session", { api_key: "x" }))).to.equal("404 not_found");
      expect(refusalOf(await send("/admin/v1/session", { token: OWNER_TOKEN }))).to.equal("404 not_found");
      for (const path of ["/", "/console", "/pages/studio.js", "/pages/console.js"])
        expect((await off.anonymous.get(path)).status, path).to.equal(404);
    } finally {
      await off.close();
    }
  });
});

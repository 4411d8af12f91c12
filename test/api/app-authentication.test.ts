import { once } from "node:events";
import { request as sendRaw } from "node:http";
import type { AddressInfo } from "node:net";
import { expect } from "chai";
import express, { type Request } from "express";
import type { SignedInCaller } from "../../config/index.js";
import { ServiceUnavailableError } from "../../core/errors.js";
import { ApiClient, type ApiResponse, dataOf, refusalOf } from "../support/api-client.js";
import { ManualClock } from "../support/doubles/manual-clock.js";
import { tinyMp3 } from "../support/provider-kit/sounds.js";
import { startTestApp, type TestAccount, type TestApp } from "../support/test-app.js";

const COOKIE = "session-of-alice-4711";

interface WithUser extends Request {
  /** Put there by the middleware of the app. */
  signedIn?: string;
}

describe("An app that authenticates requests itself", () => {
  let test: TestApp;
  let caller: TestAccount;
  let close: () => void;
  let url: string;
  let asked: number;
  /** What the app says of a session that it knows. */
  let respond: (account: TestAccount) => SignedInCaller | null | undefined | Promise<SignedInCaller>;

  beforeEach(async () => {
    asked = 0;
    respond = ({ account }) => ({ accountId: account.id });
    test = await startTestApp({
      listen: false,
      // No minute of a rate limit ends meanwhile.
      clock: new ManualClock(),
      authenticate: (request: WithUser) => {
        asked += 1;
        return request.signedIn === COOKIE ? respond(caller) : null;
      },
      settings: {
        http: { publicUrl: "https://example.com/music" },
        rateLimits: { authFailures: { perMinute: 5 } },
        tiers: { plus: { rateLimits: { read: { perMinute: 2 } } } },
      },
    });
    caller = await test.account();
    const app = express();
    app.use((request: WithUser, _response, next) => {
      const cookie = /(?:^|; )session=([^;]+)/.exec(request.headers.cookie ?? "")?.[1];
      if (cookie !== undefined) request.signedIn = cookie;
      next();
    });
    app.use("/music", test.app.router);
    const server = app.listen(0, "127.0.0.1");
    await once(server, "listening");
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/music`;
    close = () => {
      server.close();
      server.closeAllConnections();
    };
  });
  afterEach(async () => {
    close();
    await test.close();
  });

  const signedIn = (headers: Readonly<Record<string, string>> = {}) => ({ Cookie: `session=${COOKIE}`, ...headers });
  const withoutKey = (): ApiClient => new ApiClient(url, null);
  const getMe = (headers = signedIn()): Promise<ApiResponse> => withoutKey().get("/api/v1/me", headers);

  /** The paths and statuses in the request log of an account, oldest first. */
  async function logged({ key }: TestAccount): Promise<string[]> {
    const { logs } = dataOf<{ readonly logs: readonly { method: string; path: string; status_code: number }[] }>(
      await new ApiClient(url, key).get("/api/v1/logs"),
    );
    return logs.map(({ method, path, status_code }) => `${method} ${path} ${status_code}`).reverse();
  }

  it("serves its signed-in users as their accounts, and logs their requests", async () => {
    expect(dataOf(await getMe())["id"]).to.equal(caller.account.id);
    const created = await withoutKey().generate(undefined, signedIn());
    expect(created.status).to.equal(202);
    const jobs = await test.app.jobs.list({ accountId: caller.account.id, limit: 10 });
    expect(jobs.map(({ id }) => id)).to.deep.equal([dataOf<{ id: string }>(created).id]);
    expect(await logged(caller)).to.deep.equal(["GET /api/v1/me 200", "POST /api/v1/generations 202"]);
    expect(asked).to.equal(2);
  });

  it("is not asked about requests with a key, which are those of the key's account", async () => {
    const other = await test.account();
    expect(dataOf(await new ApiClient(url, other.key).get("/api/v1/me", signedIn()))["id"]).to.equal(other.account.id);
    for (const header of ["Bearer frm_wrong", "Bearer", "bearer x y"]) {
      const refused = await getMe(signedIn({ Authorization: header }));
      expect(refused.status, header).to.equal(401);
    }
    expect(asked).to.equal(0);
    expect(await logged(caller)).to.deep.equal([]);
  });

  it("is asked about requests whose Authorization is another scheme", async () => {
    const me = await getMe(signedIn({ Authorization: "Basic YWxpY2U6cGFzc3dvcmQ=" }));
    expect(dataOf(me)["id"]).to.equal(caller.account.id);
  });

  it("refuses those that it does not know, which count as failed authentications of their address", async () => {
    const refused = await getMe({ Cookie: "session=unknown" });
    expect(refusalOf(refused)).to.equal("401 authentication_required");
    expect(refused.headers.get("www-authenticate")).to.equal("Bearer");
    respond = () => undefined;
    expect(refusalOf(await getMe())).to.equal("401 authentication_required");
    for (let count = 0; count < 3; count++) await getMe({ Cookie: "session=unknown" });
    expect(refusalOf(await getMe({ Cookie: "session=unknown" }))).to.equal("429 rate_limited");
    expect(await logged(caller)).to.deep.equal([]);
  });

  it("grants scopes as a key has them", async () => {
    respond = ({ account }) => ({ accountId: account.id, scopes: ["profile:read"] });
    expect((await getMe()).status).to.equal(200);
    expect(refusalOf(await withoutKey().generate(undefined, signedIn()))).to.equal("403 insufficient_scope");
    respond = ({ account }) => ({ accountId: account.id, scopes: [] });
    expect(refusalOf(await getMe())).to.equal("403 insufficient_scope");
    expect(await logged(caller)).to.deep.equal([
      ...["GET /api/v1/me 200", "POST /api/v1/generations 403", "GET /api/v1/me 403"],
    ]);
  });

  it("lets accounts in only as keys do: terms, suspension, the rate limits of their tier", async () => {
    caller = await test.account({ acceptTerms: false });
    expect(refusalOf(await getMe())).to.equal("403 api_terms_not_accepted");
    caller = await test.account();
    await test.app.accounts.suspend(caller.account.id);
    expect(refusalOf(await getMe())).to.equal("403 account_suspended");
    caller = await test.account({ tier: "plus" });
    const first = await getMe();
    expect([first.status, first.headers.get("ratelimit")]).to.satisfy(
      ([status, header]: [number, string]) => status === 200 && header.includes('"read-minute";r=1'),
    );
    expect((await new ApiClient(url, caller.key).get("/api/v1/me")).status).to.equal(200);
    expect(refusalOf(await getMe())).to.equal("429 rate_limited");
  });

  it("fails with 500, logged without what the request carries, where it throws", async () => {
    const errors: readonly (() => Error)[] = [
      () => new Error(`no row for ${COOKIE} in sessions`, { cause: new Error(`SELECT '${COOKIE}'`) }),
      () => Object.assign(new Error("GET failed"), { config: { headers: { Cookie: COOKIE } }, status: 200 }),
      () => `session ${COOKIE} is broken` as unknown as Error,
      () => ({ statusCode: 200, session: COOKIE }) as unknown as Error,
    ];
    for (const create of errors) {
      respond = () => Promise.reject(create());
      const failed = await getMe();
      expect(refusalOf(failed)).to.equal("500 internal_error");
      expect(failed.text).to.not.include(COOKIE).and.not.include("sessions");
    }
    const lines = test.logger.lines.filter(({ level }) => level === "error");
    expect(lines).to.have.lengthOf(errors.length);
    const text = JSON.stringify(lines);
    expect(text).to.include("The app's authenticate failed.").and.include("no row for [redacted] in sessions");
    expect(text).to.include("SELECT").and.not.include(COOKIE);
    expect(await logged(caller)).to.deep.equal([]);
  });

  it("fails with 503 where Fermata's storage is what failed it", async () => {
    respond = () => Promise.reject(new ServiceUnavailableError("The storage cannot be reached. Try again."));
    expect(refusalOf(await getMe())).to.equal("503 service_unavailable");
  });

  it("fails with 500, named in the log, where it returns something else than an account that is there", async () => {
    const wrong: readonly (readonly [returned: unknown, logged: string])[] = [
      [{ accountId: "acct_01j00000000000000000000000" }, "named an account that does not exist"],
      [{ accountId: "alice" }, "named an account that does not exist"],
      [{ accountId: 7 }, "returned something else than { accountId, scopes }"],
      [true, "returned something else than { accountId, scopes }"],
      ["alice", "returned something else than { accountId, scopes }"],
      [{ accountId: caller.account.id, scopes: ["admin"] }, "unknown scopes"],
      [{ accountId: caller.account.id, scopes: "profile:read" }, "unknown scopes"],
    ];
    for (const [returned, message] of wrong) {
      test.logger.lines.length = 0;
      respond = () => returned as SignedInCaller;
      expect(refusalOf(await getMe()), JSON.stringify(returned)).to.equal("500 internal_error");
      expect(JSON.stringify(test.logger.lines), JSON.stringify(returned)).to.include(message);
    }
  });

  describe("and pages of other sites, whose requests carry its cookies too", () => {
    const upload = (headers: Readonly<Record<string, string>>): Promise<number> => {
      const form = new FormData();
      form.set("audio", new Blob([tinyMp3()], { type: "audio/mpeg" }), "hum.mp3");
      return postForm(`${url}/api/v1/tracks`, form, signedIn(headers));
    };

    it("does not authenticate a form that another site sends", async () => {
      expect(await upload({ "Sec-Fetch-Site": "cross-site", Origin: "https://evil.example" })).to.equal(401);
      expect(await upload({ Origin: "https://evil.example" })).to.equal(401);
      expect(await upload({ Origin: "null" })).to.equal(401);
      expect(asked).to.equal(0);
      expect(await logged(caller)).to.deep.equal([]);
    });

    it("authenticates forms of its own pages, and those that no browser sends", async () => {
      expect(await upload({ "Sec-Fetch-Site": "same-origin", Origin: "https://example.com" })).to.equal(201);
      expect(await upload({ "Sec-Fetch-Site": "same-site", Origin: "https://app.example.com" })).to.equal(201);
      expect(await upload({ Origin: "https://example.com" })).to.equal(201);
      expect(await upload({ Origin: "http://127.0.0.1:5173" })).to.equal(201);
      expect(await upload({})).to.equal(201);
    });

    it("authenticates reads, and refuses JSON under the media types of forms", async () => {
      expect((await getMe(signedIn({ "Sec-Fetch-Site": "cross-site" }))).status).to.equal(200);
      const asText = await withoutKey().generate(undefined, signedIn({ "Content-Type": "text/plain" }));
      expect(refusalOf(asText)).to.equal("415 unsupported_media_type");
      expect(await test.app.jobs.list({ accountId: caller.account.id, limit: 10 })).to.deep.equal([]);
    });

    it("lets a key post from anywhere: no browser adds it by itself", async () => {
      const { key } = await test.account();
      expect(await upload({ "Sec-Fetch-Site": "cross-site", Authorization: `Bearer ${key}` })).to.equal(201);
    });
  });
});

/** With headers that `fetch` keeps for itself. @returns the status */
async function postForm(url: string, form: FormData, headers: Readonly<Record<string, string>>): Promise<number> {
  const encoded = new Response(form);
  const body = Buffer.from(await encoded.arrayBuffer());
  const type = encoded.headers.get("content-type") ?? "";
  const request = sendRaw(url, { method: "POST", headers: { "Content-Type": type, ...headers } });
  request.end(body);
  const [response] = (await once(request, "response")) as [{ statusCode: number; resume(): void }];
  response.resume();
  return response.statusCode;
}

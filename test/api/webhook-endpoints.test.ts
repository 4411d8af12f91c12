import { expect } from "chai";
import { AddressPolicy, DnsAddressGuard } from "../../adapters/network/index.js";
import type { AddressExceptions } from "../../adapters/network/index.js";
import { type ApiResponse, type ApiClient, dataOf, issuePaths, refusalOf } from "../support/api-client.js";
import { startTestApp, type TestApp, type TestAppOptions } from "../support/test-app.js";

const PATH = "/api/v1/webhook-endpoints";
const HOOK = "https://hooks.example.com/fermata";
const ANYWHERE = "203.0.113.7";

interface Endpoint {
  readonly id: string;
  readonly url: string;
  readonly status: string;
  readonly signing_secret_prefix: string;
  readonly signing_secret?: string;
  readonly created_at: string;
  readonly updated_at: string;
  readonly disabled_at: string | null;
}

/** Names that the name servers of this test resolve. */
const NAMES: Readonly<Record<string, readonly string[]>> = {
  "hooks.example.com": ["93.184.215.14", "2606:2800:21f:cb07:6820:80da:af6b:8b2c"],
  "other.example.com": ["93.184.215.15"],
  "inside.example.com": ["10.1.2.3"],
  "mixed.example.com": ["93.184.215.14", "169.254.169.254"],
};

function startWithNames(exceptions: AddressExceptions = {}, options: TestAppOptions = {}): Promise<TestApp> {
  const resolve = (name: string): Promise<readonly string[]> => {
    const addresses = NAMES[name];
    return addresses === undefined ? Promise.reject(new Error("the name does not exist")) : Promise.resolve(addresses);
  };
  return startTestApp({ addressGuard: new DnsAddressGuard(new AddressPolicy(exceptions), resolve), ...options });
}

const post = (api: ApiClient, body: unknown): Promise<ApiResponse> =>
  api.send("POST", PATH, { headers: { "Content-Type": "application/json" }, body });
const patch = (api: ApiClient, id: string, body: unknown): Promise<ApiResponse> =>
  api.send("PATCH", `${PATH}/${id}`, { headers: { "Content-Type": "application/json" }, body });
let registered = 0;
/** A URL that no account has yet. */
const another = (): string => `${HOOK}/${(registered += 1)}`;
const register = async (api: ApiClient, url = another()): Promise<Endpoint> =>
  dataOf<Endpoint>(await post(api, { url }));
const list = async (api: ApiClient, query = ""): Promise<Endpoint[]> =>
  dataOf<{ readonly webhook_endpoints: Endpoint[] }>(await api.get(`${PATH}${query}`)).webhook_endpoints;

describe("Webhook endpoints", () => {
  let test: TestApp;
  let api: ApiClient;
  before(async () => {
    test = await startWithNames();
  });
  beforeEach(async () => {
    ({ api } = await test.account());
  });
  after(() => test.close());

  describe("POST /api/v1/webhook-endpoints", () => {
    it("returns 201 with the endpoint and, only this time, its whole secret", async () => {
      const response = await post(api, { url: HOOK });
      expect(response.status).to.equal(201);
      const { signing_secret: secret, ...endpoint } = dataOf<Endpoint>(response);
      expect(secret).to.match(/^whsec_[A-Za-z0-9+/]{43}=$/);
      expect(endpoint).to.deep.equal({
        id: endpoint.id,
        url: HOOK,
        status: "active",
        signing_secret_prefix: secret?.slice(0, 12),
        created_at: endpoint.created_at,
        updated_at: endpoint.created_at,
        disabled_at: null,
      });
      expect(endpoint.id).to.match(/^whe_[0-9a-z]{26}$/);
      expect(await list(api)).to.deep.equal([endpoint]);
    });

    it("creates a different secret for every endpoint", async () => {
      const [one, two] = [await register(api), await register(api)];
      expect(one.signing_secret).not.to.equal(two.signing_secret);
    });

    it("stores the URL's normalised form", async () => {
      expect((await register(api, "HTTPS://Hooks.Example.com:443/a/../b")).url).to.equal("https://hooks.example.com/b");
    });

    const refusals: readonly (readonly [url: string, code: string])[] = [
      ["", "webhook_url_invalid"],
      ["hooks.example.com/x", "webhook_url_invalid"],
      [`https://hooks.example.com/${"x".repeat(2_048)}`, "webhook_url_invalid"],
      ["http://hooks.example.com/", "webhook_https_required"],
      ["ftp://user@127.0.0.1/", "webhook_https_required"],
      ["https://user:secret@127.0.0.1/", "webhook_credentials_forbidden"],
      ["https://localhost/", "webhook_host_blocked"],
      ["https://LOCALHOST./", "webhook_host_blocked"],
      ["https://127.1/", "webhook_host_blocked"],
      ["https://2130706433/", "webhook_host_blocked"],
      ["https://[::ffff:10.0.0.1]/", "webhook_host_blocked"],
      ["https://169.254.169.254/latest/meta-data", "webhook_host_blocked"],
      [`https://${ANYWHERE}/`, "webhook_host_blocked"],
      ["https://intranet/", "webhook_host_blocked"],
      ["https://db.internal/", "webhook_host_blocked"],
      ["https://inside.example.com/", "webhook_host_blocked"],
      ["https://mixed.example.com/", "webhook_host_blocked"],
    ];
    for (const [url, code] of refusals) {
      it(`refuses ${JSON.stringify(url.slice(0, 50))} as ${code}`, async () => {
        expect(refusalOf(await post(api, { url }))).to.equal(`400 ${code}`);
        expect(await list(api, "?status=all")).to.deep.equal([]);
      });
    }

    it("accepts a host name that does not resolve, and logs a warning", async () => {
      await register(api, "https://not-yet.example.com/");
      const warning = test.logger.lines.find(({ message }) => message.includes("does not resolve"));
      expect(warning?.fields).to.deep.include({ host: "not-yet.example.com" });
    });

    it("refuses a URL that is not a string, a missing URL and unknown fields, naming each", async () => {
      expect(issuePaths(await post(api, { url: 7 }))).to.deep.equal(["body.url"]);
      expect(issuePaths(await post(api, {}))).to.deep.equal(["body.url"]);
      expect(issuePaths(await post(api, { url: HOOK, secret: "mine" }))).to.deep.equal(["body.secret"]);
    });

    it("accepts 20 endpoints of an account, disabled ones included", async () => {
      const first = await register(api);
      await patch(api, first.id, { status: "disabled" });
      for (let created = 1; created < 20; created++) await register(api);
      const response = await post(api, { url: HOOK });
      expect([refusalOf(response), issuePaths(response)]).to.deep.equal(["400 invalid_request", ["body.url"]]);
      const other = await test.account();
      expect((await post(other.api, { url: HOOK })).status).to.equal(201);
      await api.send("DELETE", `${PATH}/${first.id}`);
      expect((await post(api, { url: HOOK })).status).to.equal(201);
    });

    it("accepts no more than 20 when requests arrive at once", async () => {
      const responses = await Promise.all(Array.from({ length: 25 }, () => post(api, { url: another() })));
      expect(responses.map(({ status }) => status).sort()).to.deep.equal([
        ...Array<number>(20).fill(201),
        ...Array<number>(5).fill(400),
      ]);
      expect(await list(api)).to.have.length(20);
    });

    it("stores no readable secret", async () => {
      const { signing_secret: secret = "" } = await register(api);
      expect(JSON.stringify(test.logger.lines)).not.to.include(secret);
      const [kept] = await test.app.webhooks.endpoints.list(
        (await test.app.webhooks.endpoint((await register(api)).id)).accountId,
      );
      expect(JSON.stringify(kept)).not.to.include(secret.slice(12));
    });
  });

  describe("GET /api/v1/webhook-endpoints", () => {
    it("lists active ones newest first, others by status, never with a secret", async () => {
      const [one, two, three] = [await register(api), await register(api), await register(api)];
      await patch(api, two.id, { status: "disabled" });
      const ids = async (query: string): Promise<string[]> => (await list(api, query)).map(({ id }) => id);
      expect(await ids("")).to.deep.equal([three.id, one.id]);
      expect(await ids("?status=active")).to.deep.equal([three.id, one.id]);
      expect(await ids("?status=disabled")).to.deep.equal([two.id]);
      expect(await ids("?status=all")).to.deep.equal([three.id, two.id, one.id]);
      for (const endpoint of await list(api, "?status=all")) expect(endpoint).not.to.have.property("signing_secret");
    });

    for (const status of ["asleep", "", "Active", "active&status=all"]) {
      it(`refuses status=${status}`, async () => {
        const response = await api.get(`${PATH}?status=${status}`);
        expect([refusalOf(response), issuePaths(response)]).to.deep.equal(["400 invalid_request", ["query.status"]]);
      });
    }

    it("returns no endpoints of another account", async () => {
      await register(api);
      expect(await list((await test.account()).api, "?status=all")).to.deep.equal([]);
    });
  });

  describe("PATCH /api/v1/webhook-endpoints/{id}", () => {
    it("disables and enables the endpoint", async () => {
      const { id, created_at } = await register(api);
      const off = dataOf<Endpoint>(await patch(api, id, { status: "disabled" }));
      expect(off).to.include({ id, status: "disabled", created_at });
      expect(off.disabled_at).to.be.a("string");
      expect(dataOf<Endpoint>(await patch(api, id, { status: "disabled" })).disabled_at).to.equal(off.disabled_at);
      expect(dataOf<Endpoint>(await patch(api, id, { status: "active" }))).to.include({
        status: "active",
        disabled_at: null,
      });
    });

    it("changes the URL by the same rules", async () => {
      const { id } = await register(api);
      expect(dataOf<Endpoint>(await patch(api, id, { url: "https://other.example.com" })).url).to.equal(
        "https://other.example.com/",
      );
      expect(refusalOf(await patch(api, id, { url: "http://other.example.com" }))).to.equal(
        "400 webhook_https_required",
      );
      expect(refusalOf(await patch(api, id, { url: "https://inside.example.com", status: "disabled" }))).to.equal(
        "400 webhook_host_blocked",
      );
      expect((await list(api))[0]).to.include({ url: "https://other.example.com/", status: "active" });
    });

    it("changes nothing for an empty body", async () => {
      const { signing_secret: _secret, ...endpoint } = await register(api);
      expect(dataOf<Endpoint>(await patch(api, endpoint.id, {}))).to.deep.equal(endpoint);
    });

    it("refuses another status and unknown fields, naming each", async () => {
      const { id } = await register(api);
      expect(issuePaths(await patch(api, id, { status: "paused" }))).to.deep.equal(["body.status"]);
      expect(issuePaths(await patch(api, id, { url: null }))).to.deep.equal(["body.url"]);
      expect(issuePaths(await patch(api, id, { id: "whe_1" }))).to.deep.equal(["body.id"]);
    });
  });

  describe("DELETE /api/v1/webhook-endpoints/{id}", () => {
    it("removes the endpoint once", async () => {
      const { id } = await register(api);
      expect(dataOf(await api.send("DELETE", `${PATH}/${id}`))).to.deep.equal({ id, deleted: true });
      expect(await list(api, "?status=all")).to.deep.equal([]);
      expect(refusalOf(await api.send("DELETE", `${PATH}/${id}`))).to.equal("404 webhook_endpoint_not_found");
    });
  });

  it("of another account, and unknown ones, return 404, whatever else is wrong", async () => {
    const { id } = await register(api);
    const otherAccount = (await test.account()).api;
    for (const unknown of [id, "whe_01m7ytc0ar5c8m0vgw1fjz3q0e", "nonsense"]) {
      expect(refusalOf(await patch(otherAccount, unknown, { url: "http://127.0.0.1" })), unknown).to.equal(
        "404 webhook_endpoint_not_found",
      );
      expect(refusalOf(await otherAccount.send("DELETE", `${PATH}/${unknown}`)), unknown).to.equal(
        "404 webhook_endpoint_not_found",
      );
    }
    expect(await list(api)).to.have.length(1);
  });

  it("require no scope, and their writes have a separate rate limit", async () => {
    const { api: narrow } = await test.account({ scopes: ["models:read"] });
    const response = await post(narrow, { url: HOOK });
    expect(response.status).to.equal(201);
    expect(response.headers.get("RateLimit-Policy")).to.match(/^"write-minute";/);
    expect((await narrow.get(PATH)).headers.get("RateLimit-Policy")).to.match(/^"read-minute";/);
  });
});

describe("Webhook endpoints under changed settings", () => {
  let test: TestApp;
  before(async () => {
    test = await startWithNames(
      { allowNetworks: ["127.0.0.0/8", "10.0.0.0/8"], allowHosts: ["receiver"] },
      {
        settings: {
          webhooks: { allowHttp: true },
          http: { port: 0, webhookScope: "profile:read" },
          rateLimits: { write: { perMinute: 2, perDay: 5 } },
        },
      },
    );
  });
  after(() => test.close());

  for (const url of [
    "http://127.0.0.1:9000/",
    "http://localhost:9000/",
    "https://inside.example.com/",
    "http://receiver/",
  ]) {
    it(`may be at ${url}`, async () => {
      expect(await register((await test.account()).api, url)).to.include({ url });
    });
  }

  it("are refused in every other private network", async () => {
    expect(refusalOf(await post((await test.account()).api, { url: "http://192.168.0.1/" }))).to.equal(
      "400 webhook_host_blocked",
    );
  });

  it("require the configured scope", async () => {
    const { api } = await test.account({ scopes: ["models:read"] });
    expect(refusalOf(await api.get(PATH))).to.equal("403 insufficient_scope");
    expect(refusalOf(await post(api, { url: HOOK }))).to.equal("403 insufficient_scope");
  });

  it("can be written as often as the limit allows", async () => {
    const { api } = await test.account();
    const { id } = await register(api);
    await patch(api, id, {});
    const response = await api.send("DELETE", `${PATH}/${id}`);
    expect(refusalOf(response)).to.equal("429 rate_limited");
    expect(response.headers.get("Retry-After")).to.match(/^\d+$/);
    expect((await api.get(PATH)).status).to.equal(200);
  });
});

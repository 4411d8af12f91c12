import { expect } from "chai";
import { A_GENERATION, type ApiResponse, ApiClient, errorOf, refusalOf } from "../support/api-client.js";
import { ManualClock } from "../support/doubles/manual-clock.js";
import { startTestApp, type TestApp } from "../support/test-app.js";

const SETTINGS = {
  rateLimits: {
    read: { perMinute: 3, perDay: 5 },
    generation: { perMinute: 2, perDay: 4 },
    write: { perMinute: 2, perDay: 4 },
    authFailures: { perMinute: 3 },
  },
};

const MINUTE_MS = 60_000;

for (const store of ["memory", "shared"]) {
  describe(`Rate limits, with the store ${store}`, () => {
    const clock = new ManualClock();
    let test: TestApp;
    before(async () => {
      test = await startTestApp({ settings: { ...SETTINGS, rateLimits: { ...SETTINGS.rateLimits, store } }, clock });
    });
    after(() => test.close());

    const stateOf = ({ headers }: ApiResponse): string | null => headers.get("ratelimit");
    const times = async (count: number, send: () => Promise<ApiResponse>): Promise<ApiResponse[]> => {
      const responses = [];
      for (let sent = 0; sent < count; sent++) responses.push(await send());
      return responses;
    };

    describe("of reads", () => {
      it("show both windows in the headers and count down", async () => {
        const { api } = await test.account();
        const first = await api.get("/api/v1/me");
        expect(first.headers.get("ratelimit-policy")).to.equal('"read-minute";q=3;w=60, "read-day";q=5;w=86400');
        expect(stateOf(first)).to.equal('"read-minute";r=2;t=60, "read-day";r=4;t=86400');
        clock.set(clock.now() + 10_000);
        expect(stateOf(await api.get("/api/v1/credits"))).to.equal('"read-minute";r=1;t=50, "read-day";r=3;t=86390');
      });

      it("write the headers as structured fields, as the IETF draft defines them", async () => {
        const { api } = await test.account();
        const { headers } = await api.get("/api/v1/me");
        expect(itemsOf(headers.get("ratelimit-policy"))).to.deep.equal([
          ["read-minute", { q: 3, w: 60 }],
          ["read-day", { q: 5, w: 86_400 }],
        ]);
        expect(itemsOf(headers.get("ratelimit"))).to.deep.equal([
          ["read-minute", { r: 2, t: 60 }],
          ["read-day", { r: 4, t: 86_400 }],
        ]);
      });

      it("refuse requests over the limit with Retry-After, and do not count these", async () => {
        const { api } = await test.account();
        await times(3, () => api.get("/api/v1/me"));
        for (const response of await times(2, () => api.get("/api/v1/me"))) {
          expect(refusalOf(response)).to.equal("429 rate_limited");
          expect(errorOf(response).details).to.deep.equal({ limit: 3, window_seconds: 60, retry_after_seconds: 60 });
          expect(response.headers.get("retry-after")).to.equal("60");
          expect(stateOf(response)).to.equal('"read-minute";r=0;t=60, "read-day";r=2;t=86400');
        }
        clock.set(clock.now() + MINUTE_MS);
        expect((await api.get("/api/v1/me")).status).to.equal(200);
      });

      it("refuse requests until the next day when the day's limit is used up", async () => {
        const { api } = await test.account();
        await times(3, () => api.get("/api/v1/me"));
        clock.set(clock.now() + MINUTE_MS);
        await times(2, () => api.get("/api/v1/me"));
        const response = await api.get("/api/v1/me");
        expect(errorOf(response).details).to.deep.equal({
          limit: 5,
          window_seconds: 86_400,
          retry_after_seconds: 86_340,
        });
      });

      it("count per account, whichever key is used, errors and HEAD included", async () => {
        const { account, api } = await test.account();
        const second = new ApiClient(test.url, (await test.app.accounts.issueKey(account.id)).token);
        expect((await api.get("/api/v1/jobs/x")).status).to.equal(404);
        expect((await second.get("/api/v1/generations?limit=x")).status).to.equal(400);
        expect((await second.send("HEAD", "/api/v1/me")).status).to.equal(200);
        expect((await api.get("/api/v1/me")).status).to.equal(429);
      });

      it("do not count a 403, whose headers show the current state", async () => {
        const { api } = await test.account({ scopes: ["credits:read"] });
        await api.get("/api/v1/credits");
        for (const response of await times(5, () => api.get("/api/v1/me"))) {
          expect([response.status, stateOf(response)]).to.deep.equal([
            403,
            '"read-minute";r=2;t=60, "read-day";r=4;t=86400',
          ]);
        }
      });
    });

    describe("of generations", () => {
      it("are separate", async () => {
        const { api } = await test.account();
        const [first, second, third] = await times(3, () => api.generate());
        expect(first?.headers.get("ratelimit-policy")).to.equal(
          '"generation-minute";q=2;w=60, "generation-day";q=4;w=86400',
        );
        expect(stateOf(second as ApiResponse)).to.equal('"generation-minute";r=0;t=60, "generation-day";r=2;t=86400');
        expect(refusalOf(third as ApiResponse)).to.equal("429 rate_limited");
        expect(errorOf(third as ApiResponse).details).to.deep.equal({
          limit: 2,
          window_seconds: 60,
          retry_after_seconds: 60,
        });
        expect(third?.headers.get("retry-after")).to.equal("60");
        expect((await api.get("/api/v1/me")).status).to.equal(200);
      });

      it("count refused requests too", async () => {
        const { api } = await test.account({ credits: 0 });
        expect((await api.generate()).status).to.equal(402);
        expect((await api.generate({})).status).to.equal(400);
        expect((await api.generate()).status).to.equal(429);
      });

      it("return 429 over the limit whatever else is wrong", async () => {
        const { api } = await test.account();
        await times(2, () => api.generate());
        const json = { "Content-Type": "application/json" };
        const wrong = [
          await api.generate({}),
          await api.generate("{"),
          await api.generate({ ...A_GENERATION, model_id: "no/model" }),
          await api.send("POST", "/api/v1/generations", { headers: json, body: A_GENERATION }),
          await api.send("POST", "/api/v1/generations", { headers: { "Content-Type": "text/plain" }, body: "x" }),
        ];
        for (const response of wrong) expect(refusalOf(response)).to.equal("429 rate_limited");
      });

      it("count a replay as a read, and give the counted generation back", async () => {
        const { api } = await test.account();
        const once = { "Idempotency-Key": "once" };
        const first = await api.generate(A_GENERATION, once);
        const again = await api.generate(A_GENERATION, once);
        expect([again.status, again.text]).to.deep.equal([202, first.text]);
        expect(stateOf(again)).to.equal('"read-minute";r=2;t=60, "read-day";r=4;t=86400');
        const next = await api.generate();
        expect([next.status, stateOf(next)]).to.deep.equal([
          202,
          '"generation-minute";r=0;t=60, "generation-day";r=2;t=86400',
        ]);
      });

      it("let a replay pass over the limit, and refuse it only when the reads are used up", async () => {
        const { api } = await test.account();
        const once = { "Idempotency-Key": "once" };
        await api.generate(A_GENERATION, once);
        await api.generate();
        const responses = await times(4, () => api.generate(A_GENERATION, once));
        expect(responses.map(({ status }) => status)).to.deep.equal([202, 202, 202, 429]);
        expect(responses[3]?.headers.get("ratelimit-policy")).to.match(/^"read-minute"/);
        expect(errorOf(responses[3] as ApiResponse).details).to.deep.equal({
          limit: 3,
          window_seconds: 60,
          retry_after_seconds: 60,
        });
      });

      it("return 409 for a reused key over the limit, and count it as a read", async () => {
        const { api } = await test.account();
        const once = { "Idempotency-Key": "once" };
        await api.generate(A_GENERATION, once);
        await api.generate();
        const reused = await api.generate({ ...A_GENERATION, prompt: "snow" }, once);
        expect(refusalOf(reused)).to.equal("409 idempotency_conflict");
        expect(stateOf(reused)).to.equal('"read-minute";r=2;t=60, "read-day";r=4;t=86400');
        const shaped = await api.generate({ ...A_GENERATION, client: "x" }, once);
        expect(refusalOf(shaped)).to.equal("409 idempotency_key_conflict");
      });

      it("do not count a 403, whose headers show the current state", async () => {
        const { api } = await test.account({ scopes: ["generations:read"] });
        for (const response of await times(3, () => api.generate())) {
          expect([response.status, stateOf(response)]).to.deep.equal([
            403,
            '"generation-minute";r=2;t=60, "generation-day";r=4;t=86400',
          ]);
        }
      });
    });
  });
}

describe("Failed authentications", () => {
  const clock = new ManualClock();
  const apps: TestApp[] = [];
  afterEach(() => Promise.all(apps.splice(0).map((app) => app.close())));

  /** An app with unused limits. */
  async function start(http: object = {}, rateLimits: object = {}): Promise<TestApp> {
    const settings = { rateLimits: { ...SETTINGS.rateLimits, ...rateLimits }, http: { port: 0, ...http } };
    const app = await startTestApp({ settings, clock });
    apps.push(app);
    return app;
  }

  const from = (address: string) => ({ "X-Forwarded-For": address });
  /** The responses to requests without a key, each forwarded for one of these addresses. */
  async function statuses({ anonymous }: TestApp, addresses: readonly string[]): Promise<number[]> {
    const found: number[] = [];
    for (const address of addresses) found.push((await anonymous.get("/api/v1/me", from(address))).status);
    return found;
  }

  for (const store of ["memory", "shared"]) {
    it(`block their address with 429 for a minute; a valid key still passes (${store})`, async () => {
      const test = await start({}, { store });
      const { api, key } = await test.account();
      const wrong = new ApiClient(test.url, `${key}x`);
      expect((await test.anonymous.get("/api/v1/me")).status).to.equal(401);
      expect((await wrong.get("/api/v1/me")).status).to.equal(401);
      expect((await test.anonymous.generate()).status).to.equal(401);
      for (const client of [test.anonymous, wrong]) {
        const response = await client.get("/api/v1/me");
        expect(refusalOf(response)).to.equal("429 rate_limited");
        expect(errorOf(response).details).to.deep.equal({ limit: 3, window_seconds: 60, retry_after_seconds: 60 });
        expect(response.headers.get("retry-after")).to.equal("60");
        expect(response.headers.get("ratelimit")).to.equal(null);
      }
      expect((await api.get("/api/v1/me")).status).to.equal(200);
      clock.set(clock.now() + MINUTE_MS);
      expect((await test.anonymous.get("/api/v1/me")).status).to.equal(401);
    });
  }

  it("do not count for unknown paths and methods", async () => {
    const test = await start();
    for (let count = 0; count < 5; count++) {
      await test.anonymous.get("/nothing");
      await test.anonymous.send("PUT", "/api/v1/me");
      await test.anonymous.send("OPTIONS", "/api/v1/me");
    }
    expect((await test.anonymous.get("/api/v1/me")).status).to.equal(401);
  });

  it("count by the peer address when no proxy is trusted, whatever a header says", async () => {
    expect(await statuses(await start(), ["203.0.113.1", "203.0.113.2", "203.0.113.3", "203.0.113.4"])).to.deep.equal([
      401, 401, 401, 429,
    ]);
  });

  it("read the address from no other header, even of a trusted proxy", async () => {
    const { anonymous } = await start({ trustProxy: ["loopback"] });
    const found: number[] = [];
    for (const count of [1, 2, 3, 4]) {
      const address = `203.0.113.${count}`;
      const headers = {
        Forwarded: `for=${address}`,
        "X-Real-IP": address,
        "X-Client-IP": address,
        "CF-Connecting-IP": address,
      };
      found.push((await anonymous.get("/api/v1/me", headers)).status);
    }
    expect(found).to.deep.equal([401, 401, 401, 429]);
  });

  it("count by the forwarded address when the proxy's network is trusted", async () => {
    for (const trustProxy of [["loopback"], ["127.0.0.0/8", "::1/128"], ["10.0.0.0/8", "127.0.0.1"]]) {
      const test = await start({ trustProxy });
      expect(
        await statuses(test, ["203.0.113.7", "203.0.113.7", "203.0.113.7", "203.0.113.7", "203.0.113.8"]),
      ).to.deep.equal([401, 401, 401, 429, 401]);
    }
  });

  it("count by the peer address when another network is trusted", async () => {
    const test = await start({ trustProxy: ["10.0.0.0/8"] });
    expect(await statuses(test, ["203.0.113.1", "203.0.113.2", "203.0.113.3", "203.0.113.4"])).to.deep.equal([
      401, 401, 401, 429,
    ]);
  });

  it("count by the address that the last trusted hop saw, not by one that a client wrote", async () => {
    const forged = [1, 2, 3, 4].map((count) => `198.51.100.${count}, 203.0.113.7`);
    expect(await statuses(await start({ trustProxy: 1 }), forged)).to.deep.equal([401, 401, 401, 429]);
    expect(
      await statuses(
        await start({ trustProxy: ["loopback", "10.0.0.0/8"] }),
        forged.map((chain) => `${chain}, 10.1.2.3`),
      ),
    ).to.deep.equal([401, 401, 401, 429]);
    const twoHops = [1, 2, 3, 4].map((count) => `192.0.2.${count}, 198.51.100.1, 203.0.113.7`);
    expect(await statuses(await start({ trustProxy: 2 }), twoHops)).to.deep.equal([401, 401, 401, 429]);
    const apart = [1, 2, 3, 4].map((count) => `198.51.100.${count}, 203.0.113.7`);
    expect(await statuses(await start({ trustProxy: 2 }), apart)).to.deep.equal([401, 401, 401, 401]);
  });

  it("count a /64 network of IPv6 as one address, and an IPv4 address in any notation", async () => {
    const test = await start({ trustProxy: ["loopback"] });
    const network = ["2001:db8:0:1::1", "2001:db8:0:1:ffff::2", "2001:DB8::1:0:0:0:3", "2001:db8:0:1::4"];
    expect(await statuses(test, network)).to.deep.equal([401, 401, 401, 429]);
    expect(await statuses(test, ["2001:db8:0:2::1"])).to.deep.equal([401]);
    const spellings = ["203.0.113.9", "::ffff:203.0.113.9", "::ffff:cb00:7109", "203.0.113.9"];
    expect(await statuses(test, spellings)).to.deep.equal([401, 401, 401, 429]);
  });
});

describe("Rate limits of a tier", () => {
  it("replace the general ones", async () => {
    const test = await startTestApp({ settings: { tiers: { plus: { rateLimits: { read: { perMinute: 7 } } } } } });
    try {
      const { api } = await test.account({ tier: "plus" });
      expect((await api.get("/api/v1/me")).headers.get("ratelimit-policy")).to.match(/^"read-minute";q=7;w=60, /);
    } finally {
      await test.close();
    }
  });
});

/** A list of strings with integer parameters, exactly by the grammar of RFC 9651. */
function itemsOf(field: string | null): [string, Record<string, number>][] {
  const item = /^"([\x20-\x21\x23-\x5b\x5d-\x7e]*)"((?:;[a-z*][a-z0-9_.*-]*=(?:0|[1-9]\d{0,14}))+)$/;
  return (field ?? "").split(/[ \t]*,[ \t]*/).map((text) => {
    const [, name = "", parameters = ""] = item.exec(text) ?? [];
    expect(name, text).to.not.equal("");
    const pairs = parameters
      .slice(1)
      .split(";")
      .map((parameter) => parameter.split("=") as [string, string]);
    return [name, Object.fromEntries(pairs.map(([key, value]): [string, number] => [key, Number(value)]))];
  });
}

import { expect } from "chai";
import { A_GENERATION, type Answer, ApiClient, errorOf, refusalOf } from "../support/api-client.js";
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

describe("Rate limits", () => {
  const clock = new ManualClock();
  let test: TestApp;
  before(async () => {
    test = await startTestApp({ settings: SETTINGS, clock });
  });
  after(() => test.close());

  const stateOf = ({ headers }: Answer): string | null => headers.get("ratelimit");
  const times = async (count: number, send: () => Promise<Answer>): Promise<Answer[]> => {
    const answers = [];
    for (let sent = 0; sent < count; sent++) answers.push(await send());
    return answers;
  };

  describe("reads", () => {
    it("name both windows in the headers and count down", async () => {
      const { api } = await test.account();
      const first = await api.get("/api/v1/me");
      expect(first.headers.get("ratelimit-policy")).to.equal('"read-minute";q=3;w=60, "read-day";q=5;w=86400');
      expect(stateOf(first)).to.equal('"read-minute";r=2;t=60, "read-day";r=4;t=86400');
      clock.set(clock.now() + 10_000);
      expect(stateOf(await api.get("/api/v1/credits"))).to.equal('"read-minute";r=1;t=50, "read-day";r=3;t=86390');
    });

    it("are refused over the limit, with the time to wait, and do not count then", async () => {
      const { api } = await test.account();
      await times(3, () => api.get("/api/v1/me"));
      for (const answer of await times(2, () => api.get("/api/v1/me"))) {
        expect(refusalOf(answer)).to.equal("429 rate_limited");
        expect(errorOf(answer).details).to.deep.equal({ limit: 3, window_seconds: 60, retry_after_seconds: 60 });
        expect(answer.headers.get("retry-after")).to.equal("60");
        expect(stateOf(answer)).to.equal('"read-minute";r=0;t=60, "read-day";r=2;t=86400');
      }
      clock.set(clock.now() + MINUTE_MS);
      expect((await api.get("/api/v1/me")).status).to.equal(200);
    });

    it("end for the day when the day's are used up", async () => {
      const { api } = await test.account();
      await times(3, () => api.get("/api/v1/me"));
      clock.set(clock.now() + MINUTE_MS);
      await times(2, () => api.get("/api/v1/me"));
      const answer = await api.get("/api/v1/me");
      expect(errorOf(answer).details).to.deep.equal({ limit: 5, window_seconds: 86_400, retry_after_seconds: 86_340 });
    });

    it("count per account, whichever key is used, errors and HEAD included", async () => {
      const { account, api } = await test.account();
      const second = new ApiClient(test.url, (await test.app.accounts.issueKey(account.id)).token);
      expect((await api.get("/api/v1/jobs/x")).status).to.equal(404);
      expect((await second.get("/api/v1/generations?limit=x")).status).to.equal(400);
      expect((await second.send("HEAD", "/api/v1/me")).status).to.equal(200);
      expect((await api.get("/api/v1/me")).status).to.equal(429);
    });

    it("are not counted by a 403, which shows the state", async () => {
      const { api } = await test.account({ scopes: ["credits:read"] });
      await api.get("/api/v1/credits");
      for (const answer of await times(5, () => api.get("/api/v1/me"))) {
        expect([answer.status, stateOf(answer)]).to.deep.equal([403, '"read-minute";r=2;t=60, "read-day";r=4;t=86400']);
      }
    });
  });

  describe("generations", () => {
    it("have a limit of their own", async () => {
      const { api } = await test.account();
      const [first, second, third] = await times(3, () => api.generate());
      expect(first?.headers.get("ratelimit-policy")).to.equal('"generation-minute";q=2;w=60, "generation-day";q=4;w=86400');
      expect(stateOf(second as Answer)).to.equal('"generation-minute";r=0;t=60, "generation-day";r=2;t=86400');
      expect(refusalOf(third as Answer)).to.equal("429 rate_limited");
      expect(errorOf(third as Answer).details).to.deep.equal({ limit: 2, window_seconds: 60, retry_after_seconds: 60 });
      expect(third?.headers.get("retry-after")).to.equal("60");
      expect((await api.get("/api/v1/me")).status).to.equal(200);
    });

    it("count refused requests too", async () => {
      const { api } = await test.account({ credits: 0 });
      expect((await api.generate()).status).to.equal(402);
      expect((await api.generate({})).status).to.equal(400);
      expect((await api.generate()).status).to.equal(429);
    });

    it("answer 429 over the limit whatever else is wrong", async () => {
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
      for (const answer of wrong) expect(refusalOf(answer)).to.equal("429 rate_limited");
    });

    it("let a replay through as a read, giving back what it had counted", async () => {
      const { api } = await test.account();
      const once = { "Idempotency-Key": "once" };
      const first = await api.generate(A_GENERATION, once);
      const again = await api.generate(A_GENERATION, once);
      expect([again.status, again.text]).to.deep.equal([202, first.text]);
      expect(stateOf(again)).to.equal('"read-minute";r=2;t=60, "read-day";r=4;t=86400');
      const next = await api.generate();
      expect([next.status, stateOf(next)]).to.deep.equal([202, '"generation-minute";r=0;t=60, "generation-day";r=2;t=86400']);
    });

    it("let a replay through over the limit, and refuse it only with the reads used up", async () => {
      const { api } = await test.account();
      const once = { "Idempotency-Key": "once" };
      await api.generate(A_GENERATION, once);
      await api.generate();
      const answers = await times(4, () => api.generate(A_GENERATION, once));
      expect(answers.map(({ status }) => status)).to.deep.equal([202, 202, 202, 429]);
      expect(answers[3]?.headers.get("ratelimit-policy")).to.match(/^"read-minute"/);
      expect(errorOf(answers[3] as Answer).details).to.deep.equal({ limit: 3, window_seconds: 60, retry_after_seconds: 60 });
    });

    it("answer 409 for a reused key over the limit, as a read", async () => {
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

    it("are not counted by a 403, which shows the state", async () => {
      const { api } = await test.account({ scopes: ["generations:read"] });
      for (const answer of await times(3, () => api.generate())) {
        expect([answer.status, stateOf(answer)]).to.deep.equal([403, '"generation-minute";r=2;t=60, "generation-day";r=4;t=86400']);
      }
    });
  });
});

describe("Failed authentications", () => {
  const clock = new ManualClock();
  let test: TestApp;
  beforeEach(async () => {
    test = await startTestApp({ settings: { ...SETTINGS, http: { port: 0, trustProxy: ["loopback"] } }, clock });
  });
  afterEach(() => test.close());

  const from = (address: string) => ({ "X-Forwarded-For": address });

  it("end in 429 for their address, for a minute; a valid key still passes", async () => {
    const { api, key } = await test.account();
    const wrong = new ApiClient(test.url, `${key}x`);
    expect((await test.anonymous.get("/api/v1/me")).status).to.equal(401);
    expect((await wrong.get("/api/v1/me")).status).to.equal(401);
    expect((await test.anonymous.generate()).status).to.equal(401);
    for (const client of [test.anonymous, wrong]) {
      const answer = await client.get("/api/v1/me");
      expect(refusalOf(answer)).to.equal("429 rate_limited");
      expect(errorOf(answer).details).to.deep.equal({ limit: 3, window_seconds: 60, retry_after_seconds: 60 });
      expect(answer.headers.get("retry-after")).to.equal("60");
      expect(answer.headers.get("ratelimit")).to.equal(null);
    }
    expect((await api.get("/api/v1/me")).status).to.equal(200);
    clock.set(clock.now() + MINUTE_MS);
    expect((await test.anonymous.get("/api/v1/me")).status).to.equal(401);
  });

  it("do not count where there is no such address or method", async () => {
    for (let count = 0; count < 5; count++) {
      await test.anonymous.get("/nothing");
      await test.anonymous.send("PUT", "/api/v1/me");
      await test.anonymous.send("OPTIONS", "/api/v1/me");
    }
    expect((await test.anonymous.get("/api/v1/me")).status).to.equal(401);
  });

  it("count by the forwarded address where the proxy is trusted", async () => {
    for (let count = 0; count < 3; count++) await test.anonymous.get("/api/v1/me", from("203.0.113.7"));
    expect((await test.anonymous.get("/api/v1/me", from("203.0.113.7"))).status).to.equal(429);
    expect((await test.anonymous.get("/api/v1/me", from("203.0.113.8"))).status).to.equal(401);
  });

  it("count by the connection where no proxy is trusted", async () => {
    const untrusting = await startTestApp({ settings: SETTINGS, clock });
    try {
      const statuses = [];
      for (let count = 0; count < 4; count++) {
        statuses.push((await untrusting.anonymous.get("/api/v1/me", from(`203.0.113.${count}`))).status);
      }
      expect(statuses).to.deep.equal([401, 401, 401, 429]);
    } finally {
      await untrusting.close();
    }
  });
});

describe("Rate limits of a tier", () => {
  it("take the place of the general ones", async () => {
    const test = await startTestApp({ settings: { tiers: { plus: { rateLimits: { read: { perMinute: 7 } } } } } });
    try {
      const { api } = await test.account({ tier: "plus" });
      expect((await api.get("/api/v1/me")).headers.get("ratelimit-policy")).to.match(/^"read-minute";q=7;w=60, /);
    } finally {
      await test.close();
    }
  });
});

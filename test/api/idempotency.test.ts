import { expect } from "chai";
import { A_GENERATION, type ApiResponse, dataOf, issuePaths, refusalOf } from "../support/api-client.js";
import { ManualClock } from "../support/doubles/manual-clock.js";
import { submitCompletes, submitFails } from "../support/doubles/scripted-provider.js";
import { startTestApp, type TestAccount, type TestApp } from "../support/test-app.js";

const HOUR_MS = 3_600_000;

describe("Idempotency of POST /api/v1/generations", () => {
  let test: TestApp;
  const clock = new ManualClock();
  before(async () => {
    test = await startTestApp({ clock });
  });
  after(() => test.close());

  const post = ({ api }: TestAccount, body: unknown, key = "once"): Promise<ApiResponse> =>
    api.generate(body, { "Idempotency-Key": key });
  const expectReplay = (again: ApiResponse, first: ApiResponse): void => {
    expect([again.status, again.text]).to.deep.equal([first.status, first.text]);
    expect(again.headers.get("idempotent-replayed")).to.equal("true");
    expect(again.headers.get("location")).to.equal(first.headers.get("location"));
    expect(again.headers.get("x-request-id")).not.to.equal(first.headers.get("x-request-id"));
  };

  it("returns the bytes of the first response to a repeated request, and creates one job", async () => {
    const caller = await test.account({ credits: 100 });
    const first = await post(caller, A_GENERATION);
    expect(first.headers.get("idempotent-replayed")).to.equal(null);
    expectReplay(await post(caller, A_GENERATION), first);
    expect(dataOf(await caller.api.get("/api/v1/credits"))["available"]).to.equal(90);
  });

  it("compares bodies as JSON values", async () => {
    const caller = await test.account();
    const first = await post(
      caller,
      '{"model_id":"scripted/song","prompt":"rain","duration":30,"metadata":{"a":1,"b":[1,2]}}',
    );
    expect(first.status).to.equal(202);
    const again =
      '{ "metadata": { "b": [1.0, 2e0], "a": 1 },\n "duration": 30.0, "prompt": "r\\u0061in", "model_id": ' +
      '"scripted/song" }';
    expectReplay(await post(caller, again), first);
  });

  const others: readonly (readonly [what: string, body: object, code: string])[] = [
    ["another value", { ...A_GENERATION, prompt: "snow" }, "idempotency_conflict"],
    ["a value that would not be accepted", { ...A_GENERATION, model_id: "scripted/nothing" }, "idempotency_conflict"],
    ["one more field", { ...A_GENERATION, instrumental: true }, "idempotency_key_conflict"],
    ["metadata where there was none", { ...A_GENERATION, metadata: {} }, "idempotency_key_conflict"],
  ];
  for (const [what, body, code] of others) {
    it(`refuses a reused key with ${what}: ${code}`, async () => {
      const caller = await test.account();
      const first = await post(caller, A_GENERATION);
      const response = await post(caller, body);
      expect(refusalOf(response)).to.equal(`409 ${code}`);
      expect(response.headers.get("idempotent-replayed")).to.equal(null);
      expectReplay(await post(caller, A_GENERATION), first);
    });
  }

  it("treats different metadata as a different body of the same shape", async () => {
    const caller = await test.account();
    await post(caller, { ...A_GENERATION, metadata: { a: 1 } });
    expect(refusalOf(await post(caller, { ...A_GENERATION, metadata: { b: "x" } }))).to.equal(
      "409 idempotency_conflict",
    );
  });

  it("creates one job and one reservation for 50 concurrent requests with one key", async () => {
    const caller = await test.account({ credits: 1_000 });
    const responses = await Promise.all(Array.from({ length: 50 }, () => post(caller, A_GENERATION)));
    expect(new Set(responses.map(({ status, text }) => `${status} ${text}`)).size).to.equal(1);
    expect(responses.filter(({ headers }) => headers.get("idempotent-replayed") === null)).to.have.length(1);
    const balance = await test.app.credits.balance(caller.account.id);
    expect([balance.monthly, balance.reservedMonthly, balance.runningJobs]).to.deep.equal([990, 10, 1]);
  });

  it("scopes keys to the account", async () => {
    const [one, other] = [await test.account(), await test.account()];
    const first = await post(one, A_GENERATION);
    const second = await post(other, { ...A_GENERATION, prompt: "snow" });
    expect(second.status).to.equal(202);
    expect(dataOf(second)["id"]).not.to.equal(dataOf(first)["id"]);
  });

  it("compares keys case-sensitively and in full", async () => {
    const caller = await test.account();
    const keys = ["key", "KEY", "key!", "k e y", "~".repeat(255)];
    const ids = [];
    for (const key of keys) ids.push(dataOf(await post(caller, A_GENERATION, key))["id"]);
    expect(new Set(ids).size).to.equal(keys.length);
  });

  it("does not record a refusal: the key can be used again", async () => {
    const caller = await test.account({ credits: 0 });
    expect(refusalOf(await post(caller, A_GENERATION))).to.equal("402 insufficient_credits");
    await test.app.credits.grant(caller.account.id, 10);
    expect((await post(caller, { ...A_GENERATION, prompt: "snow" })).status).to.equal(202);
  });

  it("replays although the credits are used up and the tier's concurrency is reached", async () => {
    const caller = await test.account({ tier: "free", credits: 10 });
    const first = await post(caller, A_GENERATION);
    expectReplay(await post(caller, A_GENERATION), first);
  });

  it("forgets the key after 24 hours", async () => {
    const caller = await test.account();
    const first = await post(caller, A_GENERATION);
    clock.set(clock.now() + 24 * HOUR_MS - 1_000);
    expectReplay(await post(caller, A_GENERATION), first);
    clock.set(clock.now() + 1_000);
    const next = await post(caller, { ...A_GENERATION, prompt: "snow" });
    expect(next.status).to.equal(202);
    expect(dataOf(next)["id"]).not.to.equal(dataOf(first)["id"]);
  });

  describe("Idempotency-Key", () => {
    for (const [what, key] of [
      ["absent", undefined],
      ["empty", ""],
      ["blank", "  "],
    ] as const) {
      it(`is required: ${what}`, async () => {
        const { api } = await test.account();
        const headers = {
          "Content-Type": "application/json",
          ...(key === undefined ? {} : { "Idempotency-Key": key }),
        };
        const response = await api.send("POST", "/api/v1/generations", { headers, body: A_GENERATION });
        expect(refusalOf(response)).to.equal("400 idempotency_key_required");
      });
    }

    for (const [what, key] of [
      ["256 characters", "k".repeat(256)],
      ["é", "caf\u00e9"],
      ["a tab", "a\tb"],
    ] as const) {
      it(`is refused with ${what}`, async () => {
        const caller = await test.account();
        const response = await post(caller, A_GENERATION, key);
        expect(refusalOf(response)).to.equal("400 invalid_request");
        expect(issuePaths(response)).to.deep.equal(["header.Idempotency-Key"]);
      });
    }
  });
});

describe("A replay after the job has ended", () => {
  it("returns the first response, for completed and failed jobs", async () => {
    const test = await startTestApp({ work: true });
    try {
      const { api } = await test.account();
      for (const [key, behaviour] of [
        ["completes", submitCompletes],
        ["fails", submitFails("failed")],
      ] as const) {
        test.provider.behaviour = behaviour;
        const first = await api.generate(A_GENERATION, { "Idempotency-Key": key });
        await test.provider.submitted();
        await api.generate(undefined, { Prefer: "wait=20" });
        const again = await api.generate(A_GENERATION, { "Idempotency-Key": key });
        expect(again.text).to.equal(first.text);
        expect(dataOf(again)["status"]).to.equal("queued");
      }
    } finally {
      await test.close();
    }
  });
});

import { expect } from "chai";
import { dataOf, errorOf, refusalOf } from "../support/api-client.js";
import { submitAccepts, ScriptedProvider } from "../support/doubles/scripted-provider.js";
import { startTestApp, type TestApp } from "../support/test-app.js";

/** One slot, and renders of a minute according to the plugin: three jobs can start within the deadline. */
const DEADLINE_MINUTES = 2;

describe("POST /api/v1/generations while the backlog cannot start before the queue deadline", () => {
  let test: TestApp;
  before(async () => {
    const provider = new ScriptedProvider();
    provider.behaviour = submitAccepts(600_000);
    const models = provider.definition.models.map((model) => ({ ...model, usualRenderSeconds: 60 }));
    const definition = { ...provider.definition, models, maxInFlight: 1 };
    test = await startTestApp({
      work: true,
      settings: { jobs: { queueDeadlineMinutes: DEADLINE_MINUTES } },
      plugins: [definition],
    });
  });
  after(() => test.close());

  it("returns 503 with Retry-After and reserves nothing; a request accepted earlier is replayed", async () => {
    const credits = 1_000_000;
    const { api, account } = await test.account({ credits });
    const first = await api.generate(undefined, { "Idempotency-Key": "first" });
    expect(first.status).to.equal(202);
    let refused = await api.generate();
    let accepted = 1;
    // The backlog is counted once a second.
    for (const givesUpAt = Date.now() + 10_000; refused.status === 202 && Date.now() < givesUpAt; accepted += 1)
      refused = await api.generate();
    expect(refusalOf(refused)).to.equal("503 service_unavailable");
    expect(Number(refused.headers.get("retry-after"))).to.be.within(1, accepted * 60);
    expect(errorOf(refused).message).to.include("Too many jobs wait for this model");
    const running = await test.app.jobs.list({ accountId: account.id, limit: 10_000 });
    expect(dataOf(await api.get("/api/v1/credits"))["available"]).to.equal(credits - running.length * 10);

    const again = await api.generate(undefined, { "Idempotency-Key": "first" });
    expect([again.status, again.text]).to.deep.equal([202, first.text]);
    const sameKey = { "Idempotency-Key": "refused" };
    expect(refusalOf(await api.generate(undefined, sameKey))).to.equal("503 service_unavailable");
  });
});

import { expect } from "chai";
import { submitCompletes, submitFails } from "../support/doubles/scripted-provider.js";
import { startTestApp, type TestApp } from "../support/test-app.js";

describe("A failed job that an operator retries", () => {
  let test: TestApp;
  before(async () => {
    test = await startTestApp({ work: true });
  });
  after(() => test.close());

  const messageOf = (call: Promise<unknown>): Promise<string> =>
    call.then(
      () => "done",
      (error: Error) => error.message,
    );

  it("is a new job with the same request, charged once however often it is retried", async () => {
    const { app, provider } = test;
    const { account } = await test.account({ credits: 50 });
    provider.behaviour = submitFails("failed");
    const input = {
      modelId: "scripted/song",
      prompt: "rain",
      lyrics: "la la",
      duration: 20,
      client: "shop",
      metadata: { order: 7 },
      options: { seed: 3 },
    };
    const failed = await app.generations.wait((await app.generations.create(account.id, input)).id);
    expect(failed.status).to.equal("failed");
    provider.behaviour = submitCompletes;
    const [first, again] = await Promise.all([app.retryJobs.retry(failed.id), app.retryJobs.retry(failed.id)]);
    expect(again.id).to.equal(first.id);
    expect([first.isRepeated, again.isRepeated].sort()).to.deep.equal([false, true]);
    const retried = await app.generations.wait(first.id);
    expect(retried.status).to.equal("completed");
    expect(retried.request).to.deep.equal(failed.request);
    expect((await app.credits.balance(account.id)).spent).to.equal(10);
    expect((await app.generations.get(failed.id)).status).to.equal("failed");
  });

  it("is refused while it runs, when it completed, and when there is none", async () => {
    const { app, provider } = test;
    const { account } = await test.account();
    provider.behaviour = submitCompletes;
    const input = { modelId: "scripted/song", prompt: "rain" };
    const done = await app.generations.wait((await app.generations.create(account.id, input)).id);
    expect(await messageOf(app.retryJobs.retry(done.id))).to.equal(
      `The job ${done.id} is completed; a failed one is retried.`,
    );
    expect(await messageOf(app.retryJobs.retry("job_unknown"))).to.equal("There is no job job_unknown.");
  });

  it("is refused where the account cannot pay, and nothing is left behind", async () => {
    const { app, provider } = test;
    const { account } = await test.account({ credits: 10 });
    provider.behaviour = submitFails("failed");
    const input = { modelId: "scripted/song", prompt: "rain" };
    const failed = await app.generations.wait((await app.generations.create(account.id, input)).id);
    provider.behaviour = submitCompletes;
    await app.generations.wait((await app.generations.create(account.id, input)).id);
    expect(await messageOf(app.retryJobs.retry(failed.id))).to.match(/credits/);
    expect((await app.jobs.list({ accountId: account.id, limit: 10 })).length).to.equal(2);
  });
});

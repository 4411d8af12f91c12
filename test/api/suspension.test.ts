import { expect } from "chai";
import { AccountSuspendedError } from "../../core/errors.js";
import { type ApiResponse, dataOf, refusalOf } from "../support/api-client.js";
import { ManualClock } from "../support/doubles/manual-clock.js";
import { RecordingSender } from "../support/doubles/recording-sender.js";
import { StubGuard } from "../support/doubles/stub-guard.js";
import { submitCompletes, submitHolds } from "../support/doubles/scripted-provider.js";
import { eventually } from "../support/process.js";
import { startTestApp, type TestAccount, type TestApp } from "../support/test-app.js";

/** The time within which every process notices. */
const NOTICED_MS = 1_000;

interface Job {
  readonly status: string;
  readonly tracks: readonly { readonly id: string; readonly play_url: string }[];
}

describe("A suspended account", () => {
  const clock = new ManualClock();
  const sender = new RecordingSender();
  let test: TestApp;
  let caller: TestAccount;
  let finished: Job["tracks"][number];

  before(async () => {
    test = await startTestApp({ work: true, clock, webhookSender: sender, addressGuard: new StubGuard() });
  });
  after(() => test.close());
  beforeEach(async () => {
    caller = await test.account();
    const { id } = dataOf<{ id: string }>(await caller.api.generate(undefined, { Prefer: "wait=20" }));
    const { tracks } = dataOf<Job>(await caller.api.get(`/api/v1/generations/${id}`));
    finished = tracks[0] as Job["tracks"][number];
  });

  async function suspend(): Promise<void> {
    await test.app.accounts.suspend(caller.account.id, { reason: "its key was leaked" });
    await clock.advance(NOTICED_MS);
  }

  async function resume(): Promise<void> {
    await test.app.accounts.resume(caller.account.id);
    await clock.advance(NOTICED_MS);
  }

  const open = (url: string): Promise<ApiResponse> => test.anonymous.get(url.replace(test.url, ""));

  it("gets 403 for every request, without the reason, until it is resumed", async () => {
    await suspend();
    const responses = [
      await caller.api.get("/api/v1/me"),
      await caller.api.get("/api/v1/tracks/trk_1"),
      await caller.api.generate(),
    ];
    for (const response of responses) {
      expect(refusalOf(response)).to.equal("403 account_suspended");
      expect(response.text).to.not.include("leaked");
    }
    await resume();
    expect((await caller.api.get("/api/v1/me")).status).to.equal(200);
  });

  it("starts no new job, not even through an embedding app", async () => {
    const before = await test.app.credits.balance(caller.account.id);
    await suspend();
    expect(refusalOf(await caller.api.generate())).to.equal("403 account_suspended");
    const account = await test.app.accounts.get(caller.account.id);
    const input = { modelId: "scripted/song", prompt: "rain" };
    const refusals = await Promise.allSettled([
      test.app.generations.create(account.id, input),
      test.app.splits.start({ kind: "stem_split", accountId: account.id, trackId: finished.id }),
    ]);
    for (const refusal of refusals) {
      expect(refusal.status === "rejected" && refusal.reason).to.be.instanceOf(AccountSuspendedError);
    }
    expect(await test.app.credits.balance(caller.account.id)).to.deep.equal(before);
  });

  it("keeps its accepted jobs: a running job completes, is charged, and its webhook is sent", async () => {
    const options = { headers: { "Content-Type": "application/json" }, body: { url: "https://hooks.example/a" } };
    expect((await caller.api.send("POST", "/api/v1/webhook-endpoints", options)).status).to.equal(201);
    const { behaviour, release } = submitHolds();
    test.provider.behaviour = behaviour;
    const submitted = test.provider.submitted(test.provider.submissions.length + 1);
    const { id } = dataOf<{ id: string }>(await caller.api.generate());
    await submitted;
    await suspend();
    test.provider.behaviour = submitCompletes;
    release();
    const ended = await eventually("ended", async () => {
      const { job, tracks } = await test.app.jobs.show(id);
      return job.status === "completed" ? tracks : null;
    });
    expect(ended).to.have.lengthOf.at.least(1);
    const balance = await test.app.credits.balance(caller.account.id);
    expect(balance.reservedMonthly + balance.reservedPack).to.equal(0);
    const bodies = (await sender.sent()).map(({ body }) => String(body));
    expect(bodies.some((body) => body.includes(id))).to.equal(true);
  });

  it("has no share pages and audio links until it is resumed; those of others stay", async () => {
    const other = await test.account();
    const { id } = dataOf<{ id: string }>(await other.api.generate(undefined, { Prefer: "wait=20" }));
    const ofOther = dataOf<Job>(await other.api.get(`/api/v1/generations/${id}`)).tracks[0] as Job["tracks"][number];
    const page = async (trackId: string): Promise<string> =>
      test.app.shareUrls.urlOf(await test.app.library.manage.share(trackId)) ?? "";
    const own = await page(finished.id);
    const links = [own, `${own}/audio`, finished.play_url];
    const others = [await page(ofOther.id), ofOther.play_url];
    const statuses = (urls: readonly string[]): Promise<number[]> =>
      Promise.all(urls.map(async (url) => (await open(url)).status));
    expect(await statuses([...links, ...others])).to.deep.equal([200, 200, 200, 200, 200]);
    await suspend();
    expect(await statuses([...links, ...others])).to.deep.equal([404, 404, 404, 200, 200]);
    expect(refusalOf(await open(finished.play_url))).to.equal("404 not_found");
    await resume();
    expect(await statuses([...links, ...others])).to.deep.equal([200, 200, 200, 200, 200]);
  });
});

describe("An expired key", () => {
  it("is refused like a revoked one", async () => {
    const clock = new ManualClock();
    const test = await startTestApp({ clock });
    const { account, api } = await test.account();
    const { token } = await test.app.accounts.issueKey(account.id, { expiresAt: clock.now() + 60_000 });
    const ask = (): Promise<ApiResponse> => test.anonymous.get("/api/v1/me", { Authorization: `Bearer ${token}` });
    expect((await ask()).status).to.equal(200);
    await clock.advance(59_999);
    expect((await ask()).status).to.equal(200);
    await clock.advance(1);
    expect(refusalOf(await ask())).to.equal("401 revoked_api_key");
    expect((await api.get("/api/v1/me")).status).to.equal(200);
    await test.close();
  });
});

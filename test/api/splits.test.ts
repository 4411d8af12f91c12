import { expect } from "chai";
import { FermataError } from "../../core/errors.js";
import type { AccountId } from "../../core/ids.js";
import type { SplitKind } from "../../core/jobs/job.js";
import type { SplitOptions, StartedSplit } from "../../core/generations/start-split.js";
import { dataOf, refusalOf } from "../support/api-client.js";
import { scriptedBytes, submitFails, submitHolds } from "../support/doubles/scripted-provider.js";
import { SPLIT_SETTINGS, SplittingProvider, submitSplits } from "../support/doubles/splitting-provider.js";
import { RecordingSender } from "../support/doubles/recording-sender.js";
import { StubGuard } from "../support/doubles/stub-guard.js";
import { LibraryFixture, UNHEARD } from "../support/library-fixture.js";
import { startTestApp, type TestAccount, type TestApp } from "../support/test-app.js";

describe("Stem splits and vocal removals over the API", () => {
  let provider: SplittingProvider;
  let sender: RecordingSender;
  let testApp: TestApp;
  let caller: TestAccount;
  let trackId: string;
  before(async () => {
    provider = new SplittingProvider();
    sender = new RecordingSender();
    testApp = await startTestApp({
      ...UNHEARD,
      work: true,
      plugins: [provider.definition],
      webhookSender: sender,
      addressGuard: new StubGuard(),
      settings: {
        ...SPLIT_SETTINGS,
      },
    });
    caller = await testApp.account({ credits: 100 });
    const { id } = dataOf<{ id: string }>(
      await caller.api.generate(
        { model_id: "scripted/song", prompt: "rain", instrumental: true },
        { Prefer: "wait=30" },
      ),
    );
    trackId =
      dataOf<{ tracks: { id: string }[] }>(await caller.api.get(`/api/v1/generations/${id}`)).tracks[0]?.id ?? "";
    provider.behaviour = submitSplits;
  });
  after(() => testApp.close());

  const start = (kind: SplitKind, options: SplitOptions = {}): Promise<StartedSplit> =>
    testApp.app.splits.start({ kind, accountId: caller.account.id, trackId, ...options });

  /** Runs a function that starts a job, and waits for that job's end. */
  async function ended(start: () => Promise<{ readonly id: string }>): Promise<string> {
    const ids = new Set<string>();
    let found = (): void => undefined;
    const off = testApp.app.events.on("job.ended", ({ generation: { id: endedId } }) => {
      ids.add(endedId);
      found();
    });
    const { id } = await start();
    while (!ids.has(id)) await new Promise<void>((resolve) => (found = resolve));
    off();
    return id;
  }

  it("are polled under /jobs, with their files, and are not listed as generations", async () => {
    const id = await ended(() => start("vocal_removal"));
    const response = await caller.api.get(`/api/v1/jobs/${id}`);
    const { outputs, created_at, completed_at, ...job } = dataOf<{
      outputs: { url: string }[];
      created_at: string;
      completed_at: string;
    }>(response);
    expect(job).to.deep.equal({
      job_id: id,
      operation: "vocal_removal",
      provider: "scripted",
      status: "completed",
      credits_charged: 5,
    });
    expect(Date.parse(completed_at)).to.be.at.least(Date.parse(created_at));
    expect(outputs.map(({ url: _url, ...output }) => output)).to.deep.equal(
      ["vocals", "instrumental"].map((label) => ({
        type: "stem",
        label,
        track_id: trackId,
        content_type: "audio/wav",
        duration: 12.346,
        size_bytes: 1_000,
      })),
    );
    for (const { url } of outputs)
      expect(new Uint8Array(await (await fetch(url)).arrayBuffer())).to.deep.equal(scriptedBytes("audio/wav"));
    expect(refusalOf(await caller.api.get(`/api/v1/generations/${id}`))).to.equal("404 job_not_found");
    const { generations } = dataOf<{ generations: { id: string }[] }>(
      await caller.api.get("/api/v1/generations?limit=50"),
    );
    expect(generations.map((generation) => generation.id)).to.not.include(id);
  });

  it("are created and charged once per reference, whatever the outcome of the first call", async () => {
    const spent = async (): Promise<unknown> => dataOf(await caller.api.get("/api/v1/credits"))["total_spent"];
    const before = Number(await spent());
    const split = (reference: string): Promise<StartedSplit> => start("stem_split", { reference });
    const id = await ended(() => split("order 17"));
    expect(await split("order 17")).to.include({ id, status: "completed", creditsCharged: 8, isRepeated: true });
    const wellBehaved = provider.behaviour;
    provider.behaviour = submitFails("failed");
    const failed = await ended(() => split("order 18"));
    provider.behaviour = wellBehaved;
    expect(await split("order 18")).to.include({ id: failed, status: "failed", creditsCharged: 0, isRepeated: true });
    expect(Number(await spent()) - before).to.equal(8);
    const shown = dataOf(await caller.api.get(`/api/v1/jobs/${id}`));
    expect(shown, "the shapes of the API are closed").to.not.have.any.keys("reference", "is_repeated");
  });

  it("are not visible to other accounts", async () => {
    const id = await ended(() => start("stem_split"));
    const { api } = await testApp.account();
    expect(refusalOf(await api.get(`/api/v1/jobs/${id}`))).to.equal("404 job_not_found");
  });

  it("send webhooks with an event type of their own, the client and the metadata", async () => {
    const { api } = caller;
    const created = await api.send("POST", "/api/v1/webhook-endpoints", {
      headers: { "Content-Type": "application/json" },
      body: { url: "https://hooks.example/a" },
    });
    const endpoint = dataOf<{ id: string }>(created).id;
    const wellBehaved = provider.behaviour;
    const completed = await ended(() => start("stem_split", { client: "studio", metadata: { take: 3 } }));
    provider.behaviour = submitFails("failed");
    const failed = await ended(() => start("vocal_removal"));
    provider.behaviour = wellBehaved;
    await sender.sent(2);
    const bodies = sender.messages.map(
      ({ body }) => JSON.parse(body) as { type: string; data: Record<string, unknown> },
    );
    expect(
      bodies.map(({ type, data }) => [type, data["job_id"], data["client"], data["metadata"]]),
    ).to.have.deep.members([
      ["stem_split.completed", completed, "studio", { take: 3 }],
      ["vocal_removal.failed", failed, null, null],
    ]);
    expect(bodies[0]?.data["outputs"]).to.have.length(2);
    await api.send("DELETE", `/api/v1/webhook-endpoints/${endpoint}`);
  });

  it("use the same credits and the same concurrency as generations", async () => {
    const refusal = async (start: Promise<unknown>): Promise<unknown> => {
      const error: unknown = await start.catch((caught: unknown) => caught);
      return FermataError.is(error) ? [error.code, error.details] : error;
    };
    const library = await LibraryFixture.open(testApp.app);
    const trackOf = async (account: AccountId): Promise<string> =>
      (await library.add(account, { rain: {} }))["rain"] ?? "";
    const poor = await testApp.account({ credits: 7 });
    const split = async ({ account: { id } }: TestAccount): Promise<StartedSplit> =>
      testApp.app.splits.start({ kind: "stem_split", accountId: id, trackId: await trackOf(id) });
    expect(await refusal(split(poor))).to.deep.equal(["insufficient_credits", { required: 8, available: 7 }]);

    const wellBehaved = provider.behaviour;
    const { behaviour, release } = submitHolds(wellBehaved);
    provider.behaviour = behaviour;
    const busy = await testApp.account({ credits: 20, tier: "free" });
    await ended(async () => {
      const { id } = await split(busy);
      const exceeded = ["generation_concurrency_exceeded", { limit: 1, running: 1 }];
      expect(await refusal(split(busy))).to.deep.equal(exceeded);
      const response = await busy.api.generate({ model_id: "scripted/song", prompt: "rain", instrumental: true });
      expect(refusalOf(response)).to.equal("409 generation_concurrency_exceeded");
      release();
      return { id };
    });
    provider.behaviour = wellBehaved;
    expect(dataOf(await busy.api.get("/api/v1/credits"))).to.include({ available: 12, total_spent: 8 });
    await library.close();
  });
});

import { expect } from "chai";
import { type ApiResponse, dataOf, refusalOf } from "../support/api-client.js";
import { CancellableProvider } from "../support/doubles/cancellable-provider.js";
import { SCRIPTED_TRACK } from "../support/doubles/scripted-provider.js";
import { openEventStream } from "../support/event-stream.js";
import { startTestApp, type TestAccount, type TestApp } from "../support/test-app.js";

interface Cancelled {
  readonly outcome: string;
  readonly job: {
    readonly job_id: string;
    readonly status: string;
    readonly credits_charged: number;
    readonly cancel_requested?: boolean;
    readonly outputs: readonly object[];
    readonly error?: { readonly code: string; readonly details?: object };
  };
}

const idOf = (response: ApiResponse): string => dataOf<{ readonly id: string }>(response).id;
const send = ({ api }: TestAccount, id: string): Promise<ApiResponse> => api.send("POST", `/api/v1/jobs/${id}/cancel`);
const cancel = async (caller: TestAccount, id: string): Promise<Cancelled> => dataOf(await send(caller, id));
const available = async ({ api }: TestAccount): Promise<number> =>
  dataOf<{ readonly available: number }>(await api.get("/api/v1/credits")).available;

describe("POST /api/v1/jobs/{job_id}/cancel of a job that waits", () => {
  let test: TestApp;
  before(async () => {
    test = await startTestApp();
  });
  after(() => test.close());

  it("refunds it at once, however often, and shows its end as that of any failure", async () => {
    const caller = await test.account();
    const id = idOf(await caller.api.generate());
    const stream = await openEventStream(caller.api, `/api/v1/jobs/${id}/events`);
    const response = await send(caller, id);
    expect(response.status).to.equal(200);
    expect(response.headers.get("ratelimit")).to.match(/^"write-minute"/);
    const { outcome, job } = dataOf<Cancelled>(response);
    expect(outcome).to.equal("cancelled");
    expect(job).to.include({ job_id: id, status: "failed", credits_charged: 0 });
    expect(job.error).to.deep.include({ code: "generation_failed", details: { reason: "cancelled" } });
    expect(job).to.deep.equal(dataOf(await caller.api.get(`/api/v1/jobs/${id}`)));
    expect(await cancel(caller, id)).to.deep.equal({ outcome, job });
    expect(await available(caller)).to.equal(1_000);
    const last = await stream.until(({ name }) => name === "failed");
    expect(last.data["job"]).to.deep.equal(job);
    stream.close();
  });

  it("is for the account's own jobs, with the scope generations:create, and is no entry of the audit log", async () => {
    const [caller, other] = [await test.account(), await test.account()];
    const reader = await test.account({ scopes: ["generations:read"] });
    const id = idOf(await caller.api.generate());
    expect(refusalOf(await send(other, id))).to.equal("404 job_not_found");
    expect(refusalOf(await send(caller, "job_unknown"))).to.equal("404 job_not_found");
    expect(refusalOf(await send(reader, id))).to.equal("403 insufficient_scope");
    expect(dataOf(await caller.api.get(`/api/v1/jobs/${id}`))).to.include({ status: "queued", credits_charged: 10 });
    await cancel(caller, id);
    const records = await test.app.audit.list({ limit: 50 });
    expect(records.map(({ action }) => action)).to.not.include("jobs.cancel");
  });
});

describe("POST /api/v1/jobs/{job_id}/cancel of a job that is bought", () => {
  let test: TestApp;
  let provider: CancellableProvider;
  beforeEach(async () => {
    provider = new CancellableProvider();
    test = await startTestApp({ ...provider.options, work: true });
  });
  afterEach(() => test.close());

  async function rendering(caller: TestAccount): Promise<string> {
    const id = idOf(await caller.api.generate());
    await provider.polled;
    return id;
  }

  it("refunds it when the provider confirms, and says that it was requested", async () => {
    const caller = await test.account();
    const { outcome, job } = await cancel(caller, await rendering(caller));
    expect([outcome, provider.asked]).to.deep.equal(["cancelled", 1]);
    expect(job).to.include({ status: "failed", credits_charged: 0, cancel_requested: true });
    expect(await available(caller)).to.equal(1_000);
  });

  it("lets it run to its end, and be charged, when the provider does not", async () => {
    provider.reply = "too_late";
    const caller = await test.account({ scopes: ["generations:create", "credits:read"] });
    const id = await rendering(caller);
    const { outcome, job } = await cancel(caller, id);
    expect(outcome).to.equal("running");
    expect(job).to.include({ status: "processing", credits_charged: 10, cancel_requested: true });
    provider.pollBehaviour = () => Promise.resolve({ state: "completed", tracks: [SCRIPTED_TRACK] });
    await test.app.generations.wait(id);
    const ended = await cancel(caller, id);
    expect(ended).to.have.property("outcome", "ended");
    expect(ended.job).to.include({ status: "completed", credits_charged: 10, cancel_requested: true });
    expect(ended.job.outputs, "for a key that may not read generations").to.deep.equal([]);
    expect([await available(caller), provider.asked]).to.deep.equal([990, 1]);
  });
});

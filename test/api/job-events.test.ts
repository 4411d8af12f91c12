import { expect } from "chai";
import { dataOf, refusalOf } from "../support/api-client.js";
import { SCRIPTED_TRACK, submitAccepts, submitCompletes, submitFails } from "../support/doubles/scripted-provider.js";
import { type EventStream, openEventStream, type ReceivedEvent } from "../support/event-stream.js";
import { startTestApp, type TestAccount, type TestApp } from "../support/test-app.js";
import type { Snapshot } from "../../plugins/sdk/index.js";

const idOf = (response: Awaited<ReturnType<TestAccount["api"]["generate"]>>): string =>
  dataOf<{ readonly id: string }>(response).id;
const pathOf = (id: string): string => `/api/v1/jobs/${id}/events`;
const idsOf = (events: readonly ReceivedEvent[]): (string | null)[] =>
  events.filter(({ name }) => name !== "outlook").map(({ id }) => id);

const RUNNING: Snapshot = { state: "running", nextPollMs: 100 };
const STORY = ["accepted", "attempt.1.started", "attempt.1.accepted", "attempt.1.finished", "attempt.1.stored"];

describe("GET /api/v1/jobs/{job_id}/events", () => {
  let test: TestApp;
  let streams: EventStream[];
  before(async () => {
    test = await startTestApp({
      work: true,
      settings: { http: { maxJobStreamsPerAccount: 2 }, jobs: { maxAttempts: 2, shutdownGraceSeconds: 5 } },
    });
  });
  beforeEach(() => {
    streams = [];
    test.provider.behaviour = submitCompletes;
  });
  afterEach(() => {
    for (const stream of streams) stream.close();
  });
  after(() => test.close());

  async function open({ api }: TestAccount, id: string, headers: Record<string, string> = {}): Promise<EventStream> {
    const stream = await openEventStream(api, pathOf(id), headers);
    streams.push(stream);
    return stream;
  }

  it("tells the story of a job as it happens, with its progress, and ends with the job itself", async () => {
    const account = await test.account();
    test.provider.behaviour = submitAccepts(100);
    let snapshot: Snapshot = { ...RUNNING, progress: { queuePosition: 3 } };
    test.provider.pollBehaviour = () => Promise.resolve(snapshot);
    const id = idOf(await account.api.generate());
    const stream = await open(account, id);
    expect([stream.status, stream.headers.get("content-type"), stream.headers.get("cache-control")]).to.deep.equal([
      200,
      "text/event-stream; charset=utf-8",
      "no-store",
    ]);
    const queued = await stream.until(({ data }) => data["queue_position"] === 3);
    expect(queued).to.deep.include({ id: null, name: "outlook" });
    expect(queued.data).to.include({ state: "rendering", percent: null, waiting_before: null });
    snapshot = { ...RUNNING, progress: { percent: 40.7 } };
    await stream.until(({ data }) => data["percent"] === 40);
    snapshot = { state: "completed", tracks: [SCRIPTED_TRACK] };
    const last = await stream.until(({ name }) => name === "completed");
    await stream.ended;
    expect(idsOf(stream.events)).to.deep.equal([...STORY, "charged", "completed"]);
    const job = dataOf(await account.api.get(`/api/v1/jobs/${id}`));
    const shown = last.data["job"] as { readonly outputs: readonly object[] };
    expect({ ...shown, outputs: shown.outputs.length }).to.deep.equal({ ...job, outputs: 1 });
    expect(stream.events.find(({ name }) => name === "files_stored")?.data).to.include({
      attempt: 1,
      provider: "scripted",
    });
    expect(stream.events.find(({ name }) => name === "charged")?.data).to.include({ credits: 10 });
  });

  it("shows failed attempts and the refund, without what the provider said and billed", async () => {
    const account = await test.account();
    test.provider.behaviour = submitFails("unavailable");
    const id = idOf(await account.api.generate());
    const stream = await open(account, id);
    const failed = await stream.until(({ name }) => name === "failed");
    expect(idsOf(stream.events)).to.deep.equal([
      "accepted",
      ...["attempt.1.started", "attempt.1.failed", "attempt.2.started", "attempt.2.failed"],
      ...["refunded", "failed"],
    ]);
    const [first] = stream.events.filter(({ name }) => name === "attempt_failed");
    expect(first?.data).to.deep.equal({
      id: "attempt.1.failed",
      type: "attempt_failed",
      at: first?.data["at"],
      attempt: 1,
      provider: "scripted",
      state: "refused",
      outcome: "unavailable",
      retried: true,
    });
    expect(failed.data["job"]).to.deep.equal(dataOf(await account.api.get(`/api/v1/jobs/${id}`)));
    expect(JSON.stringify(stream.events)).not.to.include("operators only");
  });

  it("goes on after the event that the client names, and all over after one that it does not know", async () => {
    const account = await test.account();
    const id = idOf(await account.api.generate(undefined, { Prefer: "wait=20" }));
    const whole = await open(account, id);
    await whole.ended;
    const rest = await open(account, id, { "Last-Event-ID": "attempt.1.started" });
    await rest.ended;
    const all = idsOf(whole.events);
    expect(idsOf(rest.events)).to.deep.equal(all.slice(all.indexOf("attempt.1.started") + 1));
    const unknown = await open(account, id, { "Last-Event-ID": "attempt.9.started" });
    await unknown.ended;
    expect(idsOf(unknown.events)).to.deep.equal(all);
  });

  it("needs no further connection of a client that has the last event", async () => {
    const account = await test.account();
    const id = idOf(await account.api.generate(undefined, { Prefer: "wait=20" }));
    const response = await account.api.get(pathOf(id), { "Last-Event-ID": "completed" });
    expect([response.status, response.text]).to.deep.equal([204, ""]);
  });

  it("is for the account of the job alone, and needs the scope", async () => {
    const account = await test.account();
    const id = idOf(await account.api.generate());
    const other = await test.account();
    expect(refusalOf(await other.api.get(pathOf(id)))).to.equal("404 job_not_found");
    const narrow = await test.account({ scopes: ["models:read"] });
    expect(refusalOf(await narrow.api.get(pathOf(id)))).to.equal("403 insufficient_scope");
  });

  it("is open for two jobs of an account at once, and for another one when one of them is closed", async () => {
    const account = await test.account();
    test.provider.behaviour = submitAccepts(100);
    test.provider.pollBehaviour = () => Promise.resolve(RUNNING);
    const id = idOf(await account.api.generate());
    const [first] = [await open(account, id), await open(account, id)];
    await first?.until(({ name }) => name === "accepted");
    const refused = await account.api.get(pathOf(id));
    expect([refusalOf(refused), refused.headers.get("retry-after")]).to.deep.equal(["429 rate_limited", "5"]);
    const other = await test.account();
    await (await open(other, idOf(await other.api.generate()))).until(({ name }) => name === "accepted");
    first?.close();
    for (;;) {
      const again = await open(account, id);
      if (again.status === 200) break;
    }
  });
});

describe("A stream of a job's events", () => {
  for (const [what, refuse] of [
    ["key is revoked", (test: TestApp, { keyId }: TestAccount) => test.app.accounts.revokeKey(keyId)],
    [
      "account is suspended",
      (test: TestApp, { account }: TestAccount) => test.app.accounts.suspend(account.id, { reason: "leaked" }),
    ],
  ] as const) {
    it(`ends without a further event within a second after its ${what}`, async () => {
      const test = await startTestApp({ work: true });
      try {
        const caller = await test.account();
        test.provider.behaviour = submitAccepts(100);
        let snapshot: Snapshot = RUNNING;
        test.provider.pollBehaviour = () => Promise.resolve(snapshot);
        const stream = await openEventStream(caller.api, pathOf(idOf(await caller.api.generate())));
        await stream.until(({ name }) => name === "attempt_accepted");
        await refuse(test, caller);
        await new Promise((resolve) => setTimeout(resolve, 1_000));
        snapshot = { state: "completed", tracks: [SCRIPTED_TRACK] };
        await stream.ended;
        expect(idsOf(stream.events).at(-1)).to.equal("attempt.1.accepted");
      } finally {
        await test.close();
      }
    });
  }

  it("ends when the server stops, and goes on at the next server", async () => {
    const test = await startTestApp({ work: true });
    const account = await test.account();
    test.provider.behaviour = submitAccepts(100);
    test.provider.pollBehaviour = () => Promise.resolve(RUNNING);
    const id = idOf(await account.api.generate());
    const stream = await openEventStream(account.api, pathOf(id));
    await stream.until(({ name }) => name === "attempt_accepted");
    await test.close();
    await stream.ended;
    expect(idsOf(stream.events).at(-1)).to.equal("attempt.1.accepted");
  });
});

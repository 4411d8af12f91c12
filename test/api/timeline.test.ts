import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { expect } from "chai";
import type { TimelineEvent } from "../../core/jobs/timeline.js";
import { dataOf } from "../support/api-client.js";
import { SCRIPTED_TRACK, submitAccepts, submitFails } from "../support/doubles/scripted-provider.js";
import { eventually } from "../support/process.js";
import { startTestApp, type TestApp } from "../support/test-app.js";

describe("The timeline of a job", () => {
  let test: TestApp;
  let receiver: Server;
  before(async () => {
    receiver = createServer((request, response) => request.resume().on("end", () => response.writeHead(204).end()));
    receiver.listen(0, "127.0.0.1");
    await once(receiver, "listening");
    test = await startTestApp({
      work: true,
      settings: {
        jobs: { maxAttempts: 3 },
        webhooks: { allowHttp: true, allowNetworks: ["127.0.0.0/8"] },
      },
    });
  });
  after(async () => {
    await test.close();
    receiver.close();
  });

  const timelineOf = async (id: string): Promise<readonly TimelineEvent[]> =>
    (await test.app.jobs.show(id)).timeline.events;

  it("has every attempt with its reason, the progress, the files, the credits and the deliveries", async () => {
    const { api } = await test.account();
    const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook`;
    const headers = { "Content-Type": "application/json" };
    const endpoint = dataOf(await api.send("POST", "/api/v1/webhook-endpoints", { headers, body: { url } }));
    test.provider.behaviour = (...given) => {
      test.provider.behaviour = submitAccepts(50);
      return submitFails("unavailable")(...given);
    };
    let polls = 0;
    test.provider.pollBehaviour = () => {
      polls += 1;
      if (polls > 1) return Promise.resolve({ state: "completed", tracks: [SCRIPTED_TRACK] });
      return Promise.resolve({ state: "running", nextPollMs: 50, progress: { percent: 62.5, queuePosition: 0 } });
    };
    const { id } = dataOf<{ readonly id: string }>(await api.generate(undefined, { Prefer: "wait=20" }));
    await eventually("delivered", async () => (await timelineOf(id)).at(-1)?.type === "delivery_ended");
    const events = await timelineOf(id);
    const of = { provider: "scripted" };
    const facts = events.map(({ at: _at, ...fact }) => fact);
    const [delivery] = events.flatMap((event) => (event.type === "delivery_ended" ? [event.delivery] : []));
    expect(facts).to.deep.equal([
      { id: "accepted", type: "accepted", credits: 10 },
      { id: "attempt.1.started", type: "attempt_started", attempt: 1, ...of, model: "scripted/song" },
      {
        id: "attempt.1.failed",
        type: "attempt_failed",
        ...{ attempt: 1, ...of, state: "refused", outcome: "unavailable", retried: true },
        ...{ message: "scripted: unavailable, with words for operators only", loss: null, cost: null, billable: "no" },
      },
      { id: "attempt.2.started", type: "attempt_started", attempt: 2, ...of, model: "scripted/song" },
      { id: "attempt.2.accepted", type: "attempt_accepted", attempt: 2, ...of },
      { id: "attempt.2.progress", type: "attempt_progress", attempt: 2, ...of, percent: 62, queuePosition: 0 },
      { id: "attempt.2.finished", type: "attempt_finished", attempt: 2, ...of },
      { id: "attempt.2.stored", type: "files_stored", attempt: 2, ...of, files: 4, bytes: 4_000 },
      { id: "charged", type: "charged", credits: 10 },
      { id: "completed", type: "completed" },
      {
        id: `delivery.${delivery}.1`,
        type: "delivery_tried",
        ...{ delivery, endpoint: endpoint["id"], number: 1, status: 204, failure: null, message: null },
      },
      {
        id: `delivery.${delivery}.delivered`,
        type: "delivery_ended",
        ...{ delivery, endpoint: endpoint["id"], state: "delivered" },
      },
    ]);
    const moments = events.map(({ at }) => at);
    expect(moments).to.deep.equal([...moments].sort((a, b) => a - b));
  });

  it("has the request to cancel where it came, and what was lost", async () => {
    const { account } = await test.account();
    test.provider.behaviour = submitAccepts(60_000);
    const input = { modelId: "scripted/song", prompt: "rain" };
    const { id } = await test.app.generations.create(account.id, input, { key: "one" });
    await eventually("rendering", async () => (await timelineOf(id)).at(-1)?.type === "attempt_accepted");
    expect((await test.app.jobs.show(id)).timeline.outlook).to.include({ state: "rendering", waitingBefore: null });
    await test.app.jobs.cancel(id, { timeoutMs: 0 });
    expect((await timelineOf(id)).map((event) => event.id)).to.deep.equal([
      "accepted",
      "attempt.1.started",
      "attempt.1.accepted",
      "cancel_requested",
    ]);
    await test.app.jobs.cancel(id, { force: true });
    const ended = await timelineOf(id);
    expect(ended.slice(4).map((event) => event.id)).to.deep.equal(["attempt.1.failed", "refunded", "failed"]);
    expect(ended[4]).to.include({ state: "abandoned", loss: "cancelled", retried: false });
  });
});

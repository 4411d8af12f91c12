import { expect } from "chai";
import { InvalidRequestError } from "../../../core/errors.js";
import type { AccountId, WebhookEventId } from "../../../core/ids.js";
import type { JobEnded } from "../../../core/jobs/ended-jobs.js";
import { ReadEvents } from "../../../core/webhooks/read-events.js";
import { WriteEvents } from "../../../core/webhooks/write-events.js";
import { aJob, aJobRequest, anId } from "../../support/builders.js";
import { type MemoryCore, memoryCore } from "../../support/memory-core.js";
import { anEndpoint, anEvent } from "../../support/webhook-builders.js";

const DAY_MS = 86_400_000;
const NOW = Date.now();

describe("Events of ended jobs", () => {
  let memory: MemoryCore;
  let accountId: AccountId;
  beforeEach(async () => {
    memory = await memoryCore();
    accountId = (await memory.storage.addAccount()).id;
  });

  it("are written one for each job, with a delivery for each active endpoint of its account", async () => {
    const { storage } = memory;
    const { id: silent } = await storage.addAccount();
    const endpoints = [anEndpoint({ accountId }), anEndpoint({ accountId }), anEndpoint()];
    const off = anEndpoint({ accountId, status: "disabled" });
    const trace = { traceparent: `00-${"a".repeat(32)}-${"b".repeat(16)}-01`, tracestate: null };
    const request = aJobRequest({ client: "studio", metadata: { order: 7 } });
    const jobs = [
      aJob({ accountId, status: "completed", request, trace }),
      aJob({ accountId: silent, kind: "stem_split", status: "failed" }),
    ] as const;
    const ended = jobs.map((job): JobEnded => ({ job, tracks: [], outputs: [] }));
    const writing = new WriteEvents({
      webhooks: storage.webhooks,
      ids: { next: anId },
      presentJob: ({ job }) => ({ job_id: job.id }),
    });
    await storage.inTransaction(async (tx) => {
      for (const endpoint of [...endpoints, off]) await storage.webhooks.insertEndpoint(tx, endpoint);
      const found = await writing.endpointsOf(tx, [accountId, silent]);
      expect([...found].map(([id, list]) => [id, [...list].sort()])).to.deep.equal([
        [accountId, [endpoints[0]?.id, endpoints[1]?.id].sort()],
      ]);
      const settledBy = new Map(jobs.map(({ id }, index) => [id, index + 4]));
      await writing.write(tx, ended, { endpoints: found, settledBy, now: NOW });
    });
    const [event] = await storage.webhooks.listEvents(accountId, 0, 9);
    expect(event).to.deep.include({
      accountId,
      jobId: jobs[0].id,
      number: 4,
      type: "generation.completed",
      createdAt: NOW,
      trace,
    });
    expect(JSON.parse(event?.body ?? "")).to.deep.equal({
      type: "generation.completed",
      timestamp: new Date(NOW).toISOString(),
      data: { job_id: jobs[0].id, client: "studio", metadata: { order: 7 } },
    });
    const deliveries = await storage.webhooks.deliveriesOfJob(jobs[0].id, NOW);
    expect(deliveries.map(({ state, attempts, dueAt, leaseOwner }) => [state, attempts, dueAt, leaseOwner]))
      .to.deep //
      .equal([1, 2].map(() => ["pending", 0, NOW, null]));
    const [failed] = await storage.webhooks.listEvents(silent, 0, 9);
    expect(failed).to.include({ type: "stem_split.failed", number: 5 });
    const unsettled = storage.inTransaction((tx) =>
      writing.write(tx, ended, { endpoints: new Map(), settledBy: new Map(), now: NOW }),
    );
    expect(String(await unsettled.catch((error: unknown) => error))).to.include("a job ends with a ledger entry");
  });

  describe("are read by their account", () => {
    let ids: WebhookEventId[];
    let read: ReadEvents;
    beforeEach(async () => {
      const { storage } = memory;
      read = new ReadEvents({ webhooks: storage.webhooks, clock: { now: () => NOW, sleep: () => Promise.resolve() } });
      const events = [1, 2, 3].map((number) => anEvent({ accountId, number, createdAt: NOW }));
      ids = events.map(({ id }) => id);
      const other = anEvent({ number: 2 });
      await storage.inTransaction((tx) => storage.webhooks.insertEvents(tx, [...events, other]));
    });
    const page = async (after: string | undefined, limit: number): Promise<unknown> => {
      const { events, next, hasMore } = await read.list(accountId, after, limit);
      return [events.map(({ id }) => id), next, hasMore];
    };
    const refused = async (after: string): Promise<unknown> => {
      const error = (await read.list(accountId, after, 9).catch((cause: unknown) => cause)) as InvalidRequestError;
      expect(error).to.be.instanceOf(InvalidRequestError);
      return (error.details as { issues: { path: string; message: string }[] }).issues[0];
    };

    it("the oldest first, behind the one that it has", async () => {
      expect(await page(undefined, 2)).to.deep.equal([ids.slice(0, 2), ids[1], true]);
      expect(await page(ids[1], 2)).to.deep.equal([[ids[2]], ids[2], false]);
      expect(await page(ids[2], 2)).to.deep.equal([[], ids[2], false]);
      expect(await page(undefined, 3)).to.deep.equal([ids, ids[2], false]);
    });

    it("not behind what is no event of a job of this account", async () => {
      expect(await refused("nonsense")).to.deep.equal({
        path: "query.after",
        message: "must be the id of an event, as next_cursor or webhook-id has it",
      });
      const unknown = anId("evt");
      expect(await refused(unknown)).to.deep.equal({
        path: "query.after",
        message: `this account has no event ${unknown} of a job`,
      });
      const [theirs, ping] = [anEvent({ number: 9 }), anEvent({ accountId, number: null })];
      await memory.storage.inTransaction((tx) => memory.storage.webhooks.insertEvents(tx, [theirs, ping]));
      for (const { id } of [theirs, ping]) await refused(id);
    });

    it("from the oldest that is kept where the one that it has is deleted", async () => {
      const gone = anId("evt");
      read = new ReadEvents({
        webhooks: memory.storage.webhooks,
        clock: { now: () => Date.now() + 30 * DAY_MS, sleep: () => Promise.resolve() },
      });
      expect(await page(gone, 9)).to.deep.equal([ids, ids[2], false]);
      memory.storage.sql("DELETE FROM fermata_webhook_events");
      expect(await page(gone, 9)).to.deep.equal([[], gone, false]);
      expect(await page(undefined, 9)).to.deep.equal([[], null, false]);
    });
  });
});

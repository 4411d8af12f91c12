import { expect } from "chai";
import { OVERVIEW_EVERY_MS } from "../../../core/figures/read-overview.js";
import { WatchLedger } from "../../../core/maintenance/watch-ledger.js";
import type { CatalogueProvider } from "../../../core/providers/catalogue.js";
import { aJob } from "../../support/builders.js";
import { FaultyPort } from "../../support/doubles/faulty-port.js";
import { ScriptedProvider } from "../../support/doubles/scripted-provider.js";
import { memoryCore } from "../../support/memory-core.js";
import { aDelivery, anEndpoint, anEvent } from "../../support/webhook-builders.js";

const MINUTE_MS = 60_000;
const { id, label, models } = new ScriptedProvider("synth").definition;
const SYNTH: CatalogueProvider = { id, label, models, enabled: true, isReachable: false, maxInFlight: 4 };
const OFF: CatalogueProvider = { id: "fal", label: "Fal", models: [], enabled: false, isReachable: false };
const options = { providers: [SYNTH, OFF], breaker: { failures: 2, openMs: 30_000 } };

describe("The overview of an installation", () => {
  it("is empty before anything has happened", async () => {
    const { core, clock } = await memoryCore({ options });
    const overview = await core.overview.read();
    expect(overview).to.include({ at: clock.now(), submissions: "active", queueAgeMs: 0, deliveriesPending: 0 });
    expect(overview.ledger).to.equal(null);
    expect(overview.hour.steps).to.have.length(60);
    expect(overview.queueAges.hour.slice(0, -1)).to.deep.equal(Array.from({ length: 59 }, () => null));
    expect(overview.queueAges.hour.at(-1)).to.equal(0);
    expect(overview.queueAges.day).to.have.length(24);
  });

  it("shows providers with their breakers and what they have to do", async () => {
    const { core, clock, storage } = await memoryCore({ options });
    const now = clock.now();
    const waiting = [1, 3].map((minutes) => aJob({ createdAt: now - minutes * MINUTE_MS }));
    const rendering = aJob({ status: "processing", phase: "rendering" });
    await storage.inTransaction((tx) => storage.jobs.insertJobs(tx, [...waiting, rendering]));
    const row = "INSERT INTO fermata_provider_health (provider_id, failures, opened_at, trial_until)";
    storage.sql(`${row} VALUES ('synth', 3, ?, NULL), ('synth/song', 2, ?, NULL)`, now - 1_000, now - 1_000);
    const { providers, queueAgeMs } = await core.overview.read();
    expect(providers).to.deep.equal([
      {
        id: "synth",
        label: "Scripted Provider",
        enabled: true,
        models: ["synth/song", "synth/beat"],
        maxInFlight: 4,
        breaker: { state: "open", failures: 3, openedAt: now - 1_000, triesAt: now + 29_000 },
        unavailable: ["synth/song"],
        work: { waiting: 2, submitting: 0, rendering: 1 },
        queueAgeMs: 3 * MINUTE_MS,
      },
      {
        id: "fal",
        label: "Fal",
        enabled: false,
        models: [],
        maxInFlight: null,
        breaker: { state: "closed", failures: 0, openedAt: null, triesAt: null },
        unavailable: [],
        work: { waiting: 0, submitting: 0, rendering: 0 },
        queueAgeMs: 0,
      },
    ]);
    expect(queueAgeMs).to.equal(3 * MINUTE_MS);
  });

  it("shows pauses, pending deliveries, what the watch of the ledger found, and what happened", async () => {
    const { core, clock, storage, ports } = await memoryCore({ options });
    await core.submissions.pause();
    const { id: accountId } = await storage.addAccount({}, { pack: 10 });
    const [endpoint, event] = [anEndpoint({ accountId }), anEvent({ accountId })];
    await storage.inTransaction(async (tx) => {
      await storage.webhooks.insertEndpoint(tx, endpoint);
      await storage.webhooks.insertEvents(tx, [event]);
      await storage.webhooks.insertDeliveries(tx, [aDelivery({ eventId: event.id, endpointId: endpoint.id })]);
    });
    storage.sql("UPDATE fermata_balances SET pack = 11 WHERE account_id = ?", accountId);
    const watch = new WatchLedger({ ...ports, fullEveryMs: 1 });
    await watch.step(new AbortController().signal);
    const overview = await core.overview.read();
    expect(overview).to.include({ submissions: "paused", deliveriesPending: 1 });
    expect(overview.ledger).to.deep.equal({ violations: 1, checkedAt: clock.now() });
    expect(overview.hour.steps.at(-1)?.credits).to.include({ granted: 10 });
    expect(overview.day.steps.at(-1)?.credits).to.include({ granted: 10 });
  });

  it("is read every five seconds at most, however many look", async () => {
    let reads = 0;
    const { core, clock } = await memoryCore({
      options,
      ports: ({ webhooks }) => ({
        webhooks: new FaultyPort(webhooks).on("countPending", (count) => {
          reads += 1;
          return count();
        }),
      }),
    });
    const [one, other] = await Promise.all([core.overview.read(), core.overview.read()]);
    expect(one).to.equal(other);
    await clock.advance(OVERVIEW_EVERY_MS - 1);
    await core.overview.read();
    expect(reads).to.equal(1);
    await clock.advance(1);
    await core.overview.read();
    expect(reads).to.equal(2);
  });
});

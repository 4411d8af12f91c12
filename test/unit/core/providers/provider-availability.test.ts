import { expect } from "chai";
import { healthIdOf } from "../../../../core/providers/circuit-breaker.js";
import type { ProviderHealth, ProviderHealthStore } from "../../../../core/ports/provider-health-store.js";
import { type Route, Routes } from "../../../../core/providers/routes.js";
import { ProviderAvailability } from "../../../../core/providers/provider-availability.js";
import { Catalogue } from "../../../../core/providers/catalogue.js";
import { ListModels } from "../../../../core/providers/list-models.js";
import type { Transaction, UnitOfWork } from "../../../../core/ports/unit-of-work.js";
import { ManualClock } from "../../../support/doubles/manual-clock.js";

const POLICY = { failures: 2, openMs: 30_000 };

/** What all processes share. */
class HealthTable implements ProviderHealthStore {
  readonly rows = new Map<string, ProviderHealth>();
  reads = 0;
  writes = 0;

  async listHealth(): Promise<ProviderHealth[]> {
    this.reads++;
    return [...this.rows.values()];
  }

  async lockHealth(_tx: Transaction, providerId: string): Promise<ProviderHealth | null> {
    return this.rows.get(providerId) ?? null;
  }

  async saveHealth(_tx: Transaction, health: ProviderHealth): Promise<void> {
    this.writes++;
    this.rows.set(health.providerId, health);
  }
}

const unitOfWork: UnitOfWork = {
  concurrentWriters: 1,
  inTransaction: (work) => work({} as Transaction, { isRetry: false }),
};

describe("ProviderAvailability", () => {
  let table: HealthTable;
  let clock: ManualClock;
  const open = (): ProviderAvailability =>
    new ProviderAvailability({ store: table, unitOfWork, clock, policy: POLICY });
  beforeEach(() => {
    table = new HealthTable();
    clock = new ManualClock();
  });

  it("starts with a closed breaker for an unknown provider", async () => {
    expect(await open().state("synth")).to.equal("closed");
  });

  it("reports the opening of the breaker once, to the caller that opened it", async () => {
    const availability = open();
    const opened = [
      await availability.recordFailure("synth"),
      await availability.recordFailure("synth"),
      await availability.recordFailure("synth"),
    ];
    expect(opened).to.deep.equal([false, true, false]);
    expect(await availability.state("synth")).to.equal("open");
    expect(await availability.state("other")).to.equal("closed");
  });

  it("knows of its own failures at once, and of another process's within a second", async () => {
    const [mine, theirs] = [open(), open()];
    await Promise.all([mine.state("synth"), theirs.state("synth")]);
    await mine.recordFailure("synth");
    await mine.recordFailure("synth");
    expect(await mine.state("synth")).to.equal("open");
    await clock.advance(1_000);
    expect(await theirs.state("synth")).to.equal("open");
  });

  it("counts failures of all processes together", async () => {
    const [mine, theirs] = [open(), open()];
    await mine.recordFailure("synth");
    expect(await theirs.recordFailure("synth")).to.equal(true);
  });

  it("reads once a second at most, and once for many who ask together", async () => {
    const availability = open();
    await Promise.all(Array.from({ length: 10 }, () => availability.state("synth")));
    await clock.advance(999);
    await availability.state("synth");
    expect(table.reads).to.equal(1);
    await clock.advance(1);
    await availability.state("synth");
    expect(table.reads).to.equal(2);
  });

  it("writes nothing for the success of a provider that was well", async () => {
    const availability = open();
    await availability.state("synth");
    await availability.recordSuccess("synth");
    expect(table.writes).to.equal(0);
    await availability.recordFailure("synth");
    await availability.recordSuccess("synth");
    await availability.recordSuccess("synth");
    expect(table.writes).to.equal(2);
    expect(table.rows.get("synth")).to.include({ failures: 0, openedAt: null });
  });

  it("goes half-open by time alone, without a look at the storage in between", async () => {
    const availability = open();
    await availability.recordFailure("synth");
    await availability.recordFailure("synth");
    await clock.advance(POLICY.openMs);
    expect(await availability.state("synth")).to.equal("half_open");
  });

  it("offers the other routes of a provider that has not got one of its models any more", async () => {
    const availability = open();
    const route = (servedModelId: string | null, operation: string): Route => ({
      providerId: "synth",
      servedModelId,
      operation,
    });
    const [retired, other] = [route("synth/v1", "music_synth_full"), route("synth/v2", "music_synth_full")];
    const [split, removal] = [route(null, "stem_split"), route(null, "vocal_removal")];
    const offered = (): Promise<boolean[]> =>
      Promise.all([retired, other, split, removal].map((each) => availability.isOffered(each)));
    expect(await offered()).to.deep.equal([true, true, true, true]);
    await availability.recordBroken(healthIdOf(retired));
    expect(await offered()).to.deep.equal([false, true, true, true]);
    await availability.recordBroken(healthIdOf(split));
    expect(await offered()).to.deep.equal([false, true, false, true]);
    expect(await availability.state("synth")).to.equal("closed");
    await clock.advance(POLICY.openMs);
    expect(await offered()).to.deep.equal([true, true, true, true]);
    await availability.recordBroken("synth");
    expect(await offered()).to.deep.equal([false, false, false, false]);
  });

  it("fails with the storage and asks it again afterwards", async () => {
    const availability = open();
    const { listHealth } = table;
    table.listHealth = () => Promise.reject(new Error("no storage"));
    expect(await availability.state("synth").catch((error: Error) => error.message)).to.equal("no storage");
    table.listHealth = listHealth;
    expect(await availability.state("synth")).to.equal("closed");
  });
});

describe("ListModels", () => {
  it("shows a model as unavailable while its plugin is off or its breaker open, available half-open", async () => {
    const [table, clock] = [new HealthTable(), new ManualClock()];
    const availability = new ProviderAvailability({ store: table, unitOfWork, clock, policy: POLICY });
    const model = { name: "M", creditCost: 1, supportsLyrics: true, supportsInstrumental: true, duration: null };
    const catalogue = new Catalogue([
      { id: "on", label: "On", enabled: true, isReachable: false, models: [{ ...model, id: "on/v1" }] },
      { id: "off", label: "Off", enabled: false, isReachable: false, models: [{ ...model, id: "off/v1" }] },
    ]);
    const routes = new Routes({
      catalogue,
      preferences: { fallbacks: {}, splits: { stem_split: [], vocal_removal: [] } },
    });
    const listModels = new ListModels({ catalogue, routes, availability });
    const states = async (): Promise<string[]> =>
      (await listModels.list()).map(({ model: { id }, status }) => `${id} ${status}`);
    expect(await states()).to.deep.equal(["on/v1 available", "off/v1 unavailable"]);
    const before = await listModels.current();
    await clock.advance(60_000);
    expect(await listModels.current(), "nothing has changed").to.equal(before);
    await availability.recordFailure("on");
    await availability.recordFailure("on");
    expect(await states()).to.deep.equal(["on/v1 unavailable", "off/v1 unavailable"]);
    expect((await listModels.get("on/v1")).status).to.equal("unavailable");
    await clock.advance(POLICY.openMs);
    expect((await listModels.get("on/v1")).status).to.equal("available");
  });
});

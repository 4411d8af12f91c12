import { EventEmitter, once } from "node:events";
import { expect } from "chai";
import type { GenerationEvent } from "../../../core/generations/listening.js";
import { submitCompletes, submitFails } from "../../support/doubles/scripted-provider.js";
import { SHARED_DATABASES, type SharedDatabase } from "../../support/shared-database.js";
import type { TestApp } from "../../support/test-app.js";

/** What was heard, and a wait for it. */
class Heard {
  readonly events: GenerationEvent[] = [];
  private readonly emitter = new EventEmitter();

  readonly listener = (event: GenerationEvent): void => {
    this.events.push(event);
    this.emitter.emit("event");
  };

  async count(count: number): Promise<readonly GenerationEvent[]> {
    while (this.events.length < count) await once(this.emitter, "event");
    return this.events;
  }
}

for (const [name, open] of SHARED_DATABASES) {
  describe(`Events of two apps on one database: ${name}`, () => {
    let database: SharedDatabase;
    before(async () => {
      database = await open();
    });
    after(() => database.close());
    afterEach(() => database.stopAll());

    async function generate({ app, provider }: TestApp, submit = submitCompletes): Promise<string> {
      provider.behaviour = submit;
      const account = await app.accounts.create({ name: "alice", tier: "pro", credits: 100, acceptTerms: true });
      const { id } = await app.generations.create(account.id, { modelId: "scripted/song", prompt: "slow piano" });
      return (await app.generations.wait(id)).id;
    }

    it("one hears of what the other ends, completed and failed, as the generation is read", async () => {
      const [working, listening] = [await database.open({ work: true }), await database.open()];
      const heard = new Heard();
      await listening.app.events.on("job.ended", heard.listener).ready;
      const ids = [await generate(working), await generate(working, submitFails("failed"))];
      const events = await heard.count(2);
      expect(events.map(({ type }) => type)).to.deep.equal(["generation.completed", "generation.failed"]);
      expect(events.map(({ generation }) => generation)).to.deep.equal([
        await working.app.generations.get(ids[0] ?? ""),
        await working.app.generations.get(ids[1] ?? ""),
      ]);
      expect(events[0]?.generation.tracks).to.have.length(1);
    });

    it("a listener continues behind its cursor in another process: what ended meanwhile is heard once", async () => {
      const [working, listening] = [await database.open({ work: true }), await database.open()];
      const before = new Heard();
      await listening.app.events.on("generation.completed", before.listener).ready;
      const first = await generate(working);
      const [event] = await before.count(1);
      await database.stop(listening);
      const meanwhile = [await generate(working), await generate(working)];

      const resumed = new Heard();
      const again = await database.open();
      again.app.events.on("generation.completed", resumed.listener, { after: event?.cursor ?? "" });
      await resumed.count(2);
      const last = await generate(working);
      const events = await resumed.count(3);
      expect(event?.generation.id).to.equal(first);
      expect(events.map(({ generation }) => generation.id)).to.deep.equal([...meanwhile, last]);
      expect(before.events).to.have.length(1);
    });

    it("what a listener had not heard when its app stopped is heard behind its cursor", async () => {
      const [working, listening] = [await database.open({ work: true }), await database.open()];
      const [tried, heard] = [new Heard(), new Heard()];
      const off = listening.app.events.on("job.ended", (event) => {
        tried.listener(event);
        throw new Error("The receiving end is down.");
      });
      await off.ready;
      const id = await generate(working);
      const [event] = await tried.count(1);
      await database.stop(listening);

      const again = await database.open();
      again.app.events.on("job.ended", heard.listener, { after: String(Number(event?.cursor) - 1) });
      expect((await heard.count(1)).map(({ generation }) => generation.id)).to.deep.equal([id]);
    });
  });
}

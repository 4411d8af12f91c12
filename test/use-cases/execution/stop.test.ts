import { once } from "node:events";
import { expect } from "chai";
import type { UnrepeatableWork } from "../../../core/leases/lease.js";
import { FaultyPort } from "../../support/doubles/faulty-port.js";
import { submitAccepts, submitCompletes, submitHolds } from "../../support/doubles/scripted-provider.js";
import { memoryWorkers, type MemoryWorkers, SPLITTING } from "../../support/memory-workers.js";

const SECOND = 1_000;

/** A call that ignores its signal, until the test ends it. */
function deaf(kit: MemoryWorkers): { finish(): void } {
  const waiting: (() => void)[] = [];
  kit.provider.behaviour = (request, context) =>
    new Promise((resolve) => {
      waiting.push(() => void submitCompletes(request, context).then(resolve));
    });
  return { finish: () => waiting.splice(0).forEach((end) => end()) };
}

describe("A process that stops", () => {
  it("stops at once when it is idle", async () => {
    const kit = await memoryWorkers();
    const workers = await kit.start();
    const before = kit.clock.now();
    expect(await kit.stop(workers, 30 * SECOND)).to.deep.equal({ abandoned: [], leftToLeases: 0 });
    expect(kit.clock.now() - before).to.be.at.most(5 * SECOND);
  });

  it("claims nothing more", async () => {
    const kit = await memoryWorkers();
    const workers = await kit.start();
    await kit.stop(workers);
    const id = await kit.accept();
    await kit.pass(5 * SECOND);
    expect(await kit.job(id)).to.include({ status: "queued", attempt: 0 });
  });

  it("finishes calls that end in time", async () => {
    const kit = await memoryWorkers();
    const held = submitHolds();
    kit.provider.behaviour = held.behaviour;
    const id = await kit.accept();
    const workers = await kit.start();
    const stopped = workers.stop(10 * SECOND);
    await kit.pass(5 * SECOND);
    held.release();
    await kit.pass();
    expect(await stopped).to.deep.equal({ abandoned: [], leftToLeases: 0 });
    expect(await kit.job(id)).to.include({ status: "completed" });
  });

  it("aborts and releases what can be repeated after the grace time; another process finishes it", async () => {
    const kit = await memoryWorkers({ capabilities: { idempotentSubmit: true } });
    kit.provider.behaviour = submitHolds().behaviour;
    const id = await kit.accept();
    const workers = await kit.start();
    expect(await kit.stop(workers, 5 * SECOND)).to.deep.equal({ abandoned: [], leftToLeases: 0 });
    expect(await kit.job(id)).to.include({ leaseOwner: null, status: "processing", refusals: 0 });
    kit.provider.behaviour = submitCompletes;
    await kit.start();
    await kit.pass(5 * SECOND);
    expect(await kit.job(id)).to.include({ status: "completed" });
  });

  it("waits for calls that cannot be repeated, and says what it waits for", async () => {
    const kit = await memoryWorkers();
    const call = deaf(kit);
    const id = await kit.accept();
    const workers = await kit.start();
    const waiting: (readonly [work: readonly UnrepeatableWork[], leftMs: number])[] = [];
    const stopped = workers.stop(SECOND, {
      drainMs: 60 * SECOND,
      onWaiting: (work, leftMs) => void waiting.push([work, leftMs]),
    });
    await kit.pass(20 * SECOND);
    expect(waiting.map(([work, leftMs]) => [work.map(({ kind }) => kind), leftMs])).to.deep.equal([
      [["submission"], 60 * SECOND],
    ]);
    call.finish();
    await kit.pass(SECOND);
    expect(await stopped).to.deep.equal({ abandoned: [], leftToLeases: 0 });
    expect(waiting.at(-1)).to.deep.equal([[], 0]);
    expect(await kit.job(id)).to.include({ status: "completed" });
  });

  it("aborts them when the drain time ends, and names them", async () => {
    const kit = await memoryWorkers();
    kit.provider.behaviour = submitHolds().behaviour;
    const id = await kit.accept();
    const workers = await kit.start();
    const named: string[] = [];
    const stopped = await kit.stop(workers, SECOND, {
      drainMs: 10 * SECOND,
      onAbandoned: (work) => void named.push(...work.map(({ kind, providerId }) => `${kind} ${providerId}`)),
    });
    expect(named).to.deep.equal(["submission scripted"]);
    expect(stopped.abandoned).to.have.length(1);
    expect((await kit.attempts(id))[0]).to.include({ state: "unknown" });
  });

  for (const [moment, method, attempts] of [
    ["while the request is made", "findTracks", []],
    ["while the intent is recorded", "insertAttempts", ["The provider was not called: the process stops."]],
  ] as const) {
    it(`calls no provider when it is stopped ${moment}`, async () => {
      let gate: AbortController | null = null;
      const held = async <T>(result: Promise<T>): Promise<T> => {
        if (gate !== null && !gate.signal.aborted) await once(gate.signal, "abort");
        return result;
      };
      const kit = await memoryWorkers({
        ...SPLITTING,
        ports: ({ jobs, library }) =>
          method === "findTracks"
            ? { library: new FaultyPort(library).on(method, (find, ids) => held(find(ids))) }
            : { jobs: new FaultyPort(jobs).on(method, (insert, tx, rows) => held(insert(tx, rows))) },
      });
      const id = await kit.split();
      gate = new AbortController();
      const workers = await kit.start();
      const stopped = workers.stop(0);
      await kit.pass(SECOND);
      gate.abort();
      await kit.pass(SECOND);
      await stopped;
      expect(kit.provider.submissions).to.deep.equal([]);
      expect((await kit.attempts(id)).map(({ message }) => message)).to.deep.equal(attempts);
      expect(await kit.job(id)).to.include({ leaseOwner: null, refusals: 0 });
    });
  }

  it("ends at once on a second signal", async () => {
    const kit = await memoryWorkers();
    deaf(kit);
    await kit.accept();
    const workers = await kit.start();
    const now = new AbortController();
    const stopped = workers.stop(100 * SECOND, { drainMs: 1_000 * SECOND, now: now.signal });
    await kit.pass(5 * SECOND);
    now.abort();
    await kit.pass(2 * SECOND);
    const { abandoned, leftToLeases } = await stopped;
    expect([abandoned.length, leftToLeases]).to.deep.equal([1, 1]);
    expect(kit.logger.lines.some(({ message }) => message === "Jobs were left to their leases")).to.equal(true);
  });

  it("leaves accepted work at the provider", async () => {
    const kit = await memoryWorkers();
    kit.provider.behaviour = submitAccepts(60 * SECOND);
    const id = await kit.accept();
    const workers = await kit.start();
    await kit.stop(workers);
    expect(await kit.job(id)).to.include({ phase: "rendering", leaseOwner: null });
    await kit.start();
    await kit.pass(70 * SECOND);
    expect(await kit.job(id)).to.include({ status: "completed" });
    expect(kit.provider.submissions).to.have.length(1);
  });
});

describe("A process that is lost", () => {
  it("loses its jobs to another one when its lease ends, which submits again where that buys nothing", async () => {
    const kit = await memoryWorkers({ capabilities: { idempotentSubmit: true } });
    const id = await kit.accept();
    const leaseUntil = kit.clock.now() + 30 * SECOND;
    kit.storage.sql(
      "UPDATE fermata_jobs SET status = 'processing', lease_owner = 'prc_lost', fence = 1, due_at = ? WHERE id = ?",
      leaseUntil,
      id,
    );
    await kit.start();
    await kit.pass(29 * SECOND);
    expect(kit.provider.submissions).to.deep.equal([]);
    await kit.pass(3 * SECOND);
    expect(await kit.job(id)).to.include({ status: "completed" });
  });

  it("may have been lost by the job: it is given up after four", async () => {
    const kit = await memoryWorkers();
    const id = await kit.accept();
    kit.storage.sql(
      "UPDATE fermata_jobs SET status = 'processing', lease_owner = 'prc_lost', crashes = 3, due_at = ? WHERE id = ?",
      kit.clock.now(),
      id,
    );
    await kit.start();
    expect(await kit.job(id)).to.include({ status: "failed", creditsCharged: 0 });
    expect(kit.provider.submissions).to.deep.equal([]);
  });

  it("leaves the audio undecoded after two were lost on it", async () => {
    const kit = await memoryWorkers();
    const id = await kit.accept();
    kit.storage.sql("UPDATE fermata_jobs SET collections_begun = 2 WHERE id = ?", id);
    await kit.start();
    expect(await kit.job(id)).to.include({ status: "completed" });
    const message = "The files of a job are stored without derived files: workers were lost while deriving them";
    expect(kit.logger.lines.find((line) => line.message === message)?.fields).to.include({ times: 2 });
  });
});

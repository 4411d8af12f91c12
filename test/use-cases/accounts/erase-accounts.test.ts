import { expect } from "chai";
import { ERASURE_LEASE_MS, EraseAccounts, LAST_ROUND_MS } from "../../../core/accounts/erase-accounts.js";
import type { AccountId } from "../../../core/ids.js";
import { aJob, anId, aReservation, aTrack } from "../../support/builders.js";
import { FaultyPort } from "../../support/doubles/faulty-port.js";
import { type FilledAccount, fillAccount } from "../../support/filled-account.js";
import { type MemoryCore, memoryCore } from "../../support/memory-core.js";

const SECOND = 1_000;
const NEVER = new AbortController().signal;

describe("The erasure of deleted accounts", () => {
  let memory: MemoryCore;
  let filled: FilledAccount;
  let other: FilledAccount;
  beforeEach(async () => {
    memory = await memoryCore();
    filled = await fillAccount(memory.storage, memory.audio, "zanzibar", 25);
    other = await fillAccount(memory.storage, memory.audio, "quokka");
  });

  /** As core wires it: a job of a deleted account is cancelled by the rule of any cancellation. */
  function erasing(given: Partial<ConstructorParameters<typeof EraseAccounts>[0]> = {}): EraseAccounts {
    const endJobs = {
      requestCancel: async ({ id }: { readonly id: string }) =>
        void (await memory.core.jobs.cancel(id, { force: true })),
    };
    return new EraseAccounts({ ...memory.ports, endJobs, ...given });
  }
  const run = (given = {}, signal = NEVER): Promise<void> => erasing(given).run(signal);
  const deletion = (id: AccountId = filled.id) => memory.storage.erasures.findDeletion(id);

  it("is a task of maintenance, every five seconds", () => {
    expect(erasing().task()).to.include({ id: "erase-accounts", everyMs: 5 * SECOND });
    expect(erasing().task().description).to.match(/\.$/);
  });

  it("does nothing while no account is deleted", async () => {
    const files = memory.audio.keys;
    await run();
    expect(memory.audio.keys).to.deep.equal(files);
    expect(await deletion()).to.equal(null);
  });

  it("leaves no job's words, track, file, playlist, endpoint, key or request, and nothing of others goes", async () => {
    const { storage, core, audio, clock } = memory;
    await core.accounts.delete(filled.id);
    const requestedAt = clock.now();
    for (let rounds = 0; rounds < 3; rounds++) {
      await run();
      await clock.advance(10 * SECOND);
    }
    const { erased, erasedAt } = (await deletion()) ?? {};
    expect(erasedAt).to.equal(requestedAt + 10 * SECOND);
    expect(erased).to.include({ jobs: 28, tracks: 2, uploads: 1, webhook_endpoints: 1 });
    expect(await storage.library.findTracks([filled.uploaded, filled.imported])).to.have.property("size", 0);
    expect(await storage.webhooks.listEndpoints(filled.id)).to.deep.equal([]);
    expect(await storage.erasures.listPlaylists(filled.id, null, 9)).to.deep.equal([]);
    const prompts = [...(await storage.jobs.findJobs(filled.jobs.map(({ id }) => id))).values()];
    expect(prompts.map(({ request }) => request.prompt)).to.deep.equal(prompts.map(() => ""));
    expect(audio.keys.filter((key) => !other.jobs.some(({ id }) => key.startsWith(id)))).to.have.members([
      `${other.uploaded}/mix.mp3`,
      `${other.imported}/mix.mp3`,
    ]);
    expect((await storage.ledger.audit()).violations).to.deep.equal([]);
    expect(await core.accounts.get(filled.id)).to.include({ suspendedAt: null });
    expect(memory.logger.lines.filter(({ message }) => message === "A deleted account was erased")).to.have.length(1);
    expect(await deletion(other.id)).to.equal(null);
  });

  it("is done after a round that found nothing, ten seconds after the request at the earliest", async () => {
    const { id } = await memory.storage.addAccount();
    await memory.core.accounts.delete(id);
    await run();
    expect(await deletion(id)).to.include({ erasedAt: null });
    await memory.clock.advance(10 * SECOND - 1);
    await run();
    expect(await deletion(id)).to.include({ erasedAt: null });
    await memory.clock.advance(1);
    await run();
    expect(await deletion(id)).to.include({ erasedAt: memory.clock.now() });
  });

  it("looks once more after half an hour, for what came late, and then no more", async () => {
    const { storage, core, clock } = memory;
    const { id } = await storage.addAccount();
    await core.accounts.delete(id);
    const requestedAt = clock.now();
    for (const waitMs of [0, 10 * SECOND]) {
      await clock.advance(waitMs);
      await run();
    }
    // One of 32 tracks, by the end of its id, has a row more.
    const late = aTrack({ accountId: id, id: "trk_01jd0000000000000000000001" });
    await storage.inTransaction((tx) => storage.library.insertTracks(tx, [late]));
    await clock.advance(LAST_ROUND_MS - 10 * SECOND - 1);
    await run();
    expect(await storage.library.findTracks([late.id])).to.have.property("size", 1);
    await clock.advance(1);
    await run();
    expect(await storage.library.findTracks([late.id])).to.have.property("size", 0);
    expect(await deletion(id)).to.deep.include({ erasedAt: requestedAt + 10 * SECOND, erased: { tracks: 1 } });
    await clock.advance(10 * SECOND);
    await run();
    await storage.inTransaction((tx) => storage.library.insertTracks(tx, [late]));
    await clock.advance(24 * 3_600 * SECOND);
    await run();
    expect(await storage.library.findTracks([late.id])).to.have.property("size", 1);
  });

  it("cancels jobs that run, and erases them once they have ended", async () => {
    const { storage, core, clock } = memory;
    const { id } = await storage.addAccount({}, { monthly: 20 });
    const job = aJob({ accountId: id, createdAt: clock.now() });
    await storage.apply(aReservation(await storage.balanceOf(id), job));
    await storage.inTransaction((tx) => storage.jobs.insertJobs(tx, [job]));
    await core.accounts.delete(id);
    await run();
    const after = (await storage.jobs.findJobs([job.id])).get(job.id);
    expect(after).to.include({ status: "failed", creditsCharged: 0 });
    expect(after?.request.prompt).to.equal("");
  });

  it("asks once for a job that is bought to be cancelled, and waits for its end", async () => {
    const { storage, core, clock } = memory;
    const { id } = await storage.addAccount({}, { monthly: 20 });
    const job = aJob({ accountId: id, status: "processing", phase: "rendering" });
    await storage.inTransaction((tx) => storage.jobs.insertJobs(tx, [job]));
    await core.accounts.delete(id);
    let asked = 0;
    const requestCancel = async (): Promise<void> => {
      asked += 1;
      const changes = { cancelRequestedAt: clock.now() };
      await storage.inTransaction((tx) => storage.jobs.updateJobs(tx, [{ id: job.id, fence: 0, changes }]));
    };
    for (let rounds = 0; rounds < 3; rounds++) {
      await run({ endJobs: { requestCancel } });
      await clock.advance(10 * SECOND);
    }
    expect(asked).to.equal(1);
    expect(await deletion(id)).to.include({ erasedAt: null });
  });

  it("goes on with other jobs when one cannot be cancelled, and says so", async () => {
    const { storage, core } = memory;
    const { id } = await storage.addAccount();
    const jobs = [aJob({ accountId: id }), aJob({ accountId: id })];
    await storage.inTransaction((tx) => storage.jobs.insertJobs(tx, jobs));
    await core.accounts.delete(id);
    const asked: string[] = [];
    const requestCancel = async (job: { readonly id: string }): Promise<void> => {
      asked.push(job.id);
      throw new Error("The provider is away.");
    };
    await run({ endJobs: { requestCancel } });
    expect(asked).to.have.length(2);
    const line = memory.logger.lines.find(({ level }) => level === "error");
    expect(line?.message).to.include("could not be cancelled");
    expect(line?.fields).to.include({ job_id: asked[0] });
  });

  it("that fails is left for a minute and repeated, and does not delay others", async () => {
    const { storage, core, audio, clock } = memory;
    await core.accounts.delete(filled.id);
    const { id } = await storage.addAccount();
    await core.accounts.delete(id);
    const broken = new FaultyPort(audio).failOn("deleteAll", () => new Error("The bucket is away."));
    await run({ audio: broken });
    const line = memory.logger.lines.find(({ message }) => message.startsWith("A deleted account could not be erased"));
    expect(line?.fields).to.include({ account_id: filled.id });
    expect(await storage.jobs.findJobs([filled.jobs[0]?.id as never])).to.have.property("size", 1);
    await clock.advance(10 * SECOND);
    await run();
    expect(await deletion(id)).to.include({ erasedAt: clock.now() });
    expect((await deletion())?.erased).not.to.have.property("jobs");
    await clock.advance(ERASURE_LEASE_MS);
    await run();
    expect((await deletion())?.erased).to.include({ jobs: 28 });
  });

  it("stops when it is aborted, and goes on where it was", async () => {
    const { core, storage, clock } = memory;
    await core.accounts.delete(filled.id);
    const stopping = new AbortController();
    const audio = new FaultyPort(memory.audio).on("deleteAll", (remove, prefix) => {
      stopping.abort();
      return remove(prefix);
    });
    await run({ audio }, stopping.signal);
    expect((await deletion())?.erased).not.to.have.property("tracks");
    await run();
    expect((await deletion())?.erased, "the other process may still be at work").not.to.have.property("tracks");
    await clock.advance(ERASURE_LEASE_MS);
    await run();
    expect((await deletion())?.erased).to.include({ tracks: 2 });
    expect(await storage.library.findTracks([filled.uploaded])).to.have.property("size", 0);
  });

  it("is left to a process that has taken it over meanwhile", async () => {
    const { core } = memory;
    await core.accounts.delete(filled.id);
    const erasures = new FaultyPort(memory.storage.erasures).on("writeDeletion", async () => false);
    await run({ erasures });
    expect((await deletion())?.erased).to.deep.equal({});
  });

  it("leaves an upload alone that may still be under way, for an hour", async () => {
    const { storage, core, clock } = memory;
    const { id } = await storage.addAccount();
    const upload = { trackId: anId("trk"), accountId: id, sizeBytes: 3, createdAt: clock.now(), storedAt: null };
    await storage.inTransaction((tx) => storage.uploads.insertUpload(tx, upload));
    await core.accounts.delete(id);
    for (const waitMs of [0, 10 * SECOND, 10 * SECOND]) {
      await clock.advance(waitMs);
      await run();
    }
    expect(await deletion(id)).to.include({ erasedAt: null });
    await clock.advance(3_600 * SECOND);
    for (let rounds = 0; rounds < 2; rounds++) {
      await run();
      await clock.advance(10 * SECOND);
    }
    expect((await deletion(id))?.erased).to.deep.equal({ uploads: 1 });
    expect((await deletion(id))?.erasedAt).not.to.equal(null);
  });
});

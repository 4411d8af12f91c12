import { expect } from "chai";
import { aJob, anId, aTrack } from "../../support/builders.js";
import { FaultyPort } from "../../support/doubles/faulty-port.js";
import { memoryCore } from "../../support/memory-core.js";

const failure = (work: Promise<unknown>): Promise<unknown> => work.catch((error: unknown) => error);
describe("Links without a key", () => {
  it("open nothing of an account that is suspended, within a second", async () => {
    let reads = 0;
    let isAway = false;
    const { core, storage, clock } = await memoryCore({
      ports: ({ accounts }) => ({
        accounts: new FaultyPort(accounts).on("listSuspended", (list) => {
          reads += 1;
          return isAway ? Promise.reject(new Error("away")) : list();
        }),
      }),
    });
    const { publicLinks } = core.api;
    const { id } = await storage.addAccount();
    const job = aJob({ accountId: id });
    const tracks = [
      aTrack({ accountId: id, shareToken: "token-1" }),
      aTrack({ accountId: null, visibility: "public", shareToken: "token-2" }),
    ] as const;
    await storage.inTransaction(async (tx) => {
      await storage.library.insertTracks(tx, tracks);
      await storage.jobs.insertJobs(tx, [job]);
    });
    const keys = [`${job.id}/1/mix.mp3`, `${tracks[0].id}/mix.mp3`];
    const suspended = (): Promise<boolean[]> => Promise.all(keys.map((key) => publicLinks.isSuspended(key)));
    expect(await suspended()).to.deep.equal([false, false]);
    expect(await publicLinks.findSharedTrack("token-1")).to.include({ id: tracks[0].id });
    await core.accounts.suspend(id);
    await clock.advance(899);
    expect(await suspended()).to.deep.equal([false, false]);
    expect(reads).to.equal(1);
    await clock.advance(1);
    expect(await suspended()).to.deep.equal([true, true]);
    expect(await publicLinks.findSharedTrack("token-1")).to.equal(null);
    expect(await publicLinks.findSharedTrack("token-2")).to.include({ id: tracks[1].id });
    expect(await publicLinks.findSharedTrack("token-3")).to.equal(null);
    for (const key of [`${anId("job")}/1/mix.mp3`, `${anId("trk")}/mix.mp3`, "import/mix.mp3", `${tracks[1].id}/a`])
      expect(await publicLinks.isSuspended(key), key).to.equal(false);
    expect(reads).to.equal(2);
    await clock.advance(900);
    isAway = true;
    expect(String(await failure(publicLinks.isSuspended(keys[0] ?? "")))).to.include("away");
    isAway = false;
    expect(await publicLinks.isSuspended(keys[0] ?? "")).to.equal(true);
    clock.set(clock.now() - 5_000);
    await publicLinks.isSuspended("x");
    expect(reads, "the clock was set back").to.equal(5);
  });
});

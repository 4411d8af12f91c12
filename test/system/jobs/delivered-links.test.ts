import { expect } from "chai";
import type { AssetOpener, OpenedAsset } from "../../../core/ports/asset-opener.js";
import {
  type AssetSource,
  type Completed,
  ProviderFailure,
  type ProviderTrack,
} from "../../../core/ports/music-provider.js";
import { ManualClock } from "../../support/doubles/manual-clock.js";
import { SCRIPTED_AUDIO, SCRIPTED_TRACK } from "../../support/doubles/scripted-provider.js";
import { GRACE_MS, LEASE_MS, until, WorkerHarness } from "./worker-harness.js";

const LINK = "https://cdn.test/song.mp3";

/** Opens scripted files at scripted times. */
class ScriptedOpener implements AssetOpener {
  readonly opened: AssetSource[] = [];
  fetch: () => Promise<OpenedAsset> = () => Promise.resolve({ contentType: "audio/mpeg", bytes: bytes() });

  open(source: AssetSource): Promise<OpenedAsset> {
    this.opened.push(source);
    return this.fetch();
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}

async function* bytes(): AsyncIterable<Uint8Array> {
  yield SCRIPTED_AUDIO;
}

const fails = (kind: "unavailable" | "gone") => () => Promise.reject(new ProviderFailure(kind, "scripted"));

describe("A result that a provider returns at once as a link", () => {
  let harness: WorkerHarness;
  let opener: ScriptedOpener;
  beforeEach(async () => {
    harness = await WorkerHarness.open();
    opener = new ScriptedOpener();
    const track: ProviderTrack = {
      ...SCRIPTED_TRACK,
      assets: [
        { role: "mix", label: "full", contentType: null, durationSeconds: 3, source: { kind: "url", url: LINK } },
      ],
    };
    harness.provider.behaviour = () =>
      Promise.resolve({ state: "completed", tracks: [track], cost: { amount: 2, unit: "credits" } });
  });
  afterEach(() => harness.close());

  it("is downloaded with retries and never bought again, however long the link's server is down", async () => {
    opener.fetch = fails("unavailable");
    const id = await harness.acceptOne();
    await harness.start({ opener });
    await harness.pass(30 * 60_000);
    expect(await harness.job(id)).to.include({ status: "processing", phase: "rendering", crashes: 0 });
    expect((await harness.storage.jobs.listAttempts(id))[0]).to.deep.include({
      outcome: "completed",
      billable: "yes",
      cost: { amount: 2, unit: "credits" },
    });
    opener.fetch = new ScriptedOpener().fetch;
    await harness.pass(120_000);
    await harness.expectCompleted(id);
    expect(harness.provider.submissions).to.have.length(1);
    expect(opener.opened.length).to.be.above(5);
    expect(opener.opened.every((source) => source.kind === "url" && source.url === LINK)).to.equal(true);
    const [attempt] = await harness.storage.jobs.listAttempts(id);
    expect(attempt).to.deep.include({ outcome: "completed", cost: { amount: 2, unit: "credits" } });
  });

  it("is downloaded by another worker when the first was lost, without a second submission", async () => {
    opener.fetch = () => new Promise(() => undefined);
    const id = await harness.acceptOne();
    // Its clock stands still: it works, but never renews its lease.
    const hanging = harness.prepare({ opener, clock: new ManualClock(harness.clock.now()) });
    await hanging.jobs.start();
    await until(
      "the first worker fetches",
      async () => opener.opened.length > 0 && (await harness.job(id)).phase === "rendering",
    );
    const second = new ScriptedOpener();
    await harness.start({ opener: second });
    await harness.pass(LEASE_MS + 1_000);
    await harness.expectCompleted(id);
    expect([harness.provider.submissions.length, second.opened.length]).to.deep.equal([1, 1]);
  });

  it("is downloaded by the next process when this one stops, and the job is not blamed", async () => {
    const id = await harness.acceptOne();
    for (let stops = 0; stops < 6; stops++) {
      opener.fetch = () => new Promise((_, reject) => void (refuse = reject));
      let refuse: (error: Error) => void = () => undefined;
      const before = opener.opened.length;
      const worker = await harness.start({ opener });
      await until("it fetches", () => opener.opened.length > before);
      const stopped = worker.stop(0);
      await until(
        "it is reported",
        () => worker.leases.count === 0 || (refuse(new ProviderFailure("unavailable", "aborted")), false),
      );
      await stopped;
    }
    expect(await harness.job(id)).to.include({ status: "processing", phase: "rendering", crashes: 0 });
    opener.fetch = new ScriptedOpener().fetch;
    await harness.start({ opener });
    await harness.pass(1_000);
    await harness.expectCompleted(id);
    expect(harness.provider.submissions).to.have.length(1);
  });

  it("is not stored when its download needs a key, and is downloaded by this process", async () => {
    const [asset] = ((await harness.provider.behaviour({} as never, {} as never)) as Completed).tracks[0]?.assets ?? [];
    if (asset === undefined) throw new Error("There is a mix.");
    const source = { kind: "url", url: LINK, headers: { authorization: "Bearer secret-of-the-provider" } } as const;
    harness.provider.behaviour = () =>
      Promise.resolve({ state: "completed", tracks: [{ ...SCRIPTED_TRACK, assets: [{ ...asset, source }] }] });
    opener.fetch = fails("unavailable");
    const id = await harness.acceptOne();
    await harness.start({ opener });
    await harness.pass(60_000);
    expect(JSON.stringify(await harness.job(id))).to.not.include("secret-of-the-provider");
    expect((await harness.storage.jobs.listAttempts(id))[0]).to.deep.include({ outcome: "completed", billable: "yes" });
    opener.fetch = new ScriptedOpener().fetch;
    await harness.pass(120_000);
    await harness.expectCompleted(id);
    expect(harness.provider.submissions).to.have.length(1);
  });

  it("is refunded when the link is dead, and the margin report counts it as billed", async () => {
    opener.fetch = fails("gone");
    const id = await harness.acceptOne();
    await harness.start({ opener });
    await harness.pass(GRACE_MS);
    await harness.expectFailed(id, "generation_failed");
    const [attempt] = await harness.storage.jobs.listAttempts(id);
    expect(attempt).to.deep.include({ outcome: "gone", billable: "yes", cost: { amount: 2, unit: "credits" } });
  });
});

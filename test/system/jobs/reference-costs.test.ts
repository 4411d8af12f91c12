import { expect } from "chai";
import { LAST_POLL_WINDOW_MS } from "../../../core/attempts/policy.js";
import { ReportMargin } from "../../../core/attempts/report-margin.js";
import type { SourceUse } from "../../../core/jobs/job.js";
import type { ProviderModel } from "../../../core/ports/music-provider.js";
import { anAsset, anId, aTrack } from "../../support/builders.js";
import {
  submitAccepts,
  submitFails,
  submitHolds,
  SCRIPTED_AUDIO,
  SCRIPTED_TRACK,
} from "../../support/doubles/scripted-provider.js";
import { ManualClock } from "../../support/doubles/manual-clock.js";
import { COST, GRACE_MS, type Worker, type WorkerOptions, WorkerHarness } from "./worker-harness.js";

const BARE = { fromSeconds: null, toSeconds: null, strength: null };
const COVER: SourceUse = { mode: "cover", ...BARE };
const EXTEND: SourceUse = { mode: "extend", ...BARE };
const usd = (amount: number): { amount: number; unit: string } => ({ amount, unit: "USD" });

describe("The cost of a generation from a track", () => {
  let harness: WorkerHarness;
  beforeEach(async () => {
    harness = await WorkerHarness.open();
  });
  afterEach(() => harness.close());

  /** A cover costs more than an ordinary generation; extending has no price of its own. */
  const changeModel = (model: ProviderModel): ProviderModel => ({
    ...model,
    upstreamCost: usd(0.1),
    references: { cover: { sources: "any", upstreamCost: usd(0.4) }, extend: { sources: "any" } },
  });
  const start = (options: WorkerOptions = {}): Promise<Worker> => harness.start({ changeModel, ...options });

  async function accept(...uses: readonly (SourceUse | null)[]): Promise<void> {
    const asset = anAsset({ audioKey: `${anId("trk")}/mix.mp3`, sizeBytes: 1_000 });
    const track = aTrack({ accountId: harness.accountId, assets: [asset] });
    await harness.audio.put(asset.audioKey, SCRIPTED_AUDIO, 10_000);
    await harness.storage.inTransaction((tx) => harness.storage.library.insertTracks(tx, [track]));
    for (const sourceUse of uses) {
      const sourceTrackId = sourceUse === null ? null : track.id;
      await harness.acceptOne("scripted/song", { sourceTrackId, sourceUse });
    }
  }

  async function costs(): Promise<object | undefined> {
    const range = { from: 0, to: Number.MAX_SAFE_INTEGER, refundedLimit: 10 };
    const [sums] = (await new ReportMargin(harness.storage).report(range)).providers;
    if (sums === undefined) return undefined;
    const { completed, failed, creditsCharged, billed, possiblyBilled, refunded } = sums;
    return { completed, failed, creditsCharged, billed, possiblyBilled, refunded };
  }

  it("is the cost of the mode, else of the model", async () => {
    await accept(COVER, EXTEND, null);
    await start();
    await harness.pass(0);
    expect(await costs()).to.deep.include({ completed: 3, creditsCharged: 3 * COST, billed: { USD: 0.6 } });
  });

  it("is the cost that the provider reports, whatever the expected cost of the mode", async () => {
    const cost = usd(0.25);
    harness.provider.behaviour = () => Promise.resolve({ state: "completed", tracks: [SCRIPTED_TRACK], cost });
    await accept(COVER);
    await start();
    await harness.pass(0);
    expect(await costs()).to.deep.include({ completed: 1, billed: { USD: 0.25 } });
  });

  it("is known to another worker, which never read the request, when it abandons a lost reply", async () => {
    harness.provider.behaviour = submitFails("outcome_unknown");
    await accept(COVER);
    const worker = await start();
    await harness.pass(0);
    await worker.stop();
    await start();
    await harness.pass(GRACE_MS + 10_000);
    expect(await costs()).to.deep.include({ failed: 1, creditsCharged: 0, possiblyBilled: { USD: 0.4 } });
  });

  it("is recorded for work that another worker polls to its end", async () => {
    harness.provider.behaviour = submitAccepts(1_000);
    await accept(COVER);
    const worker = await start();
    await harness.pass(0);
    await worker.stop();
    harness.provider.pollBehaviour = () => Promise.resolve({ state: "completed", tracks: [SCRIPTED_TRACK] });
    await start();
    await harness.pass(2_000);
    expect(await costs()).to.deep.include({ completed: 1, billed: { USD: 0.4 } });
  });

  it("is known to the maintenance when it abandons a lost worker's submission", async () => {
    harness.provider.behaviour = submitHolds().behaviour;
    await accept(COVER);
    await start({ clock: new ManualClock(harness.clock.now()) });
    await harness.quiet();
    const { maintenance } = harness.prepare({ changeModel });
    for (const waitMs of [7 * 86_400_000, 2 * LAST_POLL_WINDOW_MS]) {
      await harness.clock.advance(waitMs);
      await maintenance.runOnce();
    }
    expect(await costs()).to.deep.include({ failed: 1, possiblyBilled: { USD: 0.4 } });
  });
});

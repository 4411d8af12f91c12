import { expect } from "chai";
import type { Model } from "../../../../core/providers/catalogue.js";
import type { RenderTime } from "../../../../core/ports/job-store.js";
import { RenderTimes } from "../../../../core/providers/render-times.js";
import { ManualClock } from "../../../support/doubles/manual-clock.js";

describe("RenderTimes", () => {
  const clock = new ManualClock();

  function timesOf(measured: () => Promise<number[]>, usualRenderSeconds?: number): RenderTimes {
    const ofAnyLength = async (): Promise<RenderTime[]> =>
      (await measured()).map((ms) => ({ ms, lengthSeconds: null }));
    return timesWith(ofAnyLength, usualRenderSeconds);
  }

  function timesWith(measured: () => Promise<RenderTime[]>, usualRenderSeconds?: number): RenderTimes {
    const model = usualRenderSeconds === undefined ? null : ({ usualRenderSeconds } as Model);
    return new RenderTimes({ jobs: { renderTimes: measured }, catalogue: { find: () => model }, clock });
  }

  for (const [what, measured, said, expected] of [
    ["the median of what was measured", [9_000, 1_000, 2_000], 60, 2_000],
    ["the mean of the two in the middle", [1_000, 9_000, 2_000, 3_000], 60, 2_500],
    ["the plugin's word while little was measured", [1_000, 2_000], 60, 60_000],
    ["nothing where neither is known", [1_000], undefined, null],
  ] as const) {
    it(`says ${what}`, async () => {
      expect(await timesOf(() => Promise.resolve([...measured]), said).usualMs("p", "p/m")).to.equal(expected);
    });
  }

  for (const [what, lengthSeconds, expected] of [
    ["of about the length that is asked for", 30, 10_000],
    ["of all lengths where too few are alike", 300, 40_000],
    ["of all lengths where none is asked for", null, 40_000],
  ] as const) {
    it(`says the median of renders ${what}`, async () => {
      const lengths = [25, 30, 40, 120, 120, 120, 300];
      const measured = lengths.map((length) => ({ ms: length > 50 ? 40_000 : 10_000, lengthSeconds: length }));
      const times = timesWith(() => Promise.resolve(measured));
      expect(await times.usualMs("p", "p/m", lengthSeconds)).to.equal(expected);
    });
  }

  it("reads each model once a minute, and again after a failure", async () => {
    let reads = 0;
    const measured = (): Promise<number[]> =>
      ++reads === 2 ? Promise.reject(new Error("away")) : Promise.resolve([1, 2, 3]);
    const times = timesOf(measured);
    expect([await times.usualMs("p", "p/m"), await times.usualMs("p", "p/m"), reads]).to.deep.equal([2, 2, 1]);
    await clock.advance(60_000);
    expect(await times.usualMs("p", "p/m").catch((error: Error) => error.message)).to.equal("away");
    expect([await times.usualMs("p", "p/m"), reads]).to.deep.equal([2, 3]);
  });
});

import { expect } from "chai";
import type { Model } from "../../../../core/providers/catalogue.js";
import { RenderTimes } from "../../../../core/providers/render-times.js";
import { ManualClock } from "../../../support/doubles/manual-clock.js";

describe("RenderTimes", () => {
  const clock = new ManualClock();

  function timesOf(measured: () => Promise<number[]>, usualRenderSeconds?: number): RenderTimes {
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

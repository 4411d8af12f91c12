import { expect } from "chai";
import { PaperCoverPainter } from "../../adapters/cover-art/cover-painter.js";
import { coverPainterContract } from "../contract/cover-painter.contract.js";

coverPainterContract("PaperCoverPainter", () => new PaperCoverPainter());

describe("PaperCoverPainter", () => {
  it("lets the event loop have its turn while it paints", async () => {
    let turns = 0;
    const count = (): void => {
      turns++;
      handle = setImmediate(count);
    };
    let handle = setImmediate(count);
    await new PaperCoverPainter().paint({ seed: "trk_1", tags: { mood: [], activity: [], genre: [], other: [] } });
    clearImmediate(handle);
    expect(turns).to.be.above(50);
  });
});

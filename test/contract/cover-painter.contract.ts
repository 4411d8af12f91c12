import { expect } from "chai";
import { PNG } from "pngjs";
import type { CoverPainter, CoverSubject } from "../../core/ports/cover-painter.js";

const SIZE_MAX_BYTES = 100_000;

function aSubject(seed: string, mood: readonly string[] = []): CoverSubject {
  return { seed, tags: { mood, activity: [], genre: [], other: [] } };
}

/** The promises of every {@link CoverPainter}. */
export function coverPainterContract(name: string, open: () => CoverPainter): void {
  describe(`CoverPainter contract: ${name}`, () => {
    const painter = open();

    it("paints a square PNG that is not all one colour", async () => {
      const png = PNG.sync.read(Buffer.from(await painter.paint(aSubject("trk_1"))));
      expect(png.width).to.equal(png.height).and.to.be.at.least(300);
      const colours = new Set(
        Array.from({ length: png.width }, (_, index) => png.data.readUInt32BE(4 * index * (png.width + 1))),
      );
      expect(colours.size).to.be.above(4);
    });

    it("paints the same image for the same subject, and a different one for each other subject", async () => {
      const [first, again, other, mood] = await Promise.all([
        painter.paint(aSubject("trk_1")),
        painter.paint(aSubject("trk_1")),
        painter.paint(aSubject("trk_2")),
        painter.paint(aSubject("trk_1", ["happy"])),
      ]);
      expect(Buffer.from(again)).to.deep.equal(Buffer.from(first));
      for (const different of [other, mood]) expect(Buffer.compare(different, first)).not.to.equal(0);
    });

    it("stays below 100 kB, whatever it paints", async () => {
      for (let index = 0; index < 12; index++) {
        expect((await painter.paint(aSubject(`trk_${index}`))).length, `trk_${index}`).to.be.below(SIZE_MAX_BYTES);
      }
    });

    it("accepts any text", async () => {
      for (const seed of ["", "🎷", "x".repeat(10_000)])
        expect((await painter.paint(aSubject(seed, [seed]))).length).to.be.above(1_000);
    });
  });
}

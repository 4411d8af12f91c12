import { expect } from "chai";
import type { Random } from "../../core/ports/random.js";

/**
 * The promises of every `Random`.
 *
 * @param open called by each test
 */
export function randomContract(name: string, open: () => Random): void {
  describe(`Random contract: ${name}`, () => {
    it("returns as many bytes as requested", () => {
      const random = open();
      for (const count of [0, 1, 32, 1_000])
        expect(random.bytes(count)).to.be.instanceOf(Uint8Array).with.length(count);
    });

    it("returns different bytes every time", () => {
      const random = open();
      const given = Array.from({ length: 1_000 }, () => Buffer.from(random.bytes(16)).toString("hex"));
      expect(new Set(given).size).to.equal(given.length);
    });

    it("returns every byte value about equally often", () => {
      const counts = new Map<number, number>();
      for (const byte of open().bytes(256 * 400)) counts.set(byte, (counts.get(byte) ?? 0) + 1);
      expect(counts.size).to.equal(256);
      // 400 are expected of each; 200 and 600 are ten standard deviations away.
      for (const count of counts.values()) expect(count).to.be.within(200, 600);
    });

    it("returns fractions from 0 to below 1", () => {
      const random = open();
      for (let drawn = 0; drawn < 1_000; drawn++) {
        const fraction = random.fraction();
        expect(fraction >= 0 && fraction < 1, String(fraction)).to.equal(true);
      }
    });
  });
}

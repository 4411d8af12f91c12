import { expect } from "chai";
import { afterWaiting } from "../../../adapters/storage/sql/mysql/waits.js";
import { megabytesKeptOf } from "../../support/young-garbage.js";

describe("Waits for a server", () => {
  it("keep nothing of the statements that have ended, until whichever collection of garbage", () => {
    const kept = megabytesKeptOf((_number, load) => afterWaiting(60_000, () => expect(load).to.equal(null)));
    expect(kept).to.be.below(3);
  });

  it("end each by itself, in whichever order, and once", async () => {
    const given: number[] = [];
    const ends = [0, 1, 2, 3, 4].map((number) => afterWaiting(1, () => given.push(number)));
    ends[1]?.();
    ends[1]?.();
    ends[4]?.();
    await new Promise<void>((resolve) => afterWaiting(1, resolve));
    expect(given).to.have.members([0, 2, 3]);
    ends[0]?.();
    await new Promise<void>((resolve) => afterWaiting(1, resolve));
    expect(given).to.have.length(3);
  });
});

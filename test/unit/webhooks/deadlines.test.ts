import { expect } from "chai";
import { Deadlines } from "../../../adapters/webhooks/https/deadline.js";
import { megabytesKeptOf } from "../../support/young-garbage.js";

describe("Deadlines", () => {
  it("keep nothing of the attempts that have ended, until whichever collection of garbage", () => {
    const [deadlines, { signal }] = [new Deadlines(), new AbortController()];
    const kept = megabytesKeptOf((_number, load) => {
      const deadline = deadlines.begin(60_000, signal);
      deadline.whenOver(() => expect(load).to.equal(null));
      return () => deadlines.end(deadline);
    });
    expect(kept).to.be.below(3);
  });

  it("abort what a signal is for, all of it at once, and nothing that has ended", () => {
    const [deadlines, stop, other] = [new Deadlines(), new AbortController(), new AbortController()];
    const heard: string[] = [];
    const [first, ended, second, apart] = ["first", "ended", "second", "apart"].map((name) => {
      const deadline = deadlines.begin(60_000, name === "apart" ? other.signal : stop.signal);
      deadline.whenOver(() => heard.push(name));
      return deadline;
    });
    if (ended !== undefined) deadlines.end(ended);
    stop.abort();
    expect(heard).to.have.members(["first", "second"]);
    expect([first, ended, second, apart].map((one) => one?.isOver)).to.deep.equal([true, false, true, false]);
    expect(deadlines.begin(60_000, stop.signal).isOver).to.equal(true);
    deadlines.abortAll("the sender is closed");
    expect(apart?.reason).to.equal("the sender is closed");
    expect(heard).to.have.members(["first", "second", "apart"]);
    for (const one of [first, second, apart]) if (one !== undefined) deadlines.end(one);
  });
});

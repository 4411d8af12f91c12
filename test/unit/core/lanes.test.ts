import { expect } from "chai";
import { LANE_DEFAULTS } from "../../../core/lane.js";
import { Lanes } from "../../../core/lanes.js";
import { ManualClock } from "../../support/doubles/manual-clock.js";
import { outcomes } from "../../support/outcomes.js";

describe("Lanes", () => {
  it("send all commands of a key through one lane, in their order", async () => {
    const seen: string[] = [];
    const lanes = new Lanes<string, string>(
      4,
      async (commands) => {
        seen.push(...commands);
        return commands;
      },
      new ManualClock(),
      { ...LANE_DEFAULTS, groupMax: 2 },
    );
    const keys = ["acct_a", "acct_b", "acct_c", "acct_d", "acct_e"];
    const commands = Array.from({ length: 50 }, (_, index) => ({ key: keys[index % keys.length] as string, index }));
    await Promise.all(commands.map(({ key, index }) => lanes.submit(key, `${key} ${index}`)));
    for (const key of keys) {
      const ofKey = seen.filter((command) => command.startsWith(key)).map((command) => Number(command.split(" ")[1]));
      expect(ofKey).to.deep.equal(ofKey.toSorted((a, b) => a - b));
      expect(ofKey).to.have.length(10);
    }
  });

  it("keep the commands of a key whose command spoilt a group apart for half a minute", async () => {
    const groups: (readonly string[])[] = [];
    const clock = new ManualClock();
    let isSpoilt = true;
    const lanes = new Lanes<string, string>(
      1,
      (commands) => {
        groups.push(commands);
        if (isSpoilt && commands.includes("bad")) return Promise.reject(new Error("spoilt"));
        return Promise.resolve(commands);
      },
      clock,
    );
    const both = (): Promise<string[]> => outcomes(["good", "bad"].map((key) => lanes.submit(key, key)));
    expect(await both()).to.deep.equal(["good", "spoilt"]);
    expect(groups.splice(0)).to.deep.equal([["good", "bad"], ["good"], ["bad"]]);
    expect(await both()).to.deep.equal(["good", "spoilt"]);
    expect(groups.splice(0)).to.deep.equal([["good"], ["bad"]]);
    isSpoilt = false;
    await clock.advance(30_000);
    expect(await both()).to.deep.equal(["good", "bad"]);
    expect(groups).to.deep.equal([["good", "bad"]]);
    await lanes.idle();
  });

  it("take any key, the empty one too, and work side by side", async () => {
    let open = 0;
    let openMost = 0;
    const clock = new ManualClock();
    const lanes = new Lanes<string, string>(
      8,
      async (commands) => {
        openMost = Math.max(openMost, ++open);
        await clock.sleep(1);
        open--;
        return commands;
      },
      clock,
    );
    const keys = ["", "\u{1f3b5}", ...Array.from({ length: 200 }, (_, index) => `acct_${index}`)];
    const all = Promise.all(keys.map((key) => lanes.submit(key, key)));
    await clock.advance(10);
    expect(await all).to.deep.equal(keys);
    expect(openMost).to.equal(8);
    await lanes.idle();
  });

  /** Two lanes, one of which is writing a group; and what the groups behind it come to be. */
  async function alongsideOne() {
    const clock = new ManualClock();
    const groups: string[][] = [];
    const ends: (() => void)[] = [];
    const lanes = new Lanes<string, string>(
      2,
      async (commands) => {
        groups.push([...commands]);
        await new Promise<void>((resolve) => ends.push(resolve));
        return commands;
      },
      clock,
    );
    // The last character alone decides on the lane.
    const done = [lanes.submit("a", "first")];
    await clock.advance(0);
    const submit = (count: number): void => {
      for (let one = 0; one < count; one++) done.push(lanes.submit("b", `b${one}`));
    };
    const endAll = async (): Promise<void> => {
      while (ends.length > 0) {
        ends.splice(0).forEach((end) => end());
        await clock.advance(0);
      }
      await Promise.all(done);
      await lanes.idle();
    };
    return { clock, groups, ends, submit, endAll, lanes };
  }

  it("begin no small group while another is written, and take what arrives meanwhile into it", async () => {
    const { clock, groups, ends, submit, endAll } = await alongsideOne();
    submit(1);
    await clock.advance(1);
    submit(2);
    await clock.advance(1);
    expect(groups).to.deep.equal([["first"]]);
    ends.shift()?.();
    await clock.advance(0);
    expect(groups).to.deep.equal([["first"], ["b0", "b0", "b1"]]);
    await endAll();
  });

  it("begin a group of 16 while another is written", async () => {
    const { clock, groups, submit, endAll } = await alongsideOne();
    submit(15);
    await clock.advance(0);
    expect(groups).to.have.length(1);
    submit(1);
    await clock.advance(0);
    expect(groups.map(({ length }) => length)).to.deep.equal([1, 16]);
    await endAll();
  });

  it("begin a small group after 5 ms while another is written, and the next ones too", async () => {
    const { clock, groups, ends, submit, endAll } = await alongsideOne();
    for (const begun of [2, 3]) {
      submit(1);
      await clock.advance(4);
      expect(groups).to.have.length(begun - 1);
      await clock.advance(1);
      expect(groups).to.have.length(begun);
      ends.pop()?.();
      await clock.advance(0);
    }
    await endAll();
  });

  it("wait hardly longer for a group that is written when the clock is set back", async () => {
    const { clock, groups, submit, endAll } = await alongsideOne();
    clock.set(clock.now() + 10_000);
    submit(1);
    clock.set(clock.now() - 10_000);
    // And 50 ms, since the command seems to come later.
    for (const ms of [5, 50, 5]) await clock.advance(ms);
    expect(groups).to.have.length(2);
    await endAll();
  });

  it("are not held up by a key that is apart", async () => {
    const clock = new ManualClock();
    const groups: (readonly string[])[] = [];
    const lanes = new Lanes<string, string>(
      1,
      async (commands) => {
        groups.push(commands);
        if (groups.length === 1) throw new Error("spoilt");
        if (commands.includes("bad")) await new Promise<void>(() => undefined);
        return commands;
      },
      clock,
    );
    expect(await outcomes([lanes.submit("bad", "bad")])).to.deep.equal(["spoilt"]);
    void lanes.submit("bad", "bad");
    await clock.advance(0);
    expect(await lanes.submit("good", "good")).to.equal("good");
  });
});

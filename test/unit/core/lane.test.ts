import { expect } from "chai";
import fc from "fast-check";
import { RowsLockedError, ServiceUnavailableError } from "../../../core/errors.js";
import { BUSY, Lane, LANE_DEFAULTS, type LaneOptions } from "../../../core/lane.js";
import { ManualClock } from "../../support/doubles/manual-clock.js";
import { outcomes } from "../../support/outcomes.js";

/** A lane whose groups a test lets end one by one. */
function aHeldLane(options: Partial<LaneOptions> = {}): {
  readonly lane: Lane<number, string>;
  readonly clock: ManualClock;
  readonly groups: (readonly number[])[];
  /** Ends the group that runs; resolves when the next one has begun, if there is one. */
  finish(): Promise<void>;
} {
  const clock = new ManualClock();
  const groups: (readonly number[])[] = [];
  let end: () => void = () => undefined;
  const lane = new Lane<number, string>(
    async (commands) => {
      groups.push(commands);
      await new Promise<void>((resolve) => (end = resolve));
      return commands.map((command) => `done ${command}`);
    },
    clock,
    { ...LANE_DEFAULTS, ...options },
  );
  return {
    lane,
    clock,
    groups,
    async finish() {
      end();
      await clock.advance(0);
    },
  };
}

/** A lane that fails every group with a command that `breaks`. */
function aBreakableLane(breaks: (commands: readonly number[]) => Error | null): {
  readonly lane: Lane<number, string>;
  readonly groups: (readonly number[])[];
} {
  const groups: (readonly number[])[] = [];
  const lane = new Lane<number, string>(async (commands) => {
    groups.push(commands);
    const error = breaks(commands);
    if (error !== null) throw error;
    return commands.map((command) => `done ${command}`);
  }, new ManualClock());
  return { lane, groups };
}

async function errorOf(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => expect.fail("it was refused"),
    (error: unknown) => error,
  );
}

describe("Lane", () => {
  it("runs a lone command at once", async () => {
    const { lane, groups } = aBreakableLane(() => null);
    expect(await lane.submit(7)).to.equal("done 7");
    expect(groups).to.deep.equal([[7]]);
  });

  it("takes commands of one tick into one group, and gives each its own result", async () => {
    const { lane, groups } = aBreakableLane(() => null);
    expect(await outcomes([1, 2, 3].map((command) => lane.submit(command)))).to.deep.equal([
      "done 1",
      "done 2",
      "done 3",
    ]);
    expect(groups).to.deep.equal([[1, 2, 3]]);
  });

  it("has one group open at a time and takes what arrived meanwhile into the next, in order", async () => {
    const { lane, clock, groups, finish } = aHeldLane();
    const first = lane.submit(1);
    await clock.advance(0);
    const later = [2, 3, 4].map((command) => lane.submit(command));
    await clock.advance(0);
    expect(groups).to.deep.equal([[1]]);
    await finish();
    expect(groups).to.deep.equal([[1], [2, 3, 4]]);
    await finish();
    expect(await outcomes([first, ...later])).to.deep.equal(["done 1", "done 2", "done 3", "done 4"]);
  });

  it("puts no more than the cap into a group", async () => {
    const { lane, clock, groups, finish } = aHeldLane({ groupMax: 2 });
    const all = [1, 2, 3, 4, 5].map((command) => lane.submit(command));
    await clock.advance(0);
    for (let group = 0; group < 3; group++) await finish();
    await Promise.all(all);
    expect(groups).to.deep.equal([[1, 2], [3, 4], [5]]);
  });

  it("refuses at once when too many wait, and takes commands again afterwards", async () => {
    const { lane, clock, finish } = aHeldLane({ waitingMax: 2 });
    const running = lane.submit(1);
    await clock.advance(0);
    const waiting = [lane.submit(2), lane.submit(3)];
    expect(await errorOf(lane.submit(4))).to.be.instanceOf(ServiceUnavailableError);
    await finish();
    const again = lane.submit(5);
    await finish();
    await finish();
    expect(await outcomes([running, ...waiting, again])).to.deep.equal(["done 1", "done 2", "done 3", "done 5"]);
  });

  it("refuses who waited too long, and runs who waited exactly as long as allowed", async () => {
    const { lane, clock, groups, finish } = aHeldLane({ waitMaxMs: 5_000 });
    const running = lane.submit(1);
    await clock.advance(0);
    const refused = errorOf(lane.submit(2));
    await clock.advance(1);
    const inTime = lane.submit(3);
    await clock.advance(5_000);
    await finish();
    await finish();
    expect(await refused).to.be.instanceOf(ServiceUnavailableError);
    expect(await outcomes([running, inTime])).to.deep.equal(["done 1", "done 3"]);
    expect(groups).to.deep.equal([[1], [3]]);
  });

  it("runs no group for commands that are all too late", async () => {
    const { lane, clock, groups, finish } = aHeldLane({ waitMaxMs: 10 });
    const running = lane.submit(1);
    await clock.advance(0);
    const late = errorOf(lane.submit(2));
    await clock.advance(11);
    await finish();
    await running;
    expect(await late).to.be.instanceOf(ServiceUnavailableError);
    expect(groups).to.deep.equal([[1]]);
  });

  it("refuses who waited too long while a group takes long, not only when it has ended", async () => {
    const { lane, clock, finish } = aHeldLane({ waitMaxMs: 5_000 });
    const running = lane.submit(1);
    await clock.advance(0);
    const late = errorOf(lane.submit(2));
    await clock.advance(5_001);
    expect(await late)
      .to.be.instanceOf(ServiceUnavailableError)
      .and.not.instanceOf(RowsLockedError);
    await finish();
    expect(await running).to.equal("done 1");
    expect(clock.sleeping).to.equal(0);
  });

  describe("with commands whose rows others hold", () => {
    /** The rows of these commands are held; the others are done at once. */
    function aLaneNextTo(held: Set<number>): {
      readonly lane: Lane<number, string>;
      readonly clock: ManualClock;
      readonly groups: (readonly [commands: readonly number[], isAgain: boolean])[];
    } {
      const clock = new ManualClock();
      const groups: (readonly [readonly number[], boolean])[] = [];
      const lane = new Lane<number, string>((commands, isAgain) => {
        groups.push([commands, isAgain]);
        return Promise.resolve(commands.map((command) => (held.has(command) ? BUSY : `done ${command}`)));
      }, clock);
      return { lane, clock, groups };
    }

    it("does the others of the group at once, and those as soon as they are free", async () => {
      const held = new Set([2]);
      const { lane, clock, groups } = aLaneNextTo(held);
      const [first, second, third] = [1, 2, 3].map((command) => lane.submit(command));
      expect(await Promise.all([first, third])).to.deep.equal(["done 1", "done 3"]);
      await clock.advance(10);
      expect(await lane.submit(4)).to.equal("done 4");
      held.clear();
      await clock.advance(50);
      expect(await second).to.equal("done 2");
      expect(groups.at(0)).to.deep.equal([[1, 2, 3], false]);
      expect(groups.at(-1)).to.deep.equal([[2], true]);
      expect(clock.sleeping).to.equal(0);
    });

    it("tries them less and less often, and refuses them after a second", async () => {
      const { lane, clock, groups } = aLaneNextTo(new Set([2]));
      const refused = errorOf(lane.submit(2));
      await clock.advance(50);
      expect(groups).to.have.length(5); // at 0, 2, 6, 14 and 30 ms
      await clock.advance(950);
      expect(groups.length).to.be.within(20, 25);
      await clock.advance(1);
      expect(await refused)
        .to.be.instanceOf(RowsLockedError)
        .and.have.property("retryAfterSeconds", 1);
      await lane.idle();
      expect(clock.sleeping).to.equal(0);
    });

    it("takes them into groups in the order in which they came", async () => {
      const held = new Set([1, 2, 3]);
      const { lane, clock, groups } = aLaneNextTo(held);
      const all = [1, 2, 3].map((command) => lane.submit(command));
      await clock.advance(1);
      held.clear();
      all.push(lane.submit(4));
      await clock.advance(1);
      expect(await Promise.all(all)).to.deep.equal(["done 1", "done 2", "done 3", "done 4"]);
      expect(groups.slice(-2)).to.deep.equal([
        [[4], false],
        [[1, 2, 3], true],
      ]);
    });
  });

  it("halves a group that a lasting lock holds up", async () => {
    const { lane, groups } = aBreakableLane((commands) => (commands.includes(3) ? new RowsLockedError() : null));
    const locked = new RowsLockedError().message;
    expect(await outcomes([1, 2, 3, 4].map((command) => lane.submit(command)))).to.deep.equal([
      "done 1",
      "done 2",
      locked,
      "done 4",
    ]);
    expect(groups).to.deep.equal([[1, 2, 3, 4], [1, 2], [3, 4], [3], [4]]);
  });

  it("halves a group until the command that spoils it stands alone", async () => {
    const { lane, groups } = aBreakableLane((commands) => (commands.includes(6) ? new Error("spoilt") : null));
    const all = [1, 2, 3, 4, 5, 6, 7, 8].map((command) => lane.submit(command));
    expect(await outcomes(all)).to.deep.equal([
      "done 1",
      "done 2",
      "done 3",
      "done 4",
      "done 5",
      "spoilt",
      "done 7",
      "done 8",
    ]);
    expect(groups).to.deep.equal([[1, 2, 3, 4, 5, 6, 7, 8], [1, 2, 3, 4], [5, 6, 7, 8], [5, 6], [5], [6], [7, 8]]);
  });

  it("does not halve a group when the storage is unavailable: no command in it is at fault", async () => {
    const { lane, groups } = aBreakableLane(() => new ServiceUnavailableError("no storage"));
    expect(await outcomes([1, 2, 3, 4].map((command) => lane.submit(command)))).to.deep.equal(
      Array(4).fill("no storage"),
    );
    expect(groups).to.have.length(1);
  });

  it("goes on after a failed group", async () => {
    let isDown = true;
    const { lane } = aBreakableLane(() => (isDown ? new ServiceUnavailableError("no storage") : null));
    expect(await outcomes([lane.submit(1)])).to.deep.equal(["no storage"]);
    isDown = false;
    expect(await lane.submit(2)).to.equal("done 2");
  });

  it("is idle when nothing waits or runs", async () => {
    const { lane, clock, finish } = aHeldLane();
    await lane.idle();
    const done = lane.submit(1);
    let isIdle = false;
    const idle = lane.idle().then(() => (isIdle = true));
    await clock.advance(0);
    expect(isIdle).to.equal(false);
    await finish();
    await Promise.all([done, idle]);
    expect(isIdle).to.equal(true);
  });

  it("resolves every command with its own result or its own failure, whichever of them break a group", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(fc.nat({ max: 99 }), { maxLength: 30 }),
        fc.uniqueArray(fc.nat({ max: 99 })),
        async (commands, poison) => {
          const { lane } = aBreakableLane((group) =>
            group.some((command) => poison.includes(command)) ? new Error("spoilt") : null,
          );
          const expected = commands.map((command) => (poison.includes(command) ? "spoilt" : `done ${command}`));
          expect(await outcomes(commands.map((command) => lane.submit(command)))).to.deep.equal(expected);
        },
      ),
      { numRuns: 50 },
    );
  });
});

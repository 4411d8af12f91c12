import { expect } from "chai";
import sinon from "sinon";
import { SystemClock } from "../../adapters/system/clock.js";
import { UlidGenerator } from "../../adapters/system/id-generator.js";
import { StorageClock } from "../../adapters/system/storage-clock.js";
import { SystemRandom } from "../../adapters/system/random.js";
import { clockContract } from "../contract/clock.contract.js";
import { idGeneratorContract } from "../contract/id-generator.contract.js";
import { randomContract } from "../contract/random.contract.js";
import { SILENT } from "../support/databases.js";
import { ManualClock } from "../support/doubles/manual-clock.js";
import { ManualRandom } from "../support/doubles/manual-random.js";

clockContract("SystemClock", () => {
  const clock = new SystemClock();
  return { clock, pass: (ms) => clock.sleep(ms) };
});
clockContract("StorageClock", async () => {
  const clock = await StorageClock.start({ readStorageTime: async () => Date.now(), logger: SILENT });
  return { clock, pass: (ms) => clock.sleep(ms) };
});
clockContract("ManualClock", () => {
  const clock = new ManualClock();
  return { clock, pass: (ms) => clock.advance(ms) };
});
randomContract("SystemRandom", () => new SystemRandom());
randomContract("ManualRandom", () => new ManualRandom());
idGeneratorContract("UlidGenerator", () => new UlidGenerator(new SystemClock(), new SystemRandom()));

describe("SystemClock", () => {
  it("leaves no timer when a sleep is aborted", async () => {
    const fake = sinon.useFakeTimers();
    const stop = new AbortController();
    const slept = new SystemClock().sleep(3_600_000, stop.signal);
    expect(fake.countTimers()).to.equal(1);
    stop.abort();
    await slept;
    expect(fake.countTimers()).to.equal(0);
  });

  it("sleeps longer than the maximum of a timer", async () => {
    const fake = sinon.useFakeTimers();
    const weeks = 5 * 7 * 86_400_000;
    let awake = false;
    const slept = new SystemClock().sleep(weeks).then(() => (awake = true));
    await fake.tickAsync(weeks - 1);
    expect(awake).to.equal(false);
    await fake.tickAsync(1);
    await slept;
  });
});

describe("UlidGenerator", () => {
  it("starts ids with the time of its clock", () => {
    const id = new UlidGenerator(new ManualClock(1), new SystemRandom()).next("job");
    expect(id).to.match(/^job_0{9}1/);
  });

  it("keeps the order when the clock stops or goes back", () => {
    const clock = new ManualClock();
    const ids = new UlidGenerator(clock, new SystemRandom());
    const created = [ids.next("job"), ids.next("job")];
    clock.set(clock.now() - 60_000);
    created.push(ids.next("job"), ids.next("job"));
    expect([...created].sort()).to.deep.equal(created);
    expect(new Set(created).size).to.equal(4);
  });
});

describe("ManualClock", () => {
  it("wakes each sleeper at its own time, those that started meanwhile included", async () => {
    const clock = new ManualClock(0);
    const woken: number[] = [];
    const loop = (async () => {
      for (let round = 0; round < 3; round++) {
        await clock.sleep(10);
        woken.push(clock.now());
      }
    })();
    await clock.advance(100);
    await loop;
    expect(woken).to.deep.equal([10, 20, 30]);
    expect(clock.now()).to.equal(100);
    expect(clock.sleeping).to.equal(0);
  });

  it("wakes no sleeper when it is set", async () => {
    const clock = new ManualClock(0);
    const stop = new AbortController();
    const slept = clock.sleep(10, stop.signal);
    clock.set(1_000);
    expect(clock.sleeping).to.equal(1);
    stop.abort();
    await slept;
  });
});

import { expect } from "chai";
import sinon from "sinon";
import { measureStorageTime, StorageClock } from "../../adapters/system/storage-clock.js";
import { RecordingLogger } from "../support/doubles/recording-logger.js";

const NOON = Date.parse("2026-11-21T12:00:00.000Z");
const [MINUTE, HOUR] = [60_000, 3_600_000];

/** A machine and a storage, each with its own clock, and a network delay. Time passes when a test says so. */
class TwoClocks {
  monotonicMs = 1_234.5;
  wallMs = NOON;
  storageMs = NOON;
  /** The delays of the next readings, in order; then 1 ms each. */
  roundTrips: number[] = [];
  /** When the storage reads its clock, as a share of the round trip. */
  readAfter = 0.5;
  /** The errors of the next readings. */
  failures: Error[] = [];
  readings = 0;

  pass(ms: number): void {
    this.monotonicMs += ms;
    this.wallMs += ms;
    this.storageMs += ms;
  }

  readonly monotonic = (): number => this.monotonicMs;
  readonly wall = (): number => this.wallMs;

  /** The storage's clock has whole milliseconds. */
  readonly readStorageTime = async (): Promise<number> => {
    this.readings += 1;
    const failure = this.failures.shift();
    if (failure !== undefined) throw failure;
    const roundTripMs = this.roundTrips.shift() ?? 1;
    this.pass(roundTripMs * this.readAfter);
    const time = Math.floor(this.storageMs);
    this.pass(roundTripMs * (1 - this.readAfter));
    return time;
  };
}

describe("StorageClock", () => {
  let clocks: TwoClocks;
  let logger: RecordingLogger;
  const started: StorageClock[] = [];
  beforeEach(() => {
    clocks = new TwoClocks();
    logger = new RecordingLogger();
  });
  afterEach(() => started.splice(0).forEach((clock) => clock.close()));

  async function start(): Promise<StorageClock> {
    const clock = await StorageClock.start({ ...clocks, logger });
    started.push(clock);
    return clock;
  }

  const lines = (): string[] => logger.lines.map(({ level, message }) => `${level} ${message.slice(0, 36)}`);

  for (const [name, offMs] of [
    ["61 minutes ahead", 61 * MINUTE],
    ["24 hours ahead", 24 * HOUR],
    ["24 hours behind", -24 * HOUR],
  ] as const) {
    it(`returns the storage's time on a machine that is ${name}, and the machine's deviation`, async () => {
      clocks.wallMs += offMs;
      const clock = await start();
      expect(clock.now()).to.be.within(clocks.storageMs - 2, clocks.storageMs);
      clocks.pass(HOUR);
      expect(clock.now()).to.be.within(clocks.storageMs - 2, clocks.storageMs);
      expect(clock.offsetMs).to.be.within(offMs - 2, offMs + 2);
    });
  }

  it("keeps running when the machine's clock is set, and measures again at once", async () => {
    const clock = await start();
    const before = clocks.readings;
    clocks.wallMs += 24 * HOUR;
    clocks.pass(10);
    expect(clock.now()).to.be.within(clocks.storageMs - 2, clocks.storageMs);
    await clock.measure();
    expect(clocks.readings).to.equal(before + 1);
    expect(clock.now()).to.be.within(clocks.storageMs - 2, clocks.storageMs);
    expect(clock.offsetMs).to.be.within(24 * HOUR - 2, 24 * HOUR + 2);
  });

  it("measures again when the machine wakes from suspend, which stops its monotonic clock", async () => {
    const clock = await start();
    clocks.wallMs += HOUR;
    clocks.storageMs += HOUR;
    clock.now();
    await clock.measure();
    expect(clock.now()).to.be.within(clocks.storageMs - 2, clocks.storageMs);
    expect(lines()).to.deep.equal(["warn The storage's clock was set, or this"]);
  });

  it("subtracts half of the round trip of the fastest of five measurements", async () => {
    clocks.roundTrips = [400, 900, 60, 300, 700];
    const sample = await measureStorageTime(clocks.readStorageTime, clocks.monotonic);
    expect([clocks.readings, sample.roundTripMs]).to.deep.equal([5, 60]);
    expect(sample.time + (clocks.monotonicMs - sample.at)).to.be.within(clocks.storageMs - 1, clocks.storageMs);
  });

  it("stops measuring after a fast response", async () => {
    clocks.roundTrips = [400, 5];
    await measureStorageTime(clocks.readStorageTime, clocks.monotonic);
    expect(clocks.readings).to.equal(2);
  });

  it("keeps the last measurement when every response takes longer than a second", async () => {
    const clock = await start();
    // Half of such a round trip would make the clock 1.5 s wrong.
    clocks.readAfter = 0;
    clocks.roundTrips = Array.from({ length: 5 }, () => 3_000);
    await clock.measure();
    expect(clocks.readings).to.equal(1 + 5);
    expect(clock.now()).to.be.within(clocks.storageMs - 2, clocks.storageMs);
  });

  it("is set forward at once when it was behind", async () => {
    const clock = await start();
    clocks.storageMs += 700;
    await clock.measure();
    expect(clock.now()).to.be.within(clocks.storageMs - 2, clocks.storageMs);
    expect(lines()).to.deep.equal([]);
  });

  it("runs at half speed when it was ahead, never backwards, until it is correct", async () => {
    const clock = await start();
    clocks.storageMs -= 1_000;
    const shown = [clock.now()];
    await clock.measure();
    for (let step = 0; step < 30; step++) {
      clocks.pass(100);
      shown.push(clock.now());
    }
    expect(shown).to.deep.equal([...shown].sort((one, other) => one - other));
    // Half of a second after one second, and all of it after two.
    expect((shown[11] as number) - (shown[1] as number)).to.be.within(499, 501);
    expect(clock.now()).to.be.within(clocks.storageMs - 2, clocks.storageMs);
    expect(lines()).to.deep.equal([]);
  });

  it("is set back when the storage's clock was set back by more than ten seconds, and logs it", async () => {
    const clock = await start();
    clocks.storageMs -= HOUR;
    clocks.wallMs -= HOUR;
    await clock.measure();
    expect(clock.now()).to.be.within(clocks.storageMs - 2, clocks.storageMs);
    expect(lines()).to.deep.equal(["warn The storage's clock was set, or this"]);
    expect(logger.lines[0]?.fields["seconds"]).to.be.closeTo(-3_600, 0.01);
  });

  it("fails to start when the storage's clock cannot be read", async () => {
    clocks.failures = [new Error("no response")];
    const refusal = await start().then(
      () => null,
      (error: Error) => error.message,
    );
    expect(refusal).to.equal("no response");
  });

  it("warns once when the machine is off by more than two seconds, and logs when it is correct again", async () => {
    clocks.wallMs += 1_900;
    const clock = await start();
    expect(lines()).to.deep.equal([]);
    for (const wallStepMs of [200, 500, -700, 300]) {
      clocks.wallMs += wallStepMs;
      await clock.measure();
    }
    expect(lines()).to.deep.equal(["warn This machine's clock differs from th"]);
    expect(logger.lines[0]?.fields["seconds"]).to.be.closeTo(2.1, 0.01);
    clocks.wallMs -= 2_000;
    await clock.measure();
    await clock.measure();
    expect(lines()).to.deep.equal([
      "warn This machine's clock differs from th",
      "info This machine's clock agrees with the",
    ]);
  });

  describe("between measurements", () => {
    let fake: sinon.SinonFakeTimers;
    beforeEach(() => {
      fake = sinon.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    });

    async function pass(ms: number): Promise<void> {
      clocks.pass(ms);
      await fake.tickAsync(ms);
    }

    it("measures every minute, until it is closed", async () => {
      const clock = await start();
      for (const minutes of [1, 2]) {
        await pass(MINUTE);
        expect(clocks.readings).to.equal(1 + minutes);
      }
      clock.close();
      await pass(MINUTE);
      expect([clocks.readings, fake.countTimers()]).to.deep.equal([3, 0]);
      expect(clock.now()).to.be.within(clocks.storageMs - 2, clocks.storageMs);
    });

    it("keeps the last measurement when one fails, and repeats it after five seconds", async () => {
      const clock = await start();
      clocks.failures = [new Error("no response"), new Error("no response")];
      await pass(MINUTE);
      expect(clock.now()).to.be.within(clocks.storageMs - 2, clocks.storageMs);
      clocks.storageMs += 500;
      await pass(5_000);
      expect(clock.now()).to.be.within(clocks.storageMs - 502, clocks.storageMs - 498);
      await pass(5_000);
      expect(clock.now()).to.be.within(clocks.storageMs - 2, clocks.storageMs);
      expect(clocks.readings).to.equal(4);
    });
  });
});

import { getEventListeners } from "node:events";
import { expect } from "chai";
import type { Clock } from "../../core/ports/clock.js";

/** A clock, and how a test lets its time pass. */
export interface ClockUnderTest {
  readonly clock: Clock;
  /** Advances the time. */
  pass(ms: number): Promise<void>;
}

/**
 * The promises of every `Clock`.
 *
 * @param open called by each test
 */
export function clockContract(name: string, open: () => ClockUnderTest | Promise<ClockUnderTest>): void {
  describe(`Clock contract: ${name}`, () => {
    it("returns whole milliseconds since 1970", async () => {
      const { clock } = await open();
      expect(Number.isSafeInteger(clock.now())).to.equal(true);
      expect(clock.now()).to.be.greaterThan(Date.parse("2020-01-01T00:00:00.000Z"));
    });

    it("advances while time passes", async () => {
      const { clock, pass } = await open();
      const before = clock.now();
      await pass(20);
      expect(clock.now()).to.be.greaterThan(before);
    });

    it("wakes sleepers in the order of their wake times, not of their starts", async () => {
      const { clock, pass } = await open();
      const woken: string[] = [];
      const sleeps = [
        clock.sleep(30).then(() => woken.push("long")),
        clock.sleep(1).then(() => woken.push("short")),
        clock.sleep(15).then(() => woken.push("middle")),
      ];
      await pass(60);
      await Promise.all(sleeps);
      expect(woken).to.deep.equal(["short", "middle", "long"]);
    });

    it("wakes at once from a sleep of 0 ms", async () => {
      const { clock, pass } = await open();
      const slept = clock.sleep(0);
      await pass(1);
      await slept;
    });

    it("ends a sleep when its signal aborts, without an error", async () => {
      const { clock } = await open();
      const stop = new AbortController();
      const slept = clock.sleep(3_600_000, stop.signal);
      stop.abort();
      expect(await slept).to.equal(undefined);
    });

    it("does not sleep with an aborted signal", async () => {
      const { clock } = await open();
      expect(await clock.sleep(3_600_000, AbortSignal.abort())).to.equal(undefined);
    });

    it("leaves no listener on the signal, however the sleep ends", async () => {
      const { clock, pass } = await open();
      const stop = new AbortController();
      const slept = clock.sleep(1, stop.signal);
      await pass(20);
      await slept;
      expect(getEventListeners(stop.signal, "abort")).to.have.length(0);
      const cut = clock.sleep(3_600_000, stop.signal);
      stop.abort();
      await cut;
      expect(getEventListeners(stop.signal, "abort")).to.have.length(0);
    });
  });
}

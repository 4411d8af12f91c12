import { setImmediate as nextTurn } from "node:timers/promises";
import { expect } from "chai";
import { BackgroundLoop } from "../../../core/background-loop.js";
import { NOON } from "../../support/builders.js";
import { ManualClock } from "../../support/doubles/manual-clock.js";
import { RecordingLogger } from "../../support/doubles/recording-logger.js";

const PAUSE_MS = 1_000;
const ERROR_PAUSE_MS = 5_000;

/** A loop that records when its steps begin, and whose steps do what a test says. */
function setUp(
  step: (number: number, signal: AbortSignal) => Promise<number | null> = () => Promise.resolve(PAUSE_MS),
) {
  const clock = new ManualClock(NOON);
  const logger = new RecordingLogger();
  const begunAtMs: number[] = [];
  const loop = new BackgroundLoop({
    step: (signal) => {
      begunAtMs.push(clock.now() - NOON);
      return step(begunAtMs.length, signal);
    },
    errorPauseMs: ERROR_PAUSE_MS,
    clock,
    logger: logger.child({ task: "a task" }),
    errorMessage: "The work failed",
  });
  return { loop, clock, logger, begunAtMs };
}

/** A step that runs until it is let go. */
function held(): { readonly over: Promise<number | null>; end(pauseMs?: number | null): void } {
  let end: (pauseMs?: number | null) => void = () => undefined;
  const over = new Promise<number | null>((resolve) => (end = (pauseMs = PAUSE_MS) => resolve(pauseMs)));
  return { over, end };
}

/** Whether a promise is settled, once all that was under way has had its turn. */
async function isOver(promise: Promise<unknown>): Promise<boolean> {
  let settled = false;
  void promise.then(() => (settled = true));
  await nextTurn();
  return settled;
}

describe("A background loop", () => {
  it("steps at once, and again after each pause that the step asked for", async () => {
    const { loop, clock, begunAtMs } = setUp((number) => Promise.resolve(number * PAUSE_MS));
    loop.start();
    expect(begunAtMs).to.deep.equal([0]);
    await clock.advance(10 * PAUSE_MS);
    expect(begunAtMs).to.deep.equal([0, 1_000, 3_000, 6_000, 10_000]);
    await loop.stop();
    expect(clock.sleeping).to.equal(0);
  });

  it("begins after a first pause, or with the first wake", async () => {
    const later = setUp();
    later.loop.start(300);
    await later.clock.advance(299);
    expect(later.begunAtMs).to.deep.equal([]);
    await later.clock.advance(1);
    expect(later.begunAtMs).to.deep.equal([300]);

    const woken = setUp();
    woken.loop.start(null);
    await woken.clock.advance(86_400_000);
    expect([woken.begunAtMs, woken.clock.sleeping]).to.deep.equal([[], 0]);
    woken.loop.wake();
    await nextTurn();
    expect(woken.begunAtMs).to.deep.equal([86_400_000]);
  });

  it("rests without a timer until it is woken where the step asked for that", async () => {
    const { loop, clock, begunAtMs } = setUp(() => Promise.resolve(null));
    loop.start();
    await clock.advance(86_400_000);
    expect([begunAtMs, clock.sleeping]).to.deep.equal([[0], 0]);
    loop.wake();
    await nextTurn();
    expect(begunAtMs).to.have.length(2);
    await loop.stop();
  });

  it("is woken within a time, never later than it would have stepped anyway", async () => {
    const { loop, clock, begunAtMs } = setUp();
    loop.start();
    await clock.advance(0);
    loop.wake(400);
    loop.wake(600);
    loop.wake(5_000);
    await clock.advance(400);
    expect(begunAtMs).to.deep.equal([0, 400]);
    // The timers of the pause before are gone with it.
    expect(clock.sleeping).to.equal(1);
    await clock.advance(PAUSE_MS);
    expect(begunAtMs).to.deep.equal([0, 400, 1_400]);
  });

  it("holds one timer for any number of calls that ask for the same time", async () => {
    const { loop, clock, begunAtMs } = setUp(() => Promise.resolve(null));
    loop.start(null);
    for (let call = 0; call < 100; call++) loop.wake(300);
    expect(clock.sleeping).to.equal(1);
    await clock.advance(100);
    loop.wake(300);
    expect(clock.sleeping).to.equal(1);
    loop.wake(50);
    await clock.advance(50);
    expect(begunAtMs).to.deep.equal([150]);
    expect(clock.sleeping).to.equal(0);
    loop.wake(300);
    await clock.advance(300);
    expect(begunAtMs).to.deep.equal([150, 450]);
    await loop.stop();
  });

  it("steps again at once when it was woken during a step", async () => {
    const first = held();
    const { loop, clock, begunAtMs } = setUp((number) => (number === 1 ? first.over : Promise.resolve(PAUSE_MS)));
    loop.start();
    loop.wake(700);
    loop.wake();
    await clock.advance(200);
    expect(begunAtMs).to.deep.equal([0]);
    first.end();
    await nextTurn();
    expect(begunAtMs).to.deep.equal([0, 200]);
    await clock.advance(PAUSE_MS - 1);
    expect(begunAtMs).to.deep.equal([0, 200]);
  });

  it("logs a step that throws, and goes on after its pause", async () => {
    const { loop, clock, logger, begunAtMs } = setUp((number) =>
      number === 2 ? Promise.reject(new Error("no luck")) : Promise.resolve(PAUSE_MS),
    );
    loop.start();
    await clock.advance(PAUSE_MS + ERROR_PAUSE_MS + PAUSE_MS);
    expect(begunAtMs).to.deep.equal([0, 1_000, 6_000, 7_000]);
    expect(logger.lines.map(({ level, message, fields }) => [level, message, fields["task"]])).to.deep.equal([
      ["error", "The work failed", "a task"],
    ]);
  });

  it("goes on after a step that throws before its first wait", async () => {
    const { loop, clock, logger, begunAtMs } = setUp((number) => {
      if (number === 1) throw new Error("no luck");
      return Promise.resolve(PAUSE_MS);
    });
    loop.start();
    await clock.advance(ERROR_PAUSE_MS);
    expect(begunAtMs).to.deep.equal([0, 5_000]);
    expect(logger.lines).to.have.length(1);
  });

  it("keeps its pauses when the system clock is set", async () => {
    const { loop, clock, begunAtMs } = setUp();
    loop.start();
    await nextTurn();
    clock.set(NOON - 3_600_000);
    loop.wake(PAUSE_MS / 2);
    await clock.advance(PAUSE_MS / 2);
    expect(begunAtMs).to.have.length(2);
  });

  describe("asked for its next step", () => {
    it("says when a step that began after the question is over", async () => {
      const steps = [held(), held()];
      const { loop, begunAtMs } = setUp((number) => steps[number - 1]?.over ?? Promise.resolve(null));
      loop.start();
      const heard = loop.nextStep();
      steps[0]?.end();
      expect(await isOver(heard)).to.equal(false);
      expect(begunAtMs).to.have.length(2);
      steps[1]?.end();
      expect(await isOver(heard)).to.equal(true);
    });

    it("says so of a step that failed", async () => {
      const { loop } = setUp((number) =>
        number === 2 ? Promise.reject(new Error("no luck")) : Promise.resolve(PAUSE_MS),
      );
      loop.start();
      await nextTurn();
      expect(await isOver(loop.nextStep())).to.equal(true);
    });

    it("waits for its start", async () => {
      const { loop } = setUp();
      const heard = loop.nextStep();
      expect(await isOver(heard)).to.equal(false);
      loop.start();
      expect(await isOver(heard)).to.equal(true);
    });

    it("says so when it is stopped, before its start too", async () => {
      const { loop } = setUp();
      const heard = loop.nextStep();
      await loop.stop();
      expect(await isOver(heard)).to.equal(true);
      expect(await isOver(loop.nextStep())).to.equal(true);

      const step = held();
      const running = setUp(() => step.over);
      running.loop.start();
      const [during] = [running.loop.nextStep(), running.loop.stop()];
      const after = running.loop.nextStep();
      expect([await isOver(during), await isOver(after)]).to.deep.equal([false, false]);
      step.end();
      expect([await isOver(during), await isOver(after)]).to.deep.equal([true, true]);
      expect(running.begunAtMs).to.have.length(1);
    });
  });

  describe("that is stopped", () => {
    it("aborts the step's signal, waits for the step and begins no other", async () => {
      const step = held();
      let given: AbortSignal | null = null;
      const { loop, clock, begunAtMs } = setUp((_number, signal) => {
        given = signal;
        return step.over;
      });
      loop.start();
      const stopped = loop.stop();
      expect((given as AbortSignal | null)?.aborted).to.equal(true);
      loop.wake();
      expect(await isOver(stopped)).to.equal(false);
      step.end(0);
      expect(await isOver(stopped)).to.equal(true);
      await clock.advance(10 * PAUSE_MS);
      expect([begunAtMs, clock.sleeping]).to.deep.equal([[0], 0]);
    });

    it("during its pause ends at once", async () => {
      const { loop, clock, begunAtMs } = setUp();
      loop.start();
      await clock.advance(10);
      await loop.stop();
      expect([begunAtMs, clock.sleeping, loop.isStopped]).to.deep.equal([[0], 0, true]);
    });

    it("before its start never steps", async () => {
      const { loop, clock, begunAtMs } = setUp();
      await loop.stop();
      loop.start();
      await clock.advance(10 * PAUSE_MS);
      expect([begunAtMs, clock.sleeping]).to.deep.equal([[], 0]);
    });

    it("twice, or started twice, is fine", async () => {
      const { loop, clock, begunAtMs } = setUp();
      loop.start();
      loop.start();
      await clock.advance(PAUSE_MS);
      await Promise.all([loop.stop(), loop.stop()]);
      await loop.stop();
      expect([begunAtMs, clock.sleeping]).to.deep.equal([[0, 1_000], 0]);
    });

    it("logs what fails during the stop, but not the abort itself", async () => {
      const until = (signal: AbortSignal, error?: Error): Promise<never> =>
        new Promise((_resolve, reject) =>
          signal.addEventListener("abort", () => reject(error ?? (signal.reason as Error))),
        );
      const aborted = setUp((_number, signal) => until(signal));
      aborted.loop.start();
      await aborted.loop.stop();
      expect(aborted.logger.lines).to.deep.equal([]);

      const failed = setUp((_number, signal) => until(signal, new Error("no luck")));
      failed.loop.start();
      await failed.loop.stop();
      expect(failed.logger.lines).to.have.length(1);
    });
  });
});

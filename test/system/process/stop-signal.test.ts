import { EventEmitter } from "node:events";
import { expect } from "chai";
import sinon from "sinon";
import { nextStopSignal, type SignalledProcess, stopMaxMs } from "../../../config/stop-signal.js";

describe("The stop signal", () => {
  let clock: sinon.SinonFakeTimers;
  let signals: EventEmitter;
  let exits: unknown[];
  let process: SignalledProcess;
  beforeEach(() => {
    clock = sinon.useFakeTimers();
    signals = new EventEmitter();
    exits = [];
    const fake = {
      on: signals.on.bind(signals),
      off: signals.off.bind(signals),
      exit: (code: unknown) => exits.push(code),
    };
    process = fake as unknown as SignalledProcess;
  });

  const listeners = (): number => signals.listenerCount("SIGINT") + signals.listenerCount("SIGTERM");

  it("counts once when one Ctrl-C arrives twice", async () => {
    const signal = nextStopSignal(process, 300_000, () => undefined);
    signals.emit("SIGINT", "SIGINT");
    await clock.tickAsync(900);
    signals.emit("SIGINT", "SIGINT");
    expect(await signal.received).to.equal("SIGINT");
    expect([signal.again.aborted, listeners()]).to.deep.equal([false, 2]);
  });

  it("counts as a second one after that, also as another signal; a third is left to Node", async () => {
    const signal = nextStopSignal(process, 300_000, () => undefined);
    signals.emit("SIGTERM", "SIGTERM");
    await clock.tickAsync(1_000);
    signals.emit("SIGINT", "SIGINT");
    signals.emit("SIGINT", "SIGINT");
    expect([signal.again.aborted, listeners()]).to.deep.equal([true, 2]);
    await clock.tickAsync(1_000);
    expect(listeners()).to.equal(0);
  });

  it("forces the process to exit with 1 within 10 s, also while it hangs in its start", async () => {
    const late = sinon.spy();
    nextStopSignal(process, 300_000, late);
    signals.emit("SIGTERM", "SIGTERM");
    await clock.tickAsync(9_999);
    expect([late.callCount, exits]).to.deep.equal([1, [1]]);
  });

  it("gives the process its drain time, and 9.5 s for the rest", async () => {
    const signal = nextStopSignal(process, 300_000, () => undefined);
    signals.emit("SIGTERM", "SIGTERM");
    signal.limit(30_000);
    await clock.tickAsync(39_000);
    expect(exits).to.deep.equal([]);
    signal.limit(0);
    await clock.tickAsync(9_000);
    expect(exits).to.deep.equal([]);
    await clock.tickAsync(500);
    expect([exits, stopMaxMs(30_000)]).to.deep.equal([[1], 39_500]);
  });

  it("gives the process at most the whole drain time and 9.5 s", async () => {
    const signal = nextStopSignal(process, 0, () => undefined);
    signals.emit("SIGTERM", "SIGTERM");
    await clock.tickAsync(5_000);
    signal.limit(5_000);
    await clock.tickAsync(4_499);
    expect(exits).to.deep.equal([]);
    await clock.tickAsync(1);
    expect(exits).to.deep.equal([1]);
  });

  it("gives the process 2.5 s when it arrives a second time, whatever the drain time", async () => {
    const signal = nextStopSignal(process, 300_000, () => undefined);
    signals.emit("SIGTERM", "SIGTERM");
    signal.limit(300_000);
    await clock.tickAsync(5_000);
    signals.emit("SIGTERM", "SIGTERM");
    signal.limit(300_000);
    await clock.tickAsync(2_499);
    expect(exits).to.deep.equal([]);
    await clock.tickAsync(1);
    expect(exits).to.deep.equal([1]);
  });

  it("does not force a process that stopped in time", async () => {
    const signal = nextStopSignal(process, 300_000, () => undefined);
    signals.emit("SIGTERM", "SIGTERM");
    signal.forget();
    await clock.tickAsync(600_000);
    expect([exits, listeners()]).to.deep.equal([[], 0]);
  });
});

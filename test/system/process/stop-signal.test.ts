import { EventEmitter } from "node:events";
import { expect } from "chai";
import sinon from "sinon";
import { nextStopSignal, type SignalledProcess } from "../../../config/stop-signal.js";

describe("The wish to stop", () => {
  let clock: sinon.SinonFakeTimers;
  let signals: EventEmitter;
  let exits: unknown[];
  let process: SignalledProcess;
  beforeEach(() => {
    clock = sinon.useFakeTimers();
    signals = new EventEmitter();
    exits = [];
    const fake = { on: signals.on.bind(signals), off: signals.off.bind(signals), exit: (code: unknown) => exits.push(code) };
    process = fake as unknown as SignalledProcess;
  });

  it("is heard once when the same Ctrl-C arrives twice, and a later one is left to Node", async () => {
    const signal = nextStopSignal(process, () => undefined);
    signals.emit("SIGINT", "SIGINT");
    signals.emit("SIGINT", "SIGINT");
    expect(await signal.received).to.equal("SIGINT");
    expect(signals.listenerCount("SIGINT")).to.equal(1);
    await clock.tickAsync(1_000);
    expect(signals.listenerCount("SIGINT") + signals.listenerCount("SIGTERM")).to.equal(0);
  });

  it("ends the process within 10 s, also one that hangs while it starts", async () => {
    const late = sinon.spy();
    nextStopSignal(process, late);
    signals.emit("SIGTERM", "SIGTERM");
    await clock.tickAsync(9_999);
    expect([late.callCount, exits]).to.deep.equal([1, [0]]);
  });

  it("forces nothing on a process that stopped in time", async () => {
    const signal = nextStopSignal(process, () => undefined);
    signals.emit("SIGTERM", "SIGTERM");
    signal.forget();
    await clock.tickAsync(60_000);
    expect(exits).to.deep.equal([]);
  });
});

import type { ServerResponse } from "node:http";
import { expect } from "chai";
import sinon from "sinon";
import { StalledResponses } from "../../../adapters/http/connections/stalled-responses.js";

const LIMIT_MS = 60_000;

/** A connection as far as it matters: bytes that were written, and those of them that the client has not taken. */
class FakeSocket {
  bytesWritten = 1_000;
  writableLength = 1_000;
  readonly destroy = sinon.spy();
}

describe("StalledResponses", () => {
  let clock: sinon.SinonFakeTimers;
  let socket: FakeSocket;
  let responses: Set<ServerResponse>;
  beforeEach(() => {
    clock = sinon.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
    socket = new FakeSocket();
    responses = new Set([{ socket } as unknown as ServerResponse]);
    new StalledResponses(() => responses, LIMIT_MS).watch();
  });
  afterEach(() => clock.restore());

  it("closes the connection when the client took nothing for as long as it may", () => {
    clock.tick(LIMIT_MS);
    expect(socket.destroy.called).to.equal(false);
    clock.tick(LIMIT_MS / 12);
    expect(socket.destroy.calledOnce).to.equal(true);
  });

  it("leaves a client alone that takes a little now and then", () => {
    for (let minute = 0; minute < 10; minute++) {
      clock.tick(LIMIT_MS * 0.9);
      socket.writableLength -= 1;
    }
    expect(socket.destroy.called).to.equal(false);
  });

  it("is not misled by what is written behind what the client does not take", () => {
    for (let step = 0; step < 13; step++) {
      clock.tick(LIMIT_MS / 12);
      socket.bytesWritten += 100;
      socket.writableLength += 100;
    }
    expect(socket.destroy.calledOnce).to.equal(true);
  });

  it("leaves a response alone that has nothing to be read yet, such as one that waits for its job", () => {
    socket.writableLength = 0;
    clock.tick(10 * LIMIT_MS);
    expect(socket.destroy.called).to.equal(false);
  });

  it("leaves a response alone that waits behind another one, and has no connection yet", () => {
    responses.clear();
    responses.add({ socket: null } as unknown as ServerResponse);
    clock.tick(10 * LIMIT_MS);
    expect(socket.destroy.called).to.equal(false);
  });

  it("stops looking when nothing is under way, and begins again", () => {
    const stalled = new StalledResponses(() => responses, LIMIT_MS);
    responses.clear();
    clock.tick(LIMIT_MS);
    expect(clock.countTimers()).to.equal(0);
    responses.add({ socket } as unknown as ServerResponse);
    stalled.watch();
    clock.tick(2 * LIMIT_MS);
    expect(socket.destroy.called).to.equal(true);
  });
});

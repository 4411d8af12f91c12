import { EventEmitter } from "node:events";
import type { ServerResponse } from "node:http";
import { expect } from "chai";
import { Lifecycle } from "../../../adapters/http/lifecycle.js";
import { megabytesKeptOf } from "../../support/young-garbage.js";

const LIMITS = { stalledResponseMs: 60_000, bodyLimitBytes: 1_000 };

/** As much of a response as is looked at. */
function responseOn(socket: EventEmitter, load: object = {}): ServerResponse {
  return Object.assign(new EventEmitter(), {
    req: { socket },
    load,
    shouldKeepAlive: true,
  }) as unknown as ServerResponse;
}

describe("Lifecycle", () => {
  it("keeps nothing of the responses that are over, until whichever collection of garbage", () => {
    const lifecycle = new Lifecycle(LIMITS);
    const sockets = Array.from({ length: 64 }, () => new EventEmitter());
    const kept = megabytesKeptOf((number, load) => {
      const response = responseOn(sockets[number % sockets.length] as EventEmitter, load);
      lifecycle.begin(response);
      return () => lifecycle.end(response);
    });
    expect(kept).to.be.below(3);
  });

  it("knows which responses are open, in whichever order they end, and when none is", async () => {
    const lifecycle = new Lifecycle(LIMITS);
    const [one, two, three] = [new EventEmitter(), new EventEmitter(), new EventEmitter()];
    const responses = [one, two, two, three].map((socket) => responseOn(socket));
    const [first, second, third, fourth] = responses as [
      ServerResponse,
      ServerResponse,
      ServerResponse,
      ServerResponse,
    ];
    for (const response of responses) lifecycle.begin(response);
    const open = (): number[] => [one, two, three].map((socket) => lifecycle.unfinishedOn(socket as never));
    expect(open()).to.deep.equal([1, 2, 1]);
    lifecycle.end(first);
    lifecycle.end(first);
    lifecycle.end(third);
    expect(open()).to.deep.equal([0, 1, 1]);
    lifecycle.beginStop();
    expect(responses.map(({ shouldKeepAlive }) => shouldKeepAlive)).to.deep.equal([true, false, true, false]);
    let isIdle = false;
    const idle = lifecycle.idle().then(() => (isIdle = true));
    lifecycle.end(fourth);
    await Promise.resolve();
    expect(isIdle).to.equal(false);
    lifecycle.end(second);
    await idle;
    expect(open()).to.deep.equal([0, 0, 0]);
  });
});

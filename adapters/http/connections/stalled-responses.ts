import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";

/** Checks within one limit. Counted instead of timed: a delayed process closes no connection too early. */
const LOOKS_PER_LIMIT = 12;

interface Standstill {
  /** Bytes that the operating system had taken by the last look. */
  readonly takenBytes: number;
  readonly looks: number;
}

/** Closes the connections of responses of which the client reads nothing for `limitMs`, though there is some. */
export class StalledResponses {
  private readonly standstills = new WeakMap<Socket, Standstill>();
  private timer: NodeJS.Timeout | null = null;

  /** @param responses those under way; read at each look */
  constructor(
    private readonly responses: () => Iterable<ServerResponse>,
    private readonly limitMs: number,
  ) {}

  /** Looks after the responses until there are none. */
  watch(): void {
    this.timer ??= setInterval(() => this.look(), Math.max(1, this.limitMs / LOOKS_PER_LIMIT)).unref();
  }

  private look(): void {
    let areSome = false;
    for (const { socket } of this.responses()) {
      areSome = true;
      // A response that waits behind another one of its connection has no socket yet.
      if (socket !== null) this.lookAt(socket);
    }
    if (areSome || this.timer === null) return;
    clearInterval(this.timer);
    this.timer = null;
  }

  private lookAt(socket: Socket): void {
    if (socket.writableLength === 0) {
      this.standstills.delete(socket);
      return;
    }
    const takenBytes = socket.bytesWritten - socket.writableLength;
    const before = this.standstills.get(socket);
    const looks = before?.takenBytes === takenBytes ? before.looks + 1 : 0;
    if (looks >= LOOKS_PER_LIMIT) socket.destroy();
    else this.standstills.set(socket, { takenBytes, looks });
  }
}

import { setTimeout as sleep } from "node:timers/promises";

/** A callback as it is sent: the headers with its signature, where it has one, and the body. */
export interface Callback {
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: string;
}

const RETRY_MS = 200;
/** A server that does not respond in this time has not taken it. */
const CALL_MAX_MS = 10_000;

/** Sends callbacks until they are taken, as vendors do. */
export class CallbackSender {
  /** The server that stands behind the public address in the callback URLs, asked each time; null: none is sent. */
  target: () => string | null = () => null;
  private readonly closed = new AbortController();

  /** Never throws. */
  async send(url: string, callback: () => Callback): Promise<void> {
    const { pathname } = new URL(url);
    for (let target = this.target(); target !== null && !this.closed.signal.aborted; target = this.target()) {
      if (await this.isTaken(`${target}${pathname}`, callback())) return;
      await sleep(RETRY_MS, undefined, { signal: this.closed.signal }).catch(() => undefined);
    }
  }

  close(): void {
    this.closed.abort();
  }

  private async isTaken(url: string, { headers = {}, body }: Callback): Promise<boolean> {
    try {
      const init = { method: "POST", headers: { "content-type": "application/json", ...headers }, body };
      const signal = AbortSignal.any([this.closed.signal, AbortSignal.timeout(CALL_MAX_MS)]);
      return (await fetch(url, { ...init, signal })).ok;
    } catch {
      return false;
    }
  }
}

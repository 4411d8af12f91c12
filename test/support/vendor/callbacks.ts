import { setTimeout as sleep } from "node:timers/promises";

/** A callback as it is sent: the headers with its signature, where it has one, and the body. */
export interface Callback {
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: string;
}

const RETRY_MS = 200;
/** Half a minute. */
const TRIES_MAX = 150;

/** Sends callbacks until they are taken, as vendors do. */
export class CallbackSender {
  /** The server that stands behind the public address in the callback URLs; null: none is sent. */
  target: string | null = null;
  private readonly closed = new AbortController();

  /** Never throws. */
  async send(url: string, callback: () => Callback): Promise<void> {
    const { pathname } = new URL(url);
    for (let tries = 0; tries < TRIES_MAX && this.target !== null && !this.closed.signal.aborted; tries++) {
      if (await this.isTaken(`${this.target}${pathname}`, callback())) return;
      await sleep(RETRY_MS, undefined, { signal: this.closed.signal }).catch(() => undefined);
    }
  }

  close(): void {
    this.closed.abort();
  }

  private async isTaken(url: string, { headers = {}, body }: Callback): Promise<boolean> {
    try {
      const init = { method: "POST", headers: { "content-type": "application/json", ...headers }, body };
      return (await fetch(url, { ...init, signal: this.closed.signal })).ok;
    } catch {
      return false;
    }
  }
}

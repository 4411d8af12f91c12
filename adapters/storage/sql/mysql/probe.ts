import { type ConnectionOptions, createConnection } from "mysql2";
import { afterWaiting } from "./waits.js";

/** Callers within this time share a result. */
const SHARED_MS = 200;

/** Distinguishes a server that hangs from a slow one, by a new connection. */
export class MysqlProbe {
  private last: { readonly at: number; readonly result: Promise<boolean> } | null = null;

  /** @param limitMs how long the server may take for its first packet */
  constructor(
    private readonly options: ConnectionOptions,
    private readonly limitMs: number,
  ) {}

  /** Whether the server greets a new connection, or refuses it with an error packet such as "too many connections". */
  isServerThere(): Promise<boolean> {
    const now = performance.now();
    if (this.last === null || now - this.last.at > SHARED_MS) this.last = { at: now, result: this.connect() };
    return this.last.result;
  }

  private connect(): Promise<boolean> {
    const connection = createConnection(this.options);
    return new Promise((resolve) => {
      const cancel = afterWaiting(this.limitMs, () => {
        resolve(false);
        connection.destroy();
      });
      // An error after the probe has ended.
      connection.on("error", () => undefined);
      connection.connect((error) => {
        cancel();
        // Errors of the network have numbers below zero, or none; the server's are positive.
        resolve(error === null || (error.errno ?? 0) > 0);
        if (error === null) connection.end();
        else connection.destroy();
      });
    });
  }
}

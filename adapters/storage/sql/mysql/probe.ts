import { type ConnectionOptions, createConnection } from "mysql2";
import { afterWaiting } from "./waits.js";

/** Those who ask so soon after one another share an answer. */
const FRESH_MS = 200;

/** Tells a server that hangs from one that is slow: asks on a connection of its own. */
export class MysqlProbe {
  private asked: { readonly at: number; readonly answer: Promise<boolean> } | null = null;

  /** @param limitMs how long the server may take to greet a newcomer */
  constructor(
    private readonly options: ConnectionOptions,
    private readonly limitMs: number,
  ) {}

  /** Whether the server has a word for newcomers, be it that there are too many. */
  isServerThere(): Promise<boolean> {
    const now = performance.now();
    if (this.asked === null || now - this.asked.at > FRESH_MS) this.asked = { at: now, answer: this.ask() };
    return this.asked.answer;
  }

  private ask(): Promise<boolean> {
    const connection = createConnection(this.options);
    return new Promise((resolve) => {
      const cancel = afterWaiting(this.limitMs, () => {
        resolve(false);
        connection.destroy();
      });
      // Late errors of a connection that has served its purpose.
      connection.on("error", () => undefined);
      connection.connect((error) => {
        cancel();
        // The network's own errors have numbers below zero, or none.
        resolve(error === null || (error.errno ?? 0) > 0);
        if (error === null) connection.end();
        else connection.destroy();
      });
    });
  }
}

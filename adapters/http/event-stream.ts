import type { Response } from "express";
import { contextOf } from "./request-context.js";

/** One event of a stream (WHATWG HTML, section 9.2, "Server-sent events"). */
export interface StreamedEvent {
  /** What a client sends back as Last-Event-ID; left out: it keeps the one before. */
  readonly id?: string;
  readonly name: string;
  readonly data: object;
}

/** Proxies close connections on which nothing comes for a minute. */
const SIGN_OF_LIFE_MS = 15_000;
/** How long a client waits before it connects again. */
const RECONNECT_MS = 2_000;

/**
 * Sends events as they come, each when the client has taken the one before, and ends the response with the last. An
 * error of `events` is thrown while nothing is sent yet; later it cuts the response off, so that the client connects
 * again. Before each event the caller is authorized again; the response ends when that fails.
 */
export async function sendEvents(response: Response, events: AsyncGenerator<StreamedEvent>): Promise<void> {
  const context = contextOf(response.req);
  const first = await events.next();
  response.status(200);
  response.setHeader("Content-Type", "text/event-stream; charset=utf-8");
  response.setHeader("Cache-Control", "no-store");
  // nginx would keep events back until its buffer is full.
  response.setHeader("X-Accel-Buffering", "no");
  const write = async (text: string): Promise<void> => {
    if (!isOpen(response)) return;
    context.bytesSent += Buffer.byteLength(text);
    if (!response.write(text) && !response.destroyed) await drained(response);
  };
  const beat = async (): Promise<void> => {
    // While the storage is away there is nothing to send, and the stream goes on.
    if (await context.isStillAuthorized().catch(() => true)) await write(": still here\n\n");
    else response.end();
  };
  const alive = setInterval(() => void beat(), SIGN_OF_LIFE_MS);
  try {
    await write(`retry: ${RECONNECT_MS}\n\n`);
    for (let next = first; next.done !== true && isOpen(response); next = await events.next()) {
      if (!(await context.isStillAuthorized())) break;
      await write(textOf(next.value));
    }
    response.end();
  } catch (error) {
    if (!response.destroyed)
      context.deps.logger.error("A stream of events was interrupted", { error, request_id: context.requestId });
    response.destroy();
  } finally {
    clearInterval(alive);
    await events.return(undefined);
  }
}

function isOpen(response: Response): boolean {
  return !response.destroyed && !response.writableEnded;
}

/** JSON has no line ends outside of its escapes: one line of data holds it. */
function textOf({ id, name, data }: StreamedEvent): string {
  return `${id === undefined ? "" : `id: ${id}\n`}event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
}

function drained(response: Response): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      response.off("drain", done).off("close", done);
      resolve();
    };
    response.on("drain", done).on("close", done);
  });
}

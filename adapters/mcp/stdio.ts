import { once } from "node:events";
import type { Readable, Writable } from "node:stream";
import { SdkError, SdkErrorCode, serveStdio, StdioServerTransport } from "./sdk.js";
import { createServer, type McpServerOptions } from "./server.js";

export interface StdioOptions extends Omit<McpServerOptions, "isCancelled"> {
  readonly stdin: Readable;
  readonly stdout: Writable;
  /** Ends it. */
  readonly stop: AbortSignal;
}

/** Serves one client, until it closes its end. Jobs of calls that are open by then go on. */
export async function serveOverStdio({ stdin, stdout, stop, ...options }: StdioOptions): Promise<void> {
  const ended = Promise.race([once(stdin, "end"), once(stdin, "close"), once(stop, "abort")]);
  const isClosed = (reason: unknown): boolean =>
    reason instanceof SdkError && reason.code === SdkErrorCode.ConnectionClosed;
  const served = serveStdio(() => createServer({ ...options, isCancelled: (reason) => !isClosed(reason) }), {
    transport: new StdioServerTransport(stdin, stdout),
    onerror: options.onError,
  });
  if (!stop.aborted) await ended;
  await served.close();
}

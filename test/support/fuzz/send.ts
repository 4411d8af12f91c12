import { type Agent, type IncomingMessage, request } from "node:http";
import type { FuzzRequest } from "./requests.js";

/** A response, read to its end; of one that goes on for ever, its first bytes. */
export interface FuzzResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
}

/** A response that takes longer hangs. */
const BOUND_MS = 45_000;

/** Sends exactly these headers, repeated ones as often as they are there. */
export function sendRaw(
  url: string,
  agent: Agent,
  { method, path, headers, body }: Pick<FuzzRequest, "method" | "path" | "headers" | "body">,
): Promise<FuzzResponse> {
  const { hostname, port, host } = new URL(url);
  const content = body === null ? null : Buffer.from(body);
  const flat = [["Host", host], ...headers].flat();
  if (content !== null) flat.push("Content-Length", String(content.length));
  return new Promise((resolve, reject) => {
    const signal = AbortSignal.timeout(BOUND_MS);
    const sent = request({ hostname, port, agent, method, path, headers: flat, signal }, (response) => {
      readBody(response, path !== "/mcp").then(resolve, reject);
    });
    sent.on("error", (error) => reject(new Error(`${method} ${path}: ${error.message}`, { cause: error })));
    sent.end(content ?? undefined);
  });
}

/** @param areEndless whether a stream of events goes on for ever; that of a tool ends with its result */
function readBody(response: IncomingMessage, areEndless: boolean): Promise<FuzzResponse> {
  const { statusCode = 0, headers } = response;
  const isStream = areEndless && headers["content-type"]?.startsWith("text/event-stream") === true;
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    const end = (): void => resolve({ status: statusCode, headers, body: Buffer.concat(chunks) });
    response.on("data", (chunk: Buffer) => {
      chunks.push(chunk);
      if (!isStream) return;
      end();
      response.destroy();
    });
    response.once("end", end);
    response.once("error", reject);
  });
}

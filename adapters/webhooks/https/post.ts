import type { Client } from "undici";
import type { Deadline } from "./deadline.js";

/** Bytes read at most of a response. */
const BODY_BYTES_MAX = 16 * 1024;

const NO_BODY = Buffer.alloc(0);

export interface Request {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface PostResult {
  /** null when none arrived. */
  readonly status: number | null;
  readonly retryAfter: string | null;
  readonly location: string | null;
  /** As sent, not unpacked; at most 16 KiB. */
  readonly body: Buffer;
  /** When status and headers had arrived, on the clock of `performance.now()`. */
  readonly startedAt: number | null;
  /** `whole`: it was read to its end; `cut`: it goes on, and the rest is not wanted; else why it ended before. */
  readonly end: "whole" | "cut" | Error;
}

/**
 * Posts on a connection and reads the response, until the deadline. Never rejects. The client is reusable only after a
 * complete response.
 */
export function post(client: Client, { path, headers, body: sent }: Request, deadline: Deadline): Promise<PostResult> {
  return new Promise((resolve) => {
    let status: number | null = null;
    let retryAfter: string | null = null;
    let location: string | null = null;
    let startedAt: number | null = null;
    const chunks: Buffer[] = [];
    let size = 0;
    const end = (how: PostResult["end"]): void => {
      deadline.forget(abort);
      const body = chunks.length === 0 ? NO_BODY : Buffer.concat(chunks);
      resolve({ status, retryAfter, location, body, startedAt, end: how });
    };
    const abort = (): void => end(new Error(deadline.reason));
    if (deadline.isOver) return abort();
    deadline.whenOver(abort);
    client.dispatch(
      { method: "POST", path, headers, body: sent },
      {
        // undici hands the request over before it is written; without this it takes the handler for one of the old
        // kind.
        onRequestStart: () => undefined,
        onResponseStart(_controller, arrived, fields) {
          // The final response follows interim ones.
          if (arrived < 200) return;
          status = arrived;
          retryAfter = first(fields["retry-after"]);
          location = first(fields["location"]);
          startedAt = performance.now();
        },
        onResponseData(_controller, chunk) {
          const part = chunk.subarray(0, BODY_BYTES_MAX - size);
          if (part.length > 0) chunks.push(part);
          size += part.length;
          if (part.length < chunk.length) end("cut");
        },
        onResponseEnd: () => end("whole"),
        onResponseError: (_controller, error) => end(error),
      },
    );
  });
}

function first(field: string | string[] | undefined): string | null {
  return (Array.isArray(field) ? field[0] : field) ?? null;
}

import type { Response } from "express";

/** At most: the first of them waits for no more than so many others to be made. */
const TOGETHER_MAX = 16;

interface Made {
  readonly response: Response;
  readonly content: string | Buffer;
}

let made: Made[] = [];

/**
 * Ends a response with its content, next to others that are made in the same turn of the event loop: a client or proxy
 * on this machine is then woken once for several, which costs the server as much as a fifth of a short request. Nothing
 * is waited for: a response that is alone leaves in the same turn.
 */
export function endTogether(response: Response, content: string | Buffer): void {
  made.push({ response, content });
  if (made.length === 1) setImmediate(endAll);
  else if (made.length === TOGETHER_MAX) endAll();
}

function endAll(): void {
  const responses = made;
  made = [];
  // One may have been ended meanwhile, such as that of a client that went away.
  for (const { response, content } of responses) if (!response.writableEnded) response.end(content);
}
